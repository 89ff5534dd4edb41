-- The statements of the ledger by name. A list of texts is handed over as one JSON array.

-- name: due
SELECT schedule_id, revision, lock_version, cursor_at,
  -- What few schedules have is one column, because reading columns is most of the work.
  CASE WHEN paused OR skips <> '' THEN json_array(paused, paused_until, skips) END
FROM schedules
WHERE wake_at <= :now
ORDER BY wake_at
LIMIT :limit

-- name: lost
SELECT DISTINCT r.schedule_id, s.deleted_at IS NOT NULL
FROM schedule_runs r CROSS JOIN schedules s ON s.schedule_id = r.schedule_id
WHERE r.lease_until < :now
LIMIT :limit

-- name: chosen
SELECT s.schedule_id, s.revision, s.lock_version, s.cursor_at,
  CASE WHEN s.paused OR s.skips <> '' THEN json_array(s.paused, s.paused_until, s.skips) END
FROM json_each(:ids) j CROSS JOIN schedules s ON s.schedule_id = j.value

-- name: open_runs
SELECT r.schedule_id, r.idempotency_key, r.run_at, r.fire_at, r.state, r.fence, r.launches,
  r.lease_until, r.confirmed, r.owner IS NULL, r.kill_at, r.outcome IS NOT NULL, r.chosen_at,
  r.detail IS NOT NULL
FROM json_each(:ids) j CROSS JOIN schedule_runs r ON r.schedule_id = j.value
WHERE r.state <> 'done'
ORDER BY j.id, r.run_at

-- name: look_later
UPDATE schedules SET wake_at = :at WHERE schedule_id IN (SELECT value FROM json_each(:ids))

-- name: lose_later
UPDATE schedule_runs SET lease_until = :at
WHERE lease_until < :now AND schedule_id IN (SELECT value FROM json_each(:ids))

-- name: definitions
SELECT r.schedule_id, r.revision, r.effective_at, r.definition
FROM json_each(:ids) j
CROSS JOIN schedules s ON s.schedule_id = j.value
CROSS JOIN schedule_revisions r ON r.schedule_id = s.schedule_id AND r.revision = s.revision

-- name: versions
SELECT s.schedule_id, s.lock_version
FROM json_each(:ids) j CROSS JOIN schedules s ON s.schedule_id = j.value

-- name: take
-- The rows of schedules; a writer of SQLite is alone, so there is nothing to wait for.
SELECT schedule_id FROM schedules
WHERE schedule_id IN (SELECT value FROM json_each(:ids))
ORDER BY schedule_id

-- name: written_runs
SELECT r.idempotency_key, r.state, r.fence, r.lease_until, r.outcome
FROM json_each(:keys) j CROSS JOIN schedule_runs r ON r.idempotency_key = j.value

-- name: known_keys
SELECT idempotency_key FROM schedule_runs
WHERE idempotency_key IN (SELECT value FROM json_each(:keys))

-- name: insert_claims
INSERT INTO schedule_runs (
  idempotency_key, schedule_id, run_at, status, created_at, updated_at, fire_at, state, launches,
  fence, owner, lease_until, confirmed, revision
)
SELECT j.value, j.key, :run_at, 'ENQUEUED', :now, :now, :fire_at, 'claimed', 1, 1, :owner, :lease,
  :confirmed, :revision
FROM json_each(:keys) j

