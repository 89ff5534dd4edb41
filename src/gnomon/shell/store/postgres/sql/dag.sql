-- DAGs by version, and how far their runs have come.

-- name: put_dag
INSERT INTO gnomon.dags (user_id, workflow_id, version, digest, dag, created_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (user_id, workflow_id, version) DO NOTHING

-- name: kept_dag
-- Also one that was removed.
SELECT user_id, workflow_id, version, digest, dag, created_at FROM gnomon.dags
WHERE user_id = $1 AND workflow_id = $2 AND version = $3

-- name: restore_dag
DELETE FROM gnomon.removed_dags
WHERE user_id = $1 AND workflow_id = $2 AND version = $3
  AND EXISTS (
    SELECT 1 FROM gnomon.dags
    WHERE user_id = $1 AND workflow_id = $2 AND version = $3 AND digest = $4
  )

-- name: remove_dags
INSERT INTO gnomon.removed_dags (user_id, workflow_id, version, removed_at)
SELECT user_id, workflow_id, version, $4 FROM gnomon.dags
WHERE user_id = $1 AND workflow_id = $2 AND ($3::integer IS NULL OR version = $3)
ON CONFLICT DO NOTHING
RETURNING version

-- name: highest_dag
SELECT coalesce(max(version), 0) FROM gnomon.dags WHERE user_id = $1 AND workflow_id = $2

-- name: dag
SELECT user_id, workflow_id, version, digest, dag, created_at FROM gnomon.dags one
WHERE user_id = $1 AND workflow_id = $2 AND version = $3
  AND NOT EXISTS (
    SELECT 1 FROM gnomon.removed_dags gone
    WHERE gone.user_id = one.user_id AND gone.workflow_id = one.workflow_id
      AND gone.version = one.version
  )

-- name: versions
SELECT user_id, workflow_id, version, digest, dag, created_at FROM gnomon.dags one
WHERE user_id = $1 AND workflow_id = $2 AND version < $3
  AND NOT EXISTS (
    SELECT 1 FROM gnomon.removed_dags gone
    WHERE gone.user_id = one.user_id AND gone.workflow_id = one.workflow_id
      AND gone.version = one.version
  )
ORDER BY version DESC LIMIT $4

-- name: newest_of_each
SELECT DISTINCT ON (user_id, workflow_id) user_id, workflow_id, version, digest, dag, created_at
FROM gnomon.dags one
WHERE (user_id, workflow_id) > ($1, $2) AND ($3::text IS NULL OR user_id = $3)
  AND NOT EXISTS (
    SELECT 1 FROM gnomon.removed_dags gone
    WHERE gone.user_id = one.user_id AND gone.workflow_id = one.workflow_id
      AND gone.version = one.version
  )
ORDER BY user_id, workflow_id, version DESC LIMIT $4

-- name: begin_dag_run
INSERT INTO gnomon.dag_runs
  (idempotency_key, run_id, workflow_id, version, user_id, fence, status, detail, started_at)
VALUES ($1, $2, $3, $4, $5, $6, 'STARTED', '', $7)
ON CONFLICT (idempotency_key) DO UPDATE SET fence = excluded.fence
WHERE dag_runs.ended_at IS NULL AND dag_runs.fence < excluded.fence

-- name: dag_run
SELECT idempotency_key, run_id, workflow_id, version, user_id, fence, status, detail, started_at,
  ended_at
FROM gnomon.dag_runs WHERE idempotency_key = $1

-- name: nodes
SELECT node_id, state, attempt, process, detail, started_at, ended_at
FROM gnomon.dag_run_nodes WHERE idempotency_key = $1 ORDER BY node_id

-- A worker that takes the run over waits until this is written, or comes first.
-- name: may_write
SELECT 1 FROM gnomon.dag_runs
WHERE idempotency_key = $1 AND fence = $2 AND ended_at IS NULL
FOR SHARE

-- name: write_node
INSERT INTO gnomon.dag_run_nodes
  (idempotency_key, node_id, state, attempt, process, detail, log, started_at, ended_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (idempotency_key, node_id) DO UPDATE SET
  state = excluded.state, attempt = excluded.attempt, process = excluded.process,
  detail = excluded.detail, log = coalesce(excluded.log, dag_run_nodes.log),
  started_at = excluded.started_at, ended_at = excluded.ended_at

-- name: end_dag_run
UPDATE gnomon.dag_runs SET status = $3, detail = $4, ended_at = $5
WHERE idempotency_key = $1 AND fence = $2 AND ended_at IS NULL
RETURNING 1

-- name: log
SELECT coalesce(log, '') FROM gnomon.dag_run_nodes WHERE idempotency_key = $1 AND node_id = $2

-- name: retain_dag_runs
WITH gone AS (
  DELETE FROM gnomon.dag_runs WHERE idempotency_key IN (
    SELECT idempotency_key FROM gnomon.dag_runs WHERE ended_at < $1 ORDER BY ended_at LIMIT $2
  ) RETURNING 1
)
SELECT count(*) FROM gone
