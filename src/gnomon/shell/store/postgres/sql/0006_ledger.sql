-- Schema 6: what a turn asks of the database, with fewer words and fewer locks.

-- The ends of a turn ask which of their schedules have a queue; mostly none has.
CREATE INDEX schedules_with_queue ON gnomon.schedules (schedule_id) WHERE overlap_policy = 'queue';

-- Runs of these schedules, joined, are over. Those with a queue are taken, after the processes that
-- have them, in the order that all use. Only then is it asked which periods wait, so that none can
-- join a queue unseen. Each statement here sees what was committed before it, which those of one
-- `WITH` would not. A plan that lets a period wait, made before and not yet committed, must not
-- count any more; a schedule whose queue has a period is looked at now, and other workers are told.
CREATE FUNCTION gnomon.wake_queues(ended text, noted_at timestamptz, channel text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  queues text[];
BEGIN
  SELECT array_agg(taken.schedule_id) INTO queues FROM (
    SELECT s.schedule_id FROM gnomon.schedules s
    WHERE s.schedule_id = ANY (string_to_array(ended, ',')) AND s.overlap_policy = 'queue'
    ORDER BY s.schedule_id
    FOR NO KEY UPDATE
  ) taken;
  IF queues IS NULL THEN
    RETURN;
  END IF;
  UPDATE gnomon.schedules s SET
    lock_version = s.lock_version + 1, updated_at = noted_at,
    wake_at = CASE
      WHEN EXISTS (
        SELECT 1 FROM gnomon.schedule_runs q
        WHERE q.schedule_id = s.schedule_id AND q.state <> 'done' AND q.state = 'queued'
      ) THEN least(s.wake_at, noted_at)
      ELSE s.wake_at
    END
  WHERE s.schedule_id = ANY (queues);
  IF EXISTS (
    SELECT 1 FROM gnomon.schedules s
    WHERE s.schedule_id = ANY (queues) AND s.wake_at <= noted_at
  ) THEN
    PERFORM pg_notify(channel, '');
  END IF;
END
$$;

-- The same, if as many runs were ended as were to be; else nothing of the statement has happened.
CREATE FUNCTION gnomon.wake_queues_if(
  wanted bigint, written bigint, ended text, noted_at timestamptz, channel text
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF written <> wanted THEN
    RAISE EXCEPTION 'not all of these runs are held' USING ERRCODE = 'no_data_found';
  END IF;
  PERFORM gnomon.wake_queues(ended, noted_at, channel);
END
$$;

-- A trigger that comes before the change takes every row once more to show it to its condition; one
-- that comes after it does not, and refuses as well.
DROP TRIGGER schedule_runs_keep_outcome ON gnomon.schedule_runs;
CREATE TRIGGER schedule_runs_keep_outcome
AFTER UPDATE OF state, outcome ON gnomon.schedule_runs FOR EACH ROW
WHEN (OLD.outcome IS NOT NULL AND (OLD.state = 'done' OR NEW.outcome IS DISTINCT FROM OLD.outcome))
EXECUTE FUNCTION gnomon.keep_outcome();