-- name: insert_run
INSERT INTO schedule_runs (
  idempotency_key, schedule_id, run_at, status, created_at, updated_at, last_run_at, periods,
  fire_at, state, outcome, reason, launches, fence, owner, lease_until, confirmed, revision, ended_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: add_run
-- A new row that is no claim.
INSERT INTO schedule_runs (
  idempotency_key, schedule_id, run_at, status, created_at, updated_at, last_run_at, periods,
  fire_at, state, outcome, reason, launches, revision, ended_at
) VALUES (
  :key, :id, :run_at, :status, :now_at, :now_at, :last_run_at, :periods,
  :fire_at, :state, :outcome, :reason, :launches, :revision, :ended_at
)

-- name: change_run
UPDATE schedule_runs
SET state = ?1, outcome = coalesce(outcome, ?2), reason = ?3, status = ?4, fire_at = ?5,
  chosen_at = CASE WHEN launches > 0 THEN coalesce(chosen_at, fire_at) END,
  launches = ?6, fence = ?7, owner = ?8, lease_until = ?9, confirmed = ?10, ended_at = ?11,
  updated_at = ?12,
  -- What a former try left behind is not true of the next one.
  detail = CASE WHEN ?1 = 'claimed' THEN NULL ELSE detail END,
  run_id = CASE WHEN ?1 = 'claimed' THEN NULL ELSE run_id END,
  started_at = CASE WHEN ?1 = 'claimed' THEN NULL ELSE started_at END
WHERE idempotency_key = ?13

-- name: advance
UPDATE schedules
SET cursor_at = :cursor, next_run_at = :following, wake_at = :wake,
  lock_version = lock_version + 1, updated_at = :now
WHERE schedule_id IN (
  SELECT s.schedule_id
  FROM json_each(:versions) j CROSS JOIN schedules s ON s.schedule_id = j.key
  WHERE s.lock_version = j.value
)

-- name: end_pause
UPDATE schedules SET paused = 0, paused_until = NULL, pause_reason = '' WHERE schedule_id = ?

-- name: reported_runs
SELECT r.idempotency_key, r.rowid, r.schedule_id, r.state, r.fence, r.launches, r.outcome,
  r.kill_at IS NOT NULL
FROM json_each(:keys) j CROSS JOIN schedule_runs r ON r.idempotency_key = j.value

-- name: start_run
UPDATE schedule_runs
SET state = 'running', outcome = 'executed', status = 'STARTED', run_id = ?1, started_at = ?5,
  updated_at = ?2,
  -- A run that goes on without its worker has a lease of its own, and no owner.
  owner = CASE WHEN ?3 IS NULL THEN owner END, lease_until = coalesce(?3, lease_until)
WHERE rowid = ?4

-- name: fill_in_run
-- A launch that is told after the end; where claims are confirmed nothing begins before it is told.
UPDATE schedule_runs
SET run_id = coalesce(run_id, :run_id),
  started_at = coalesce(
    started_at, CASE WHEN ended_at < :started THEN ended_at ELSE :started END
  )
WHERE idempotency_key = :key AND fence = :fence AND state = 'done' AND NOT confirmed
  AND outcome = 'executed' AND reason IS NOT 'uncertain'

-- name: end_runs
UPDATE schedule_runs
SET state = 'done', outcome = coalesce(outcome, :outcome), reason = :reason, status = :status,
  detail = :detail, lease_until = NULL, ended_at = :ended, updated_at = :now,
  run_id = coalesce(run_id, :run_id), started_at = coalesce(started_at, :started)
WHERE rowid IN (
  SELECT r.rowid
  FROM json_each(:fences) j CROSS JOIN schedule_runs r ON r.idempotency_key = j.key
  -- Whatever is not done can end: a run whose launch is to be tried again may have run after all.
  WHERE r.fence = j.value AND r.state <> 'done'
)

-- name: retry_run
UPDATE schedule_runs
SET state = 'planned', status = NULL, detail = ?, chosen_at = coalesce(chosen_at, fire_at),
  fire_at = ?, owner = NULL, lease_until = NULL,
  outcome = CASE WHEN ? THEN 'executed' ELSE outcome END, updated_at = ?
WHERE rowid = ?

-- name: has_queues
SELECT EXISTS (SELECT 1 FROM schedules WHERE overlap_policy = 'queue')

-- name: schedules_of_runs
SELECT DISTINCT r.schedule_id
FROM json_each(:keys) j CROSS JOIN schedule_runs r ON r.idempotency_key = j.value

-- name: wake_queues
UPDATE schedules
SET lock_version = lock_version + 1, updated_at = :now,
  wake_at = CASE
    WHEN wake_at <= :now THEN wake_at
    WHEN EXISTS (
      SELECT 1 FROM schedule_runs q
      WHERE q.schedule_id = schedules.schedule_id AND q.state <> 'done' AND q.state = 'queued'
    ) THEN :now
    ELSE wake_at
  END
WHERE overlap_policy = 'queue' AND schedule_id IN (SELECT value FROM json_each(:ids))

-- name: wake
UPDATE schedules
SET lock_version = lock_version + 1, wake_at = min(coalesce(wake_at, :at), :at), updated_at = :now
WHERE schedule_id = :id AND deleted_at IS NULL

-- name: wake_now
UPDATE schedules
SET lock_version = lock_version + 1, wake_at = min(coalesce(wake_at, :now_at), :now_at),
  updated_at = :now_at
WHERE schedule_id = :id AND deleted_at IS NULL

-- name: leases
SELECT r.idempotency_key, r.fence, r.owner, r.state, s.lease_ms
FROM json_each(:keys) j
CROSS JOIN schedule_runs r ON r.idempotency_key = j.value
CROSS JOIN schedules s ON s.schedule_id = r.schedule_id

-- name: renew
UPDATE schedule_runs SET lease_until = ?, updated_at = ? WHERE idempotency_key = ?

-- name: orphans
SELECT * FROM schedule_runs
WHERE lease_until IS NOT NULL AND owner <> :owner
ORDER BY +schedule_id, run_at -- the plus keeps SQLite from reading the whole table in that order

-- name: abandoned
SELECT r.idempotency_key, r.schedule_id, r.fence, s.lease_ms
FROM schedule_runs r CROSS JOIN schedules s ON s.schedule_id = r.schedule_id
WHERE r.lease_until IS NOT NULL AND r.owner <> :owner

-- name: adopt
UPDATE schedule_runs
SET owner = ?, fence = fence + 1, lease_until = ?, updated_at = ?
WHERE idempotency_key = ?

-- name: lose
UPDATE schedule_runs SET lease_until = ?, updated_at = ? WHERE idempotency_key = ?

-- name: new_versions
UPDATE schedules SET lock_version = lock_version + 1, updated_at = :now_at
WHERE schedule_id IN (SELECT value FROM json_each(:ids))

-- name: next_wake
SELECT min(wake_at) FROM schedules WHERE wake_at IS NOT NULL

-- name: next_lease
SELECT min(lease_until) FROM schedule_runs WHERE lease_until IS NOT NULL

-- name: still_owes
-- A further try of a launch has an instant of its own, so that its nominal one is asked for.
SELECT EXISTS (
  SELECT 1 FROM schedule_runs r JOIN schedules s ON s.schedule_id = r.schedule_id
  WHERE r.state <> 'done' AND r.state <> 'running' AND NOT s.paused
    AND (r.fire_at <= :at OR r.launches > 0 AND r.run_at <= :at)
)

-- name: head
SELECT revision, lock_version, cursor_at, wake_at, paused, paused_until, deleted_at
FROM schedules
WHERE schedule_id = :id

-- name: heads
SELECT s.schedule_id, s.revision, s.cursor_at, s.paused, s.paused_until, s.deleted_at,
  EXISTS (
    SELECT 1 FROM schedule_runs r
    WHERE r.schedule_id = s.schedule_id AND r.state <> 'done' AND r.state IN ('planned', 'queued')
  ) AS waits
FROM json_each(:ids) j CROSS JOIN schedules s ON s.schedule_id = j.value

-- name: present
SELECT s.schedule_id,
  CASE WHEN s.paused AND s.paused_until IS NULL THEN s.pause_reason ELSE '' END AS pause,
  s.revision, v.effective_at, v.definition
FROM schedules s
JOIN schedule_revisions v ON v.schedule_id = s.schedule_id AND v.revision = s.revision
WHERE s.deleted_at IS NULL

-- name: forgo
UPDATE schedules SET cursor_at = :cursor_at, next_run_at = :next_at, wake_at = :wake_at
WHERE schedule_id = :id

-- name: ids
SELECT schedule_id FROM schedules WHERE schedule_id >= :from AND schedule_id <= :to

-- name: revision
SELECT definition FROM schedule_revisions WHERE schedule_id = :id AND revision = :revision

-- name: covered
SELECT run_at, coalesce(last_run_at, run_at) AS last_at, created_at FROM schedule_runs
WHERE schedule_id = :id AND coalesce(last_run_at, run_at) > :after_at
  AND idempotency_key NOT GLOB 'manual:*' AND idempotency_key NOT GLOB 'backfill:*'
  AND idempotency_key NOT GLOB 'boot:*'

-- name: insert_schedule
INSERT INTO schedules (
  schedule_id, workflow_id, version, user_id, cron_expr, timezone, start_at, end_at, next_run_at,
  jitter_ms, overlap_policy, catchup_policy, updated_at, revision, lock_version, cursor_at, wake_at,
  lease_ms, created_at
) VALUES (
  :id, :workflow_id, :version, :user_id, :cron_expr, :timezone, :start_at, :end_at, :next_at,
  :jitter_ms, :overlap, :catchup, :now_at, :revision,
  1 + coalesce(
    (SELECT CAST(value AS INTEGER) FROM ledger_meta WHERE name = 'forgotten_version'), 0
  ),
  :cursor_at, :wake_at, :lease_ms, :now_at
)

-- name: take_begun
-- The runs that can end; a writer of SQLite is alone, so there is nothing to wait for.
SELECT r.idempotency_key FROM schedule_runs r JOIN schedules s ON s.schedule_id = r.schedule_id
WHERE r.schedule_id IN (SELECT value FROM json_each(:ids)) AND s.overlap_policy <> 'queue'
  AND r.state <> 'done' AND r.launches > 0

-- name: change_schedule
UPDATE schedules
SET workflow_id = :workflow_id, version = :version, user_id = :user_id, cron_expr = :cron_expr,
  timezone = :timezone, start_at = :start_at, end_at = :end_at, next_run_at = :next_at,
  jitter_ms = :jitter_ms, overlap_policy = :overlap, catchup_policy = :catchup, updated_at = :now_at,
  revision = :revision, lock_version = lock_version + 1, cursor_at = :cursor_at, wake_at = :wake_at,
  lease_ms = :lease_ms, deleted_at = NULL
WHERE schedule_id = :id

-- name: insert_revision
INSERT INTO schedule_revisions (schedule_id, revision, effective_at, definition)
VALUES (:id, :revision, :now_at, :definition)

-- name: pause
UPDATE schedules
SET paused = 1, paused_until = :paused_until, pause_reason = :reason,
  wake_at = CASE
    WHEN EXISTS (
      SELECT 1 FROM schedule_runs r
      WHERE r.schedule_id = schedules.schedule_id AND r.state <> 'done'
        AND r.state IN ('planned', 'queued')
        AND (r.idempotency_key GLOB 'manual:*' OR r.kill_at IS NOT NULL)
    ) THEN :now_at -- what was asked for by hand starts all the same, and what is to be ended ends
    ELSE :paused_until
  END,
  lock_version = lock_version + 1, updated_at = :now_at
WHERE schedule_id = :id AND deleted_at IS NULL

-- name: resume
UPDATE schedules
SET paused_until = min(coalesce(paused_until, :now_at), :now_at), wake_at = :now_at,
  lock_version = lock_version + 1, updated_at = :now_at
WHERE schedule_id = :id AND paused

-- name: delete_waiting
UPDATE schedule_runs
SET state = 'done', outcome = coalesce(outcome, 'skipped'),
  reason = CASE WHEN outcome IS NULL THEN 'deleted' ELSE 'uncertain' END,
  status = CASE WHEN outcome IS NULL THEN 'SKIPPED' ELSE 'FAILED' END,
  ended_at = :now_at, updated_at = :now_at
WHERE schedule_id = :id AND state <> 'done' AND state IN ('planned', 'queued')

-- name: delete_schedule
UPDATE schedules
SET deleted_at = :now_at, updated_at = :now_at, cursor_at = :cursor_at, next_run_at = NULL, wake_at = NULL,
  paused = 0, paused_until = NULL, pause_reason = '', skips = '', lock_version = lock_version + 1
WHERE schedule_id = :id

-- name: give_params
UPDATE schedule_runs SET params = :params WHERE idempotency_key = :key

-- name: asked_head
SELECT revision, cursor_at, skips FROM schedules WHERE schedule_id = :id AND deleted_at IS NULL

-- name: next_waiting
-- The next period that is opened and lies ahead.
SELECT idempotency_key, run_at FROM schedule_runs
WHERE schedule_id = :id AND state <> 'done' AND state = 'planned' AND launches = 0
  AND fire_at > :now_at AND idempotency_key NOT GLOB '*:*'
ORDER BY run_at
LIMIT 1

-- name: leave_out
UPDATE schedule_runs
SET state = 'done', outcome = 'skipped', reason = 'requested', status = 'SKIPPED',
  ended_at = :now_at, updated_at = :now_at
WHERE idempotency_key = :key

-- name: set_skips
UPDATE schedules SET skips = :skips, lock_version = lock_version + 1, updated_at = :now_at
WHERE schedule_id = :id

-- name: take_in_flight
SELECT schedule_id FROM schedule_runs
WHERE idempotency_key = :key AND lease_until IS NOT NULL

-- name: ask_to_end
-- Who waits in a queue leaves it, and a further try is none any more: it is looked at now.
UPDATE schedule_runs
SET kill_at = :now_at, kill_by = :by, updated_at = :now_at,
  state = CASE WHEN state = 'queued' THEN 'planned' ELSE state END,
  chosen_at = CASE WHEN launches > 0 THEN coalesce(chosen_at, fire_at) END,
  fire_at = CASE WHEN lease_until IS NULL AND outcome IS NOT NULL THEN :now_at ELSE fire_at END
WHERE idempotency_key = :key AND state <> 'done' AND kill_at IS NULL

-- name: end_waiting
UPDATE schedule_runs
SET state = 'done', outcome = 'skipped', reason = 'killed', status = 'SKIPPED',
  ended_at = :now_at, updated_at = :now_at
WHERE idempotency_key = :key AND state = 'planned' AND outcome IS NULL

-- name: to_end
SELECT idempotency_key, fence, owner IS NULL AS detached FROM schedule_runs
WHERE kill_at IS NOT NULL AND state <> 'done' AND (owner = :owner OR owner IS NULL)

-- name: run
SELECT * FROM schedule_runs WHERE idempotency_key = :key

-- name: schedules
SELECT s.schedule_id, s.revision, s.lock_version, s.cursor_at, s.wake_at, s.paused, s.paused_until,
  s.pause_reason, s.created_at, s.updated_at, s.skips,
  (SELECT count(*) FROM schedule_runs r
   WHERE r.schedule_id = s.schedule_id AND r.state <> 'done' AND r.state IN ('claimed', 'running'))
   AS in_flight
FROM schedules s
WHERE s.schedule_id > :after AND s.deleted_at IS NULL
ORDER BY s.schedule_id
LIMIT :limit

-- name: schedules_where
SELECT s.schedule_id, s.revision, s.lock_version, s.cursor_at, s.wake_at, s.paused, s.paused_until,
  s.pause_reason, s.created_at, s.updated_at, s.skips,
  (SELECT count(*) FROM schedule_runs r
   WHERE r.schedule_id = s.schedule_id AND r.state <> 'done' AND r.state IN ('claimed', 'running'))
   AS in_flight
FROM schedules s
WHERE s.schedule_id > :after AND s.deleted_at IS NULL
  AND (:workflow_id IS NULL OR s.workflow_id = :workflow_id)
  AND (:paused IS NULL OR s.paused = :paused)
  AND (:text IS NULL OR instr(s.schedule_id, :text) > 0)
  AND (:user_id IS NULL OR s.user_id = :user_id)
ORDER BY s.schedule_id
LIMIT :limit

-- name: schedules_of_user
SELECT s.schedule_id, s.revision, s.lock_version, s.cursor_at, s.wake_at, s.paused, s.paused_until,
  s.pause_reason, s.created_at, s.updated_at, s.skips,
  (SELECT count(*) FROM schedule_runs r
   WHERE r.schedule_id = s.schedule_id AND r.state <> 'done' AND r.state IN ('claimed', 'running'))
   AS in_flight
FROM schedules s
WHERE s.user_id = :user_id AND s.schedule_id > :after AND s.deleted_at IS NULL
  AND (:workflow_id IS NULL OR s.workflow_id = :workflow_id)
  AND (:paused IS NULL OR s.paused = :paused)
  AND (:text IS NULL OR instr(s.schedule_id, :text) > 0)
ORDER BY s.schedule_id
LIMIT :limit

-- name: schedule
SELECT s.schedule_id, s.revision, s.lock_version, s.cursor_at, s.wake_at, s.paused, s.paused_until,
  s.pause_reason, s.created_at, s.updated_at, s.skips,
  (SELECT count(*) FROM schedule_runs r
   WHERE r.schedule_id = s.schedule_id AND r.state <> 'done' AND r.state IN ('claimed', 'running'))
   AS in_flight
FROM schedules s
WHERE s.schedule_id = :id AND s.deleted_at IS NULL

-- name: runs
SELECT * FROM schedule_runs
WHERE schedule_id = :id AND (run_at, idempotency_key) < (:before_at, :key)
ORDER BY run_at DESC, idempotency_key DESC
LIMIT :limit

-- name: find_open
SELECT r.* FROM schedule_runs r CROSS JOIN schedules s ON s.schedule_id = r.schedule_id
WHERE r.state <> 'done' AND (r.run_at, r.idempotency_key) < (:before_at, :key)
  AND (:user_id IS NULL OR s.user_id = :user_id)
  AND (:workflow_id IS NULL OR s.workflow_id = :workflow_id)
  AND (:state IS NULL OR r.state = :state)
  AND (:status IS NULL OR r.status = :status)
  AND (:outcome IS NULL OR r.outcome = :outcome)
  AND (:reason IS NULL OR r.reason = :reason)
ORDER BY r.run_at DESC, r.idempotency_key DESC
LIMIT :limit

-- name: find_ended
SELECT r.* FROM schedule_runs r CROSS JOIN schedules s ON s.schedule_id = r.schedule_id
WHERE r.ended_at IS NOT NULL AND r.ended_at >= :since_at
  AND (r.ended_at, r.idempotency_key) < (:before_at, :key)
  AND (:user_id IS NULL OR s.user_id = :user_id)
  AND (:workflow_id IS NULL OR s.workflow_id = :workflow_id)
  AND (:state IS NULL OR r.state = :state)
  AND (:status IS NULL OR r.status = :status)
  AND (:outcome IS NULL OR r.outcome = :outcome)
  AND (:reason IS NULL OR r.reason = :reason)
ORDER BY r.ended_at DESC, r.idempotency_key DESC
LIMIT :limit

-- name: covering
-- The rows of one instant: the period's, or the range's that holds it, and those asked for.
SELECT * FROM schedule_runs
WHERE schedule_id = :id AND run_at <= :covered_at AND coalesce(last_run_at, run_at) >= :covered_at
ORDER BY run_at DESC, idempotency_key

-- name: revisions
SELECT revision, effective_at, definition FROM schedule_revisions
WHERE schedule_id = :id AND revision < :before
ORDER BY revision DESC
LIMIT :limit

-- name: alone_for
-- A writer of SQLite is alone, so there is nothing to wait for.
SELECT :user_id

-- name: owners
SELECT s.schedule_id, s.user_id, s.revision, s.deleted_at IS NOT NULL AS deleted
FROM json_each(:ids) j CROSS JOIN schedules s ON s.schedule_id = j.value

-- name: schedules_of
SELECT count(*) AS schedules FROM schedules WHERE user_id = :user_id AND deleted_at IS NULL

-- name: schedule_of_run
SELECT schedule_id FROM schedule_runs WHERE idempotency_key = :key

-- name: write_log
INSERT INTO schedule_log (logged_at, subject, user_id, action, schedule_id, detail)
VALUES (:now_at, :subject, :user_id, :action, :id, :detail)

-- name: read_log
SELECT number, logged_at, subject, user_id, action, schedule_id, detail FROM schedule_log
WHERE number < :before AND (:id IS NULL OR schedule_id = :id)
  AND (:user_id IS NULL OR user_id = :user_id)
ORDER BY number DESC
LIMIT :limit

-- name: expect
INSERT INTO expectations (schedule_id, check_at, after_at) VALUES (:id, :check_at, :after_at)
ON CONFLICT (schedule_id) DO UPDATE SET
  check_at = min(check_at, excluded.check_at), after_at = max(after_at, excluded.after_at)

-- name: expect_nothing
DELETE FROM expectations WHERE schedule_id IN (SELECT value FROM json_each(:ids))

-- name: expected
SELECT schedule_id, after_at FROM expectations WHERE check_at <= :now_at ORDER BY check_at LIMIT :limit

-- name: next_expected
SELECT min(check_at) FROM expectations

-- name: judge_expected
UPDATE expectations SET check_at = :check_at, after_at = :after_at
WHERE schedule_id = :id AND after_at = :former_at

-- name: judge_nothing
-- Unless a definition was saved since that was found.
DELETE FROM expectations WHERE schedule_id = :id AND after_at = :former_at

-- name: add_breach
INSERT INTO breaches (schedule_id, run_at, expectation, noted_at)
VALUES (:id, :run_at, :expectation, :now_at)
ON CONFLICT DO NOTHING

-- name: finished
SELECT idempotency_key, schedule_id, coalesce(last_run_at, run_at) AS last_at
FROM schedule_runs
WHERE ended_at < :before_at AND coalesce(last_run_at, run_at) < :before_at
ORDER BY ended_at
LIMIT :limit

-- name: remove_runs
DELETE FROM schedule_runs
WHERE idempotency_key IN (SELECT value FROM json_each(:keys)) AND state = 'done'

-- name: newest_revisions
SELECT schedule_id, revision FROM schedules WHERE deleted_at IS NULL ORDER BY schedule_id

-- name: not_started_after
-- Periods, or ranges of them, that are over without a start and reach beyond an instant.
SELECT idempotency_key, run_at, last_run_at, outcome, reason FROM schedule_runs
WHERE schedule_id = :id AND revision = :revision AND state = 'done' AND launches = 0
  AND outcome <> 'executed' AND coalesce(last_run_at, run_at) > :after
  AND idempotency_key NOT GLOB 'manual:*' AND idempotency_key NOT GLOB 'backfill:*'
  AND idempotency_key NOT GLOB 'boot:*'
ORDER BY run_at

-- name: remove_key
DELETE FROM schedule_runs WHERE idempotency_key = ?

-- name: look_at_once
UPDATE schedules
SET wake_at = min(coalesce(wake_at, :now), :now), updated_at = :now, lock_version = lock_version + 1
WHERE schedule_id = :id

-- name: raise_floor
UPDATE schedules SET floor_at = max(coalesce(floor_at, :floor_at), :floor_at)
WHERE schedule_id = :id

-- name: forgotten
SELECT schedule_id FROM schedules s
WHERE deleted_at < :before_at
  AND NOT EXISTS (SELECT 1 FROM schedule_runs r WHERE r.schedule_id = s.schedule_id)
ORDER BY deleted_at
LIMIT :limit

-- name: remember_forgotten
-- The numbers that these had are not given again: a process that has read a definition of one of
-- them, or made a plan, must not take it for one of what is saved under that name later.
INSERT INTO ledger_meta (name, value)
SELECT 'forgotten_revision', CAST(max(revision) AS TEXT) FROM schedules
WHERE schedule_id IN (SELECT value FROM json_each(:ids))
UNION ALL
SELECT 'forgotten_version', CAST(max(lock_version) AS TEXT) FROM schedules
WHERE schedule_id IN (SELECT value FROM json_each(:ids))
ON CONFLICT (name) DO UPDATE SET
  value = CAST(max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER)) AS TEXT)

-- name: remove_revisions
DELETE FROM schedule_revisions WHERE schedule_id IN (SELECT value FROM json_each(:ids))

-- name: remove_schedules
DELETE FROM schedules WHERE schedule_id IN (SELECT value FROM json_each(:ids))

-- name: get_meta
SELECT value FROM ledger_meta WHERE name = :name

-- name: set_meta
INSERT INTO ledger_meta (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: set_meta_once
INSERT INTO ledger_meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING

-- name: wake_zoned
UPDATE schedules SET wake_at = :at WHERE wake_at IS NOT NULL AND timezone <> 'UTC'
