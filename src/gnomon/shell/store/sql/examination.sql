-- What a doctor asks of a ledger. Nothing here writes.

-- name: schedules
SELECT s.schedule_id, s.cursor_at, s.floor_at, s.wake_at, s.updated_at, s.paused, s.deleted_at,
  (SELECT max(e.effective_at) FROM schedule_revisions e WHERE e.schedule_id = s.schedule_id),
  v.definition,
  (SELECT max(coalesce(r.last_run_at, r.run_at)) FROM schedule_runs r
   WHERE r.schedule_id = s.schedule_id AND r.revision < s.revision
     AND r.idempotency_key NOT GLOB 'manual:*' AND r.idempotency_key NOT GLOB 'backfill:*'
     AND r.idempotency_key NOT GLOB 'boot:*')
FROM schedules s
LEFT JOIN schedule_revisions v ON v.schedule_id = s.schedule_id AND v.revision = s.revision
ORDER BY s.schedule_id

-- name: runs
SELECT idempotency_key, schedule_id, run_at, last_run_at, periods, fire_at, state, outcome, reason,
  status, launches, fence, lease_until
FROM schedule_runs
WHERE schedule_id = :id
ORDER BY run_at

-- name: strangers
SELECT r.schedule_id, count(*) FROM schedule_runs r
WHERE NOT EXISTS (SELECT 1 FROM schedules s WHERE s.schedule_id = r.schedule_id)
GROUP BY r.schedule_id

-- name: has_ledger
SELECT count(*) FROM sqlite_master WHERE name = 'ledger_meta';

-- name: counts
SELECT (SELECT count(*) FROM schedules WHERE deleted_at IS NULL), (SELECT count(*) FROM schedule_runs)
