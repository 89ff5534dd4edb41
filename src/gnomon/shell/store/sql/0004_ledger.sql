-- Schema 4: workflows of the service by version, and how far their runs have come.

CREATE TABLE workflows (
  user_id TEXT NOT NULL,
  workflow_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  digest TEXT NOT NULL,
  dag TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (user_id, workflow_id, version)
);

-- No writer ever changes a version.
CREATE TRIGGER workflows_keep_version BEFORE UPDATE ON workflows
BEGIN
  SELECT RAISE(ABORT, 'a version of a workflow is permanent');
END;

CREATE TABLE executions (
  idempotency_key TEXT NOT NULL PRIMARY KEY,
  run_id TEXT NOT NULL,
  workflow_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  fence INTEGER NOT NULL,
  status TEXT NOT NULL,
  detail TEXT NOT NULL DEFAULT '',
  started_at TEXT NOT NULL,
  ended_at TEXT,
  CHECK ((status = 'STARTED') = (ended_at IS NULL))
) WITHOUT ROWID;

CREATE INDEX executions_by_end ON executions (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE execution_nodes (
  idempotency_key TEXT NOT NULL REFERENCES executions (idempotency_key) ON DELETE CASCADE,
  node_id TEXT NOT NULL,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  process TEXT,
  detail TEXT NOT NULL DEFAULT '',
  log TEXT,
  started_at TEXT,
  ended_at TEXT,
  PRIMARY KEY (idempotency_key, node_id)
);
