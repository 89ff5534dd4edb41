-- Workflows by version, and how far their runs have come.

-- name: put_workflow
INSERT INTO workflows (user_id, workflow_id, version, digest, dag, created_at)
VALUES (:user_id, :workflow_id, :version, :digest, :dag, :created_at)
ON CONFLICT (user_id, workflow_id, version) DO NOTHING

-- name: kept_workflow
-- Also one that was removed.
SELECT user_id, workflow_id, version, digest, dag, created_at FROM workflows
WHERE user_id = :user_id AND workflow_id = :workflow_id AND version = :version

-- name: restore_workflow
DELETE FROM removed_workflows
WHERE user_id = :user_id AND workflow_id = :workflow_id AND version = :version
  AND EXISTS (
    SELECT 1 FROM workflows
    WHERE user_id = :user_id AND workflow_id = :workflow_id AND version = :version
      AND digest = :digest
  )

-- name: remove_workflows
INSERT INTO removed_workflows (user_id, workflow_id, version, removed_at)
SELECT user_id, workflow_id, version, :now FROM workflows
WHERE user_id = :user_id AND workflow_id = :workflow_id
  AND (:version IS NULL OR version = :version)
ON CONFLICT DO NOTHING

-- name: highest_workflow
SELECT coalesce(max(version), 0) FROM workflows
WHERE user_id = :user_id AND workflow_id = :workflow_id

-- name: workflow
SELECT user_id, workflow_id, version, digest, dag, created_at FROM workflows
WHERE user_id = :user_id AND workflow_id = :workflow_id AND version = :version
  AND (user_id, workflow_id, version)
    NOT IN (SELECT user_id, workflow_id, version FROM removed_workflows)

-- name: versions
SELECT user_id, workflow_id, version, digest, dag, created_at FROM workflows
WHERE user_id = :user_id AND workflow_id = :workflow_id AND version < :before
  AND (user_id, workflow_id, version)
    NOT IN (SELECT user_id, workflow_id, version FROM removed_workflows)
ORDER BY version DESC LIMIT :limit

-- name: workflows
SELECT user_id, workflow_id, version, digest, dag, created_at FROM workflows AS one
WHERE (user_id, workflow_id) > (:after_user, :after_dag)
  AND (:user_id IS NULL OR user_id = :user_id)
  AND version = (
    SELECT max(version) FROM workflows
    WHERE user_id = one.user_id AND workflow_id = one.workflow_id
      AND (user_id, workflow_id, version)
        NOT IN (SELECT user_id, workflow_id, version FROM removed_workflows)
  )
ORDER BY user_id, workflow_id LIMIT :limit

-- name: begin_execution
INSERT INTO executions
  (idempotency_key, run_id, workflow_id, version, user_id, fence, status, detail, started_at)
VALUES (:key, :run_id, :workflow_id, :version, :user_id, :fence, 'STARTED', '', :started_at)
ON CONFLICT (idempotency_key) DO UPDATE SET fence = excluded.fence
WHERE executions.ended_at IS NULL AND executions.fence < excluded.fence

-- name: execution
SELECT idempotency_key, run_id, workflow_id, version, user_id, fence, status, detail, started_at,
  ended_at
FROM executions WHERE idempotency_key = :key

-- name: nodes
SELECT node_id, state, attempt, process, detail, started_at, ended_at
FROM execution_nodes WHERE idempotency_key = :key ORDER BY node_id

-- name: may_write
SELECT 1 FROM executions
WHERE idempotency_key = :key AND fence = :fence AND ended_at IS NULL

-- name: write_node
INSERT INTO execution_nodes
  (idempotency_key, node_id, state, attempt, process, detail, log, started_at, ended_at)
VALUES (:key, :node_id, :state, :attempt, :process, :detail, :log, :started_at, :ended_at)
ON CONFLICT (idempotency_key, node_id) DO UPDATE SET
  state = excluded.state, attempt = excluded.attempt, process = excluded.process,
  detail = excluded.detail, log = coalesce(excluded.log, execution_nodes.log),
  started_at = excluded.started_at, ended_at = excluded.ended_at

-- name: end_execution
UPDATE executions SET status = :status, detail = :detail, ended_at = :ended_at
WHERE idempotency_key = :key AND fence = :fence AND ended_at IS NULL

-- name: log
SELECT coalesce(log, '') FROM execution_nodes WHERE idempotency_key = :key AND node_id = :node_id

-- name: retain_executions
DELETE FROM executions WHERE idempotency_key IN (
  SELECT idempotency_key FROM executions WHERE ended_at < :before ORDER BY ended_at LIMIT :limit
)
