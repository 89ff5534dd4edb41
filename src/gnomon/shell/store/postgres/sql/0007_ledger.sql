-- Schema 7: what is to be ended is looked for also where no worker holds it and it waits.

DROP INDEX gnomon.schedule_runs_to_end;
CREATE INDEX schedule_runs_to_end ON gnomon.schedule_runs (kill_at)
WHERE kill_at IS NOT NULL AND state <> 'done';
