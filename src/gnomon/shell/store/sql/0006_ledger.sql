-- Schema 6: an outcome is kept by a look after the step, which need not read the row a second time.

DROP TRIGGER schedule_runs_keep_outcome;

CREATE TRIGGER schedule_runs_keep_outcome
AFTER UPDATE OF state, outcome ON schedule_runs
WHEN OLD.outcome IS NOT NULL AND (OLD.state = 'done' OR NEW.outcome IS NOT OLD.outcome)
BEGIN
  SELECT RAISE(ABORT, 'an outcome is permanent');
END;
