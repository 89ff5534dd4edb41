-- What a doctor asks of a ledger on PostgreSQL. Nothing here writes.

-- name: schedules
-- $1 after, $2 how many
SELECT s.schedule_id, s.cursor_at, s.floor_at, s.wake_at, s.updated_at, s.paused,
  s.deleted_at IS NOT NULL,
  coalesce(
    (SELECT max(e.effective_at) FROM gnomon.schedule_revisions e
     WHERE e.schedule_id = s.schedule_id), 'epoch'
  ), v.definition,
  greatest(
    (SELECT max(coalesce(r.last_run_at, r.run_at)) FROM gnomon.schedule_runs r
     WHERE r.schedule_id = s.schedule_id AND r.revision < s.revision AND r.state = 'done'
       AND NOT starts_with(r.idempotency_key, 'manual:')
       AND NOT starts_with(r.idempotency_key, 'backfill:')),
    (SELECT max(coalesce(r.last_run_at, r.run_at)) FROM gnomon.schedule_runs r
     WHERE r.schedule_id = s.schedule_id AND r.revision < s.revision AND r.state <> 'done'
       AND NOT starts_with(r.idempotency_key, 'manual:')
       AND NOT starts_with(r.idempotency_key, 'backfill:'))
  )
FROM gnomon.schedules s
LEFT JOIN gnomon.schedule_revisions v ON v.schedule_id = s.schedule_id AND v.revision = s.revision
WHERE s.schedule_id > $1
ORDER BY s.schedule_id
LIMIT $2

-- name: runs
SELECT idempotency_key, schedule_id, run_at, last_run_at, periods, fire_at, state, outcome, reason,
  status, launches, fence, lease_until
FROM gnomon.schedule_runs
WHERE schedule_id = $1 AND state = 'done'
UNION ALL
SELECT idempotency_key, schedule_id, run_at, last_run_at, periods, fire_at, state, outcome, reason,
  status, launches, fence, lease_until
FROM gnomon.schedule_runs
WHERE schedule_id = $1 AND state <> 'done'
ORDER BY run_at

-- name: strangers
SELECT r.schedule_id, count(*) FROM gnomon.schedule_runs r
WHERE NOT EXISTS (SELECT 1 FROM gnomon.schedules s WHERE s.schedule_id = r.schedule_id)
GROUP BY r.schedule_id

-- name: counts
SELECT (SELECT count(*) FROM gnomon.schedules WHERE deleted_at IS NULL),
  (SELECT count(*) FROM gnomon.schedule_runs)

-- name: held
-- What each worker still has under its name, and how long its last lease lasts.
SELECT owner, count(*), (extract(epoch FROM max(lease_until) - now()) * 1000)::bigint
FROM gnomon.schedule_runs
WHERE lease_until IS NOT NULL AND state <> 'done' AND owner IS NOT NULL
GROUP BY owner
