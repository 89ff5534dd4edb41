-- Schema 10: what a run by hand was given.

ALTER TABLE gnomon.schedule_runs ADD COLUMN params text;
