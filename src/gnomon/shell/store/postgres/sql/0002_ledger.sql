-- Schema 2: the history of a schedule is an index of what is done, and what is open has its own.
--
-- A run is written into each index when it is claimed, and again when it ends. The history need not
-- know about it before that, because a statement about the history asks `schedule_runs_open` too.

DROP INDEX gnomon.schedule_runs_by_schedule;
CREATE INDEX schedule_runs_by_schedule ON gnomon.schedule_runs (schedule_id, run_at)
WHERE state = 'done';
