-- Schema 5: who changed what, and what is expected of schedules.

CREATE TABLE schedule_log (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  logged_at TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT,
  action TEXT NOT NULL,
  schedule_id TEXT NOT NULL,
  detail TEXT NOT NULL DEFAULT '{}'
);

CREATE INDEX schedule_log_by_schedule ON schedule_log (schedule_id, number);
CREATE INDEX schedule_log_by_user ON schedule_log (user_id, number);

CREATE INDEX schedules_by_user ON schedules (user_id, schedule_id) WHERE user_id IS NOT NULL;

-- Expectations are looked at when `check_at` has come, for nominal instants after `after_at`.
CREATE TABLE expectations (
  schedule_id TEXT NOT NULL PRIMARY KEY,
  check_at TEXT NOT NULL,
  after_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX expectations_by_check ON expectations (check_at);

CREATE TABLE breaches (
  schedule_id TEXT NOT NULL,
  run_at TEXT NOT NULL,
  expectation TEXT NOT NULL,
  noted_at TEXT NOT NULL,
  PRIMARY KEY (schedule_id, run_at, expectation)
) WITHOUT ROWID;
