-- Schema 3: periods to leave out, and runs that a caller asked to end.

ALTER TABLE gnomon.schedules ADD COLUMN skips text NOT NULL DEFAULT '';

ALTER TABLE gnomon.schedule_runs ADD COLUMN kill_at timestamptz, ADD COLUMN kill_by text;

CREATE INDEX schedule_runs_to_end ON gnomon.schedule_runs (kill_at)
WHERE kill_at IS NOT NULL AND lease_until IS NOT NULL;
