-- Schema 3: periods to leave out, and runs that a caller asked to end.

ALTER TABLE schedules ADD COLUMN skips TEXT NOT NULL DEFAULT '';

ALTER TABLE schedule_runs ADD COLUMN kill_at TEXT;
ALTER TABLE schedule_runs ADD COLUMN kill_by TEXT;

CREATE INDEX schedule_runs_to_end ON schedule_runs (kill_at)
WHERE kill_at IS NOT NULL AND lease_until IS NOT NULL;
