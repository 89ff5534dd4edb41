-- Schema 10: what a run by hand was given.

ALTER TABLE schedule_runs ADD COLUMN params TEXT;
