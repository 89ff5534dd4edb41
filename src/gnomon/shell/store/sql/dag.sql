-- DAGs by version, and how far their runs have come.

-- name: put_dag
INSERT INTO dags (user_id, workflow_id, version, digest, dag, created_at)
VALUES (:user_id, :workflow_id, :version, :digest, :dag, :created_at)
ON CONFLICT (user_id, workflow_id, version) DO NOTHING

-- name: kept_dag
-- Also one that was removed.
SELECT user_id, workflow_id, version, digest, dag, created_at FROM dags
WHERE user_id = :user_id AND workflow_id = :workflow_id AND version = :version

-- name: restore_dag
DELETE FROM removed_dags
WHERE user_id = :user_id AND workflow_id = :workflow_id AND version = :version
  AND EXISTS (
    SELECT 1 FROM dags
    WHERE user_id = :user_id AND workflow_id = :workflow_id AND version = :version
      AND digest = :digest
  )

-- name: remove_dags
INSERT INTO removed_dags (user_id, workflow_id, version, removed_at)
SELECT user_id, workflow_id, version, :now FROM dags
WHERE user_id = :user_id AND workflow_id = :workflow_id
  AND (:version IS NULL OR version = :version)
ON CONFLICT DO NOTHING

-- name: highest_dag
SELECT coalesce(max(version), 0) FROM dags
WHERE user_id = :user_id AND workflow_id = :workflow_id

-- name: dag
SELECT user_id, workflow_id, version, digest, dag, created_at FROM dags
WHERE user_id = :user_id AND workflow_id = :workflow_id AND version = :version
  AND (user_id, workflow_id, version)
    NOT IN (SELECT user_id, workflow_id, version FROM removed_dags)

-- name: versions
SELECT user_id, workflow_id, version, digest, dag, created_at FROM dags
WHERE user_id = :user_id AND workflow_id = :workflow_id AND version < :before
  AND (user_id, workflow_id, version)
    NOT IN (SELECT user_id, workflow_id, version FROM removed_dags)
ORDER BY version DESC LIMIT :limit

-- name: newest_of_each
SELECT user_id, workflow_id, version, digest, dag, created_at FROM dags AS one
WHERE (user_id, workflow_id) > (:after_user, :after_dag)
  AND (:user_id IS NULL OR user_id = :user_id)
  AND version = (
    SELECT max(version) FROM dags
    WHERE user_id = one.user_id AND workflow_id = one.workflow_id
      AND (user_id, workflow_id, version)
        NOT IN (SELECT user_id, workflow_id, version FROM removed_dags)
  )
ORDER BY user_id, workflow_id LIMIT :limit

-- name: begin_dag_run
INSERT INTO dag_runs
  (idempotency_key, run_id, workflow_id, version, user_id, fence, status, detail, started_at)
VALUES (:key, :run_id, :workflow_id, :version, :user_id, :fence, 'STARTED', '', :started_at)
ON CONFLICT (idempotency_key) DO UPDATE SET fence = excluded.fence
WHERE dag_runs.ended_at IS NULL AND dag_runs.fence < excluded.fence

-- name: dag_run
SELECT idempotency_key, run_id, workflow_id, version, user_id, fence, status, detail, started_at,
  ended_at
FROM dag_runs WHERE idempotency_key = :key

-- name: nodes
SELECT node_id, state, attempt, process, detail, started_at, ended_at
FROM dag_run_nodes WHERE idempotency_key = :key ORDER BY node_id

-- name: may_write
SELECT 1 FROM dag_runs
WHERE idempotency_key = :key AND fence = :fence AND ended_at IS NULL

-- name: write_node
INSERT INTO dag_run_nodes
  (idempotency_key, node_id, state, attempt, process, detail, log, started_at, ended_at)
VALUES (:key, :node_id, :state, :attempt, :process, :detail, :log, :started_at, :ended_at)
ON CONFLICT (idempotency_key, node_id) DO UPDATE SET
  state = excluded.state, attempt = excluded.attempt, process = excluded.process,
  detail = excluded.detail, log = coalesce(excluded.log, dag_run_nodes.log),
  started_at = excluded.started_at, ended_at = excluded.ended_at

-- name: end_dag_run
UPDATE dag_runs SET status = :status, detail = :detail, ended_at = :ended_at
WHERE idempotency_key = :key AND fence = :fence AND ended_at IS NULL

-- name: log
SELECT coalesce(log, '') FROM dag_run_nodes WHERE idempotency_key = :key AND node_id = :node_id

-- name: retain_dag_runs
DELETE FROM dag_runs WHERE idempotency_key IN (
  SELECT idempotency_key FROM dag_runs WHERE ended_at < :before ORDER BY ended_at LIMIT :limit
)
