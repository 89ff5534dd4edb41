-- Schema 1: schedules, their revisions, what became of their periods, and who works on them.
-- The tables are those of the ledger on SQLite; instants are timestamptz.
--
-- Runs have no foreign key to their schedule, which would cost as much as the insert: the process
-- that adds a run has taken the row of its schedule.

CREATE TABLE gnomon.ledger_meta (
  name text PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE gnomon.schedules (
  schedule_id text COLLATE "C" PRIMARY KEY,
  workflow_id text,
  version integer,
  user_id text,
  cron_expr text,
  timezone text NOT NULL,
  start_at timestamptz,
  end_at timestamptz,
  next_run_at timestamptz,
  paused boolean NOT NULL DEFAULT false,
  jitter_ms bigint NOT NULL DEFAULT 0,
  overlap_policy text NOT NULL DEFAULT 'skip',
  catchup_policy text NOT NULL DEFAULT 'none',
  updated_at timestamptz NOT NULL,
  revision integer NOT NULL,
  lock_version bigint NOT NULL,
  cursor_at timestamptz NOT NULL,
  wake_at timestamptz,
  paused_until timestamptz,
  pause_reason text NOT NULL DEFAULT '',
  lease_ms bigint NOT NULL,
  floor_at timestamptz,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz
) WITH (
  -- Every turn rewrites rows here. Room in the page keeps a rewrite out of the indexes where it can
  -- be, and a table that is all change is swept by how much changed, not by how large it is.
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_analyze_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX schedules_by_wake ON gnomon.schedules (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX schedules_deleted ON gnomon.schedules (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE gnomon.schedule_revisions (
  schedule_id text COLLATE "C" NOT NULL REFERENCES gnomon.schedules (schedule_id),
  revision integer NOT NULL,
  effective_at timestamptz NOT NULL,
  definition text NOT NULL,
  PRIMARY KEY (schedule_id, revision)
);

CREATE TABLE gnomon.schedule_runs (
  idempotency_key text COLLATE "C" PRIMARY KEY,
  schedule_id text COLLATE "C" NOT NULL,
  run_at timestamptz NOT NULL,
  status text,
  run_id text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  last_run_at timestamptz,
  periods integer NOT NULL DEFAULT 1,
  fire_at timestamptz NOT NULL,
  state text NOT NULL,
  outcome text,
  reason text,
  launches integer NOT NULL DEFAULT 0,
  fence bigint NOT NULL DEFAULT 0,
  owner text,
  lease_until timestamptz,
  confirmed boolean NOT NULL DEFAULT false,
  detail text,
  revision integer NOT NULL,
  started_at timestamptz,
  ended_at timestamptz,
  CHECK ((state = 'done') = (ended_at IS NOT NULL) AND (ended_at IS NULL OR outcome IS NOT NULL)),
  CHECK ((state IN ('claimed', 'running')) = (lease_until IS NOT NULL))
) WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX schedule_runs_by_schedule ON gnomon.schedule_runs (schedule_id, run_at);
CREATE INDEX schedule_runs_open ON gnomon.schedule_runs (schedule_id) WHERE state <> 'done';
CREATE INDEX schedule_runs_by_lease ON gnomon.schedule_runs (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX schedule_runs_by_end ON gnomon.schedule_runs (ended_at) WHERE ended_at IS NOT NULL;

-- An outcome is permanent for every writer.
CREATE FUNCTION gnomon.keep_outcome() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'an outcome is permanent' USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER schedule_runs_keep_outcome
BEFORE UPDATE OF state, outcome ON gnomon.schedule_runs FOR EACH ROW
WHEN (OLD.outcome IS NOT NULL AND (OLD.state = 'done' OR NEW.outcome IS DISTINCT FROM OLD.outcome))
EXECUTE FUNCTION gnomon.keep_outcome();

-- A worker writes here that it is alive; nothing is decided by it.
CREATE TABLE gnomon.workers (
  owner text PRIMARY KEY,
  host text NOT NULL,
  pid integer NOT NULL,
  state text NOT NULL,
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  ahead_ms bigint NOT NULL DEFAULT 0,
  holding integer NOT NULL DEFAULT 0,
  counters text NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
