-- Schema 8: the chosen instant stays, though a further try of a launch has an instant of its own.

ALTER TABLE gnomon.schedule_runs ADD COLUMN chosen_at timestamptz;
