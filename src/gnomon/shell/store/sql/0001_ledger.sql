-- Schema 1: schedules, their revisions, and what became of their periods.
-- Instants are RFC 3339 texts in UTC with milliseconds, all of one width, so that text order is time order.

CREATE TABLE ledger_meta (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE schedules (
  schedule_id TEXT NOT NULL PRIMARY KEY,
  workflow_id TEXT,
  version INTEGER,
  user_id TEXT,
  cron_expr TEXT,
  timezone TEXT NOT NULL,
  start_at TEXT,
  end_at TEXT,
  next_run_at TEXT,
  paused INTEGER NOT NULL DEFAULT 0,
  jitter_ms INTEGER NOT NULL DEFAULT 0,
  overlap_policy TEXT NOT NULL DEFAULT 'skip',
  catchup_policy TEXT NOT NULL DEFAULT 'none',
  updated_at TEXT NOT NULL,
  revision INTEGER NOT NULL,
  lock_version INTEGER NOT NULL,
  cursor_at TEXT NOT NULL,
  wake_at TEXT,
  paused_until TEXT,
  pause_reason TEXT NOT NULL DEFAULT '',
  lease_ms INTEGER NOT NULL,
  floor_at TEXT,
  created_at TEXT NOT NULL,
  deleted_at TEXT
) WITHOUT ROWID;

CREATE INDEX schedules_by_wake ON schedules (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX schedules_deleted ON schedules (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE schedule_revisions (
  schedule_id TEXT NOT NULL REFERENCES schedules (schedule_id),
  revision INTEGER NOT NULL,
  effective_at TEXT NOT NULL,
  definition TEXT NOT NULL,
  PRIMARY KEY (schedule_id, revision)
);

CREATE TABLE schedule_runs (
  idempotency_key TEXT NOT NULL PRIMARY KEY,
  schedule_id TEXT NOT NULL REFERENCES schedules (schedule_id),
  run_at TEXT NOT NULL,
  status TEXT,
  run_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  last_run_at TEXT,
  periods INTEGER NOT NULL DEFAULT 1,
  fire_at TEXT NOT NULL,
  state TEXT NOT NULL,
  outcome TEXT,
  reason TEXT,
  launches INTEGER NOT NULL DEFAULT 0,
  fence INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  lease_until TEXT,
  confirmed INTEGER NOT NULL DEFAULT 0,
  detail TEXT,
  revision INTEGER NOT NULL,
  started_at TEXT,
  ended_at TEXT,
  CHECK ((state = 'done') = (ended_at IS NOT NULL) AND (ended_at IS NULL OR outcome IS NOT NULL)),
  CHECK ((state = 'claimed' OR state = 'running') = (lease_until IS NOT NULL))
);

CREATE INDEX schedule_runs_by_schedule ON schedule_runs (schedule_id, run_at);
CREATE INDEX schedule_runs_open ON schedule_runs (schedule_id, run_at) WHERE state <> 'done';
CREATE INDEX schedule_runs_by_lease ON schedule_runs (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX schedule_runs_by_end ON schedule_runs (ended_at) WHERE ended_at IS NOT NULL;

-- An outcome is permanent for every writer.
CREATE TRIGGER schedule_runs_keep_outcome
BEFORE UPDATE OF state, outcome ON schedule_runs
WHEN OLD.outcome IS NOT NULL AND (OLD.state = 'done' OR NEW.outcome IS NOT OLD.outcome)
BEGIN
  SELECT RAISE(ABORT, 'an outcome is permanent');
END;
