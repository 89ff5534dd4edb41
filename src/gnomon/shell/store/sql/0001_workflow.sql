-- Schema 1: workflows, their runs, the events of their topics, and what they changed outside.
-- Instants are RFC 3339 texts in UTC with milliseconds; values of scripts are JSON.

CREATE TABLE workflow_meta (
  schema_of TEXT NOT NULL PRIMARY KEY
) WITHOUT ROWID;

CREATE TABLE workflows (
  name TEXT NOT NULL PRIMARY KEY,
  title TEXT NOT NULL,
  zone TEXT NOT NULL,
  mode TEXT NOT NULL,
  script INTEGER NOT NULL,
  version INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  writes INTEGER NOT NULL,
  holder TEXT NOT NULL,
  runs INTEGER NOT NULL,
  arrivals INTEGER NOT NULL,
  current INTEGER,
  failures INTEGER NOT NULL,
  retry_at TEXT,
  repairs INTEGER NOT NULL,
  created_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE scripts (
  workflow TEXT NOT NULL REFERENCES workflows (name),
  version INTEGER NOT NULL,
  digest TEXT NOT NULL,
  text TEXT NOT NULL,
  reason TEXT NOT NULL,
  deployed_at TEXT NOT NULL,
  PRIMARY KEY (workflow, version)
) WITHOUT ROWID;

CREATE TABLE handlers (
  workflow TEXT NOT NULL REFERENCES workflows (name),
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  place INTEGER NOT NULL,
  schedule TEXT NOT NULL,
  subscribes TEXT NOT NULL,
  publishes TEXT NOT NULL,
  next_run_at TEXT,
  wake_at TEXT,
  state TEXT NOT NULL,
  PRIMARY KEY (workflow, name)
) WITHOUT ROWID;

CREATE TABLE runs (
  workflow TEXT NOT NULL REFERENCES workflows (name),
  number INTEGER NOT NULL,
  handler TEXT NOT NULL,
  handler_type TEXT NOT NULL,
  script INTEGER NOT NULL,
  retry_of INTEGER,
  phase TEXT NOT NULL,
  status TEXT NOT NULL,
  prepare_result TEXT,
  mutation_result TEXT,
  mutation INTEGER,
  approved INTEGER NOT NULL,
  fault TEXT NOT NULL,
  error_details TEXT NOT NULL,
  note TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (workflow, number)
) WITHOUT ROWID;

CREATE TABLE mutations (
  workflow TEXT NOT NULL REFERENCES workflows (name),
  run INTEGER NOT NULL,
  tool TEXT NOT NULL,
  params TEXT NOT NULL,
  idempotency_key TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  reconcilable INTEGER NOT NULL,
  status TEXT NOT NULL,
  result TEXT,
  error TEXT NOT NULL,
  reconcile_attempts INTEGER NOT NULL,
  next_reconcile_at TEXT,
  resolved_by TEXT NOT NULL,
  resolved_at TEXT,
  created_at TEXT NOT NULL,
  PRIMARY KEY (workflow, run)
) WITHOUT ROWID;

CREATE TABLE topics (
  workflow TEXT NOT NULL REFERENCES workflows (name),
  name TEXT NOT NULL,
  pending INTEGER NOT NULL CHECK (pending >= 0),
  newest INTEGER NOT NULL,
  PRIMARY KEY (workflow, name)
) WITHOUT ROWID;

CREATE TABLE events (
  workflow TEXT NOT NULL REFERENCES workflows (name),
  topic TEXT NOT NULL,
  id TEXT NOT NULL,
  payload TEXT NOT NULL,
  status TEXT NOT NULL,
  number INTEGER NOT NULL,
  arrival INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  reserved_by INTEGER,
  created_by INTEGER,
  causes TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (workflow, topic, id)
) WITHOUT ROWID;

CREATE INDEX events_pending ON events (workflow, topic, number) WHERE status = 'pending';
CREATE INDEX events_reserved ON events (workflow, reserved_by) WHERE status = 'reserved';
CREATE UNIQUE INDEX events_number ON events (workflow, number);

CREATE TABLE inputs (
  workflow TEXT NOT NULL REFERENCES workflows (name),
  id TEXT NOT NULL,
  title TEXT NOT NULL,
  skipped INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (workflow, id)
) WITHOUT ROWID;

CREATE TABLE event_causes (
  workflow TEXT NOT NULL,
  input TEXT NOT NULL,
  topic TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (workflow, input, topic, id)
) WITHOUT ROWID;
