-- What SQLite says of a ledger that Gnomon wrote at schema 10, before what the service runs was called
-- a DAG.
BEGIN TRANSACTION;
CREATE TABLE breaches (
  schedule_id TEXT NOT NULL,
  run_at TEXT NOT NULL,
  expectation TEXT NOT NULL,
  noted_at TEXT NOT NULL,
  PRIMARY KEY (schedule_id, run_at, expectation)
) WITHOUT ROWID;
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
INSERT INTO "execution_nodes" VALUES('done','a','success',1,NULL,'exit 0','hello
','2026-03-01T00:00:00.000Z','2026-03-01T00:00:00.005Z');
INSERT INTO "execution_nodes" VALUES('busy','a','running',1,'1:2:x:0:0','',NULL,'2026-03-01T00:00:00.000Z',NULL);
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
INSERT INTO "executions" VALUES('busy','run:busy','report',2,'anna',1,'STARTED','','2026-03-01T00:00:00.000Z',NULL);
INSERT INTO "executions" VALUES('done','run:done','report',2,'anna',1,'SUCCESS','','2026-03-01T00:00:00.000Z','2026-03-01T00:00:00.009Z');
CREATE TABLE expectations (
  schedule_id TEXT NOT NULL PRIMARY KEY,
  check_at TEXT NOT NULL,
  after_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE ledger_meta (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "ledger_meta" VALUES('tzdata','2026f');
CREATE TABLE removed_workflows (
  user_id TEXT NOT NULL,
  workflow_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  removed_at TEXT NOT NULL,
  PRIMARY KEY (user_id, workflow_id, version)
) WITHOUT ROWID;
INSERT INTO "removed_workflows" VALUES('anna','report',1,'2026-03-01T00:00:00.000Z');
CREATE TABLE schedule_log (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  logged_at TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT,
  action TEXT NOT NULL,
  schedule_id TEXT NOT NULL,
  detail TEXT NOT NULL DEFAULT '{}'
);
INSERT INTO "schedule_log" VALUES(1,'2026-03-01T00:00:00.000Z','anna@example.org','anna','upsert','report.main.dea66772dece73df','{}');
INSERT INTO "schedule_log" VALUES(2,'2026-03-01T00:00:00.000Z','anna@example.org','anna','upsert','report.main.dea66772dece73df','{}');
CREATE TABLE schedule_revisions (
  schedule_id TEXT NOT NULL REFERENCES schedules (schedule_id),
  revision INTEGER NOT NULL,
  effective_at TEXT NOT NULL,
  definition TEXT NOT NULL,
  PRIMARY KEY (schedule_id, revision)
);
INSERT INTO "schedule_revisions" VALUES('report.main.dea66772dece73df',1,'2026-03-01T00:00:00.000Z','{"catchup_policy":"none","cron_expr":"0 0 1 1 *","dialect":"standard","distribution":"uniform","dst":"vixie","jitter_ms":0,"launch_backoff":"1s","launches_max":3,"lease":"1m0s","overlap_policy":"skip","pause_rule":"skip","salt":"","schedule_id":"report.main.dea66772dece73df","seed":"stable","target":{"trigger_id":"main","user_id":"anna","version":1,"workflow_id":"report"},"timezone":"UTC","uncertain":"relaunch_same_key","window":"after,0s"}');
INSERT INTO "schedule_revisions" VALUES('report.main.dea66772dece73df',2,'2026-03-01T00:00:00.000Z','{"catchup_policy":"none","cron_expr":"0 0 1 1 *","dialect":"standard","distribution":"uniform","dst":"vixie","jitter_ms":0,"launch_backoff":"1s","launches_max":3,"lease":"1m0s","overlap_policy":"skip","pause_rule":"skip","salt":"","schedule_id":"report.main.dea66772dece73df","seed":"stable","target":{"trigger_id":"main","user_id":"anna","version":2,"workflow_id":"report"},"timezone":"UTC","uncertain":"relaunch_same_key","window":"after,0s"}');
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
  ended_at TEXT, kill_at TEXT, kill_by TEXT, chosen_at TEXT, params TEXT,
  CHECK ((state = 'done') = (ended_at IS NOT NULL) AND (ended_at IS NULL OR outcome IS NOT NULL)),
  CHECK ((state = 'claimed' OR state = 'running') = (lease_until IS NOT NULL))
);
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
, skips TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
INSERT INTO "schedules" VALUES('report.main.dea66772dece73df','report',2,'anna','0 0 1 1 *','UTC',NULL,NULL,'2027-01-01T00:00:00.000Z',0,0,'skip','none','2026-03-01T00:00:00.000Z',2,2,'2026-01-01T00:00:00.000Z','2027-01-01T00:00:00.000Z',NULL,'',60000,NULL,'2026-03-01T00:00:00.000Z',NULL,'');
CREATE TABLE workflows (
  user_id TEXT NOT NULL,
  workflow_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  digest TEXT NOT NULL,
  dag TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (user_id, workflow_id, version)
);
INSERT INTO "workflows" VALUES('anna','report',1,'4915fb163c3d9a195d16706e9df4803b44a6ea10739649b7fbe77904b2b1cf36','{"nodes":[{"command":["true"],"id":"first","type":"command"}],"triggers":[{"cron_expr":"0 0 1 1 *","type":"schedule_based"}],"version":1,"workflow_id":"report"}','2026-03-01T00:00:00.000Z');
INSERT INTO "workflows" VALUES('anna','report',2,'510ef77a6447289d914e9ebadeacb6a0a1e79feaf7af9302dde403f8face9c2c','{"nodes":[{"command":["true"],"id":"first","type":"command"}],"triggers":[{"cron_expr":"0 0 1 1 *","type":"schedule_based"}],"version":2,"workflow_id":"report"}','2026-03-01T00:00:00.000Z');
INSERT INTO "workflows" VALUES('anna','other',1,'2de9a5cb6749aaae295bb4afd3d43170c8ca0efaea4ac4aa359f4fc296b52933','{"nodes":[{"command":["true"],"id":"first","type":"command"}],"version":1,"workflow_id":"other"}','2026-03-01T00:00:00.000Z');
CREATE INDEX schedules_by_wake ON schedules (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX schedules_deleted ON schedules (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX schedule_runs_by_schedule ON schedule_runs (schedule_id, run_at);
CREATE INDEX schedule_runs_open ON schedule_runs (schedule_id, run_at) WHERE state <> 'done';
CREATE INDEX schedule_runs_by_lease ON schedule_runs (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX schedule_runs_by_end ON schedule_runs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX schedules_queueing ON schedules (schedule_id) WHERE overlap_policy = 'queue';
CREATE TRIGGER workflows_keep_version BEFORE UPDATE ON workflows
BEGIN
  SELECT RAISE(ABORT, 'a version of a workflow is permanent');
END;
CREATE INDEX executions_by_end ON executions (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX schedule_log_by_schedule ON schedule_log (schedule_id, number);
CREATE INDEX schedule_log_by_user ON schedule_log (user_id, number);
CREATE INDEX schedules_by_user ON schedules (user_id, schedule_id) WHERE user_id IS NOT NULL;
CREATE INDEX expectations_by_check ON expectations (check_at);
CREATE TRIGGER schedule_runs_keep_outcome
AFTER UPDATE OF state, outcome ON schedule_runs
WHEN OLD.outcome IS NOT NULL AND (OLD.state = 'done' OR NEW.outcome IS NOT OLD.outcome)
BEGIN
  SELECT RAISE(ABORT, 'an outcome is permanent');
END;
CREATE INDEX schedule_runs_to_end ON schedule_runs (kill_at)
WHERE kill_at IS NOT NULL AND state <> 'done';
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('schedule_log',2);
COMMIT;
PRAGMA application_id = 1735290733;
PRAGMA user_version = 10;
