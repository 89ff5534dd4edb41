-- The statements of the ledger on PostgreSQL by name. Lists are handed over as arrays, or joined by
-- commas where a turn may hand over thousands, which is four times as quick on the other side.
--
-- Who takes which rows: a commit takes what is free, first of `schedules` and then of
-- `schedule_runs`, and waits for none. A report takes its runs and then the schedules it wakes, a
-- renewal its runs, each in the order of the ids; ending a run in flight takes what a report takes.
-- Saving, deleting and everything else that is asked for takes the schedule first, and runs after it
-- where it has to; the server breaks one of two that wait for each other, and it begins again.
--
-- What is done and what is open have an index each, so that a statement about both asks twice.
--
-- Leases are judged by the time of the database. `LEASE_NOW` stands for the instant that counts: the
-- parameter that comes with it, or when that is NULL the time at which the transaction began.

-- name: load
-- A row for each open period of what is due, and at least one for each schedule; those of a schedule
-- are in order, but need not follow each other. The first column is the instant that counts for
-- leases, in milliseconds; it is there when nothing else is.
-- $1 now, $2 the instant for leases, $3 how many, $4 and $5 the lane: a mask and its value
WITH lost AS MATERIALIZED (
  SELECT DISTINCT schedule_id FROM gnomon.schedule_runs
  WHERE lease_until < LEASE_NOW($2)
  LIMIT $3
), due AS (
  SELECT schedule_id, revision, lock_version, cursor_at, paused, paused_until, skips, wake_at
  FROM gnomon.schedules
  WHERE wake_at <= $1 AND ($4::int = 0 OR hashtext(schedule_id) & $4::int = $5::int)
  ORDER BY wake_at
  LIMIT $3
), heads AS (
  SELECT s.schedule_id, s.revision, s.lock_version, s.cursor_at, s.paused, s.paused_until,
    s.skips, s.wake_at, s.deleted_at IS NOT NULL AS deleted, 0 AS turn
  FROM lost JOIN gnomon.schedules s USING (schedule_id)
  UNION ALL
  SELECT due.*, false, 1 FROM due WHERE due.schedule_id NOT IN (SELECT schedule_id FROM lost)
  ORDER BY turn, wake_at
  LIMIT $3
)
SELECT (SELECT extract(epoch FROM LEASE_NOW($2)) * 1000)::bigint, h.schedule_id, h.revision,
  h.lock_version, h.cursor_at, h.paused, h.paused_until, h.skips, h.deleted, r.idempotency_key,
  r.run_at, r.fire_at, r.state, r.fence, r.launches, r.lease_until < LEASE_NOW($2), r.confirmed,
  r.owner IS NULL, r.kill_at, r.outcome IS NOT NULL, r.chosen_at, r.detail IS NOT NULL
FROM (SELECT) one
LEFT JOIN heads h ON true
LEFT JOIN LATERAL (
  SELECT * FROM gnomon.schedule_runs open
  WHERE open.schedule_id = h.schedule_id AND open.state <> 'done'
  OFFSET 0 -- asked for each schedule, whatever the statistics say
) r ON true
ORDER BY h.turn, h.wake_at, r.run_at

-- name: definitions
SELECT s.schedule_id, v.revision, v.effective_at, v.definition
FROM unnest(:ids::text[]) AS wanted (schedule_id)
JOIN gnomon.schedules s ON s.schedule_id = wanted.schedule_id
JOIN gnomon.schedule_revisions v ON v.schedule_id = s.schedule_id AND v.revision = s.revision

-- name: next_wake
SELECT (SELECT min(wake_at) FROM gnomon.schedules WHERE wake_at IS NOT NULL),
  (SELECT min(lease_until) FROM gnomon.schedule_runs WHERE lease_until IS NOT NULL)

-- name: still_owes
-- A further try of a launch has an instant of its own, so that its nominal one is asked for.
SELECT EXISTS (
  SELECT 1 FROM gnomon.schedule_runs r JOIN gnomon.schedules s USING (schedule_id)
  WHERE r.state <> 'done' AND r.state <> 'running' AND NOT s.paused
    AND (r.fire_at <= $1 OR r.launches > 0 AND r.run_at <= $1)
)

-- name: take_free
-- The rows of schedules, except those that another process has.
SELECT schedule_id, lock_version FROM gnomon.schedules
WHERE schedule_id = ANY ($1)
FOR UPDATE SKIP LOCKED

-- name: take
-- The rows of schedules, in the order that every process uses, after the processes that have them.
SELECT schedule_id FROM gnomon.schedules
WHERE schedule_id = ANY (:ids)
ORDER BY schedule_id
FOR NO KEY UPDATE

-- name: written_runs
-- $1 keys, $2 the instant for leases
SELECT idempotency_key, state, fence, lease_until >= LEASE_NOW($2), outcome
FROM gnomon.schedule_runs
WHERE idempotency_key = ANY ($1)
FOR NO KEY UPDATE SKIP LOCKED

-- name: known_keys
SELECT idempotency_key FROM gnomon.schedule_runs WHERE idempotency_key = ANY (:keys)

-- name: insert_claims
-- Rows as what they are and of which kind, and the kinds. $1 keys, $2 ids, $3 kinds; $4 nominal,
-- $5 chosen, $6 launches, $7 revisions, $8 lengths of leases; $9 owner, $10 confirmed, $11 now,
-- $12 the instant for leases
INSERT INTO gnomon.schedule_runs (
  idempotency_key, schedule_id, run_at, fire_at, launches, revision, lease_until, owner, confirmed,
  created_at, updated_at, state, status, fence
)
SELECT v.key, v.id, k.run_at, k.fire_at, k.launches, k.revision,
  LEASE_NOW($12) + k.lease_ms * interval '1 millisecond', $9, $10, $11, $11, 'claimed', 'ENQUEUED', 1
FROM unnest($1::text[], $2::text[], $3::int[]) AS v (key, id, kind)
JOIN unnest($4::timestamptz[], $5::timestamptz[], $6::int[], $7::int[], $8::bigint[]) WITH ORDINALITY
  AS k (run_at, fire_at, launches, revision, lease_ms, kind) ON k.kind = v.kind

-- name: insert_runs
-- $1 keys, $2 ids, $3 nominal, $4 statuses, $5 last nominal, $6 periods, $7 chosen, $8 states,
-- $9 outcomes, $10 reasons, $11 launches, $12 revisions, $13 now
INSERT INTO gnomon.schedule_runs (
  idempotency_key, schedule_id, run_at, status, last_run_at, periods, fire_at, state, outcome, reason,
  launches, revision, created_at, updated_at, ended_at
)
SELECT v.key, v.id, v.run_at, v.status, v.last_run_at, v.periods, v.fire_at, v.state, v.outcome,
  v.reason, v.launches, v.revision, $13, $13, CASE WHEN v.state = 'done' THEN $13::timestamptz END
FROM unnest(
  $1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::timestamptz[], $6::int[],
  $7::timestamptz[], $8::text[], $9::text[], $10::text[], $11::int[], $12::int[]
) AS v (key, id, run_at, status, last_run_at, periods, fire_at, state, outcome, reason, launches, revision)

-- name: add_run
-- New rows that are no claims.
INSERT INTO gnomon.schedule_runs (
  idempotency_key, schedule_id, run_at, status, created_at, updated_at, last_run_at, periods,
  fire_at, state, outcome, reason, launches, revision, ended_at
)
SELECT v.key, v.id, v.run_at, v.status, v.now_at, v.now_at, v.last_run_at, v.periods,
  v.fire_at, v.state, v.outcome, v.reason, v.launches, v.revision, v.ended_at
FROM unnest(
  :key::text[], :id::text[], :run_at::timestamptz[], :status::text[], :now_at::timestamptz[],
  :last_run_at::timestamptz[], :periods::int[], :fire_at::timestamptz[], :state::text[],
  :outcome::text[], :reason::text[], :launches::int[], :revision::int[], :ended_at::timestamptz[]
) AS v (
  key, id, run_at, status, now_at, last_run_at, periods, fire_at, state, outcome, reason, launches,
  revision, ended_at
)

-- name: change_runs
-- $1 keys, $2 states, $3 outcomes, $4 reasons, $5 statuses, $6 chosen, $7 launches, $8 fences,
-- $9 lengths of leases, NULL for none, $10 owner, $11 confirmed, $12 now, $13 the instant for leases
UPDATE gnomon.schedule_runs r SET
  state = v.state, outcome = coalesce(r.outcome, v.outcome), reason = v.reason, status = v.status,
  chosen_at = CASE WHEN r.launches > 0 THEN coalesce(r.chosen_at, r.fire_at) END,
  fire_at = v.fire_at, launches = v.launches, fence = v.fence,
  owner = CASE WHEN v.lease_ms IS NULL THEN NULL ELSE $10 END,
  confirmed = v.lease_ms IS NOT NULL AND $11,
  lease_until = LEASE_NOW($13) + v.lease_ms * interval '1 millisecond',
  ended_at = CASE WHEN v.state = 'done' THEN $12::timestamptz END, updated_at = $12,
  -- What a former try left behind is not true of the next one.
  detail = CASE WHEN v.state <> 'claimed' THEN r.detail END,
  run_id = CASE WHEN v.state <> 'claimed' THEN r.run_id END,
  started_at = CASE WHEN v.state <> 'claimed' THEN r.started_at END
FROM unnest(
  $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::int[],
  $8::bigint[], $9::bigint[]
) AS v (key, state, outcome, reason, status, fire_at, launches, fence, lease_ms)
WHERE r.idempotency_key = v.key

-- name: claim_free
-- What most turns come to, as one statement: of schedules that are free and have their versions
-- still, each one is advanced and one of its periods claimed. Says whose turn was lost. Joined:
-- $1 ids, $2 versions, $3 keys, $4 kinds; $5 cursors, $6 next, $7 wakes, $8 nominal, $9 chosen,
-- $10 launches, $11 revisions, $12 lengths of leases; $13 owner, $14 confirmed, $15 now, $16 the
-- instant for leases
WITH kinds AS MATERIALIZED (
  SELECT * FROM unnest(
    $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[], $9::timestamptz[],
    $10::int[], $11::int[], $12::bigint[]
  ) WITH ORDINALITY
    AS k (cursor_at, next_run_at, wake_at, run_at, fire_at, launches, revision, lease_ms, kind)
), free AS MATERIALIZED (
  SELECT s.ctid AS place, s.schedule_id, v.key, v.kind
  FROM unnest(
    string_to_array($1, ','), string_to_array($2, ',')::bigint[], string_to_array($3, ','),
    string_to_array($4, ',')::int[]
  ) AS v (id, version, key, kind)
  JOIN gnomon.schedules s ON s.schedule_id = v.id AND s.lock_version = v.version
  FOR NO KEY UPDATE OF s SKIP LOCKED
), advanced AS (
  UPDATE gnomon.schedules s SET
    cursor_at = k.cursor_at, next_run_at = k.next_run_at, wake_at = k.wake_at,
    lock_version = s.lock_version + 1, updated_at = $15
  FROM free JOIN kinds k USING (kind)
  -- No process can change that place any more. If one has since this statement began, and gave the
  -- schedule no new version, its place is one that is not seen here, and the turn is lost.
  WHERE s.ctid = free.place
  RETURNING s.schedule_id, free.key, free.kind
), claimed AS (
  INSERT INTO gnomon.schedule_runs (
    idempotency_key, schedule_id, run_at, fire_at, launches, revision, lease_until, owner, confirmed,
    created_at, updated_at, state, status, fence
  )
  SELECT a.key, a.schedule_id, k.run_at, k.fire_at, k.launches, k.revision,
    LEASE_NOW($16) + k.lease_ms * interval '1 millisecond', $13, $14, $15, $15, 'claimed',
    'ENQUEUED', 1
  FROM advanced a JOIN kinds k USING (kind)
)
SELECT v.id FROM unnest(string_to_array($1, ',')) AS v (id)
WHERE (SELECT count(*) FROM advanced) < cardinality(string_to_array($1, ',')) -- hardly ever
  AND v.id NOT IN (SELECT schedule_id FROM advanced)

-- name: advance_free
-- Take the schedules that are free and have their versions still, and advance them. $1 ids,
-- $2 versions, $3 kinds; $4 cursors, $5 next, $6 wakes; $7 now
WITH free AS MATERIALIZED (
  SELECT s.ctid AS place, v.kind
  FROM unnest($1::text[], $2::bigint[], $3::int[]) AS v (id, version, kind)
  JOIN gnomon.schedules s ON s.schedule_id = v.id AND s.lock_version = v.version
  FOR UPDATE OF s SKIP LOCKED
)
UPDATE gnomon.schedules s SET
  cursor_at = k.cursor_at, next_run_at = k.next_run_at, wake_at = k.wake_at,
  lock_version = s.lock_version + 1, updated_at = $7
FROM free
JOIN unnest($4::timestamptz[], $5::timestamptz[], $6::timestamptz[]) WITH ORDINALITY
  AS k (cursor_at, next_run_at, wake_at, kind) ON k.kind = free.kind
WHERE s.ctid = free.place -- which no process can change any more
RETURNING s.schedule_id

-- name: advance
-- $1 ids, $2 cursors, $3 next, $4 wakes, $5 now
UPDATE gnomon.schedules s SET
  cursor_at = v.cursor_at, next_run_at = v.next_run_at, wake_at = v.wake_at,
  lock_version = s.lock_version + 1, updated_at = $5
FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[])
  AS v (id, cursor_at, next_run_at, wake_at)
WHERE s.schedule_id = v.id

-- name: end_pause
UPDATE gnomon.schedules SET paused = false, paused_until = NULL, pause_reason = ''
WHERE schedule_id = ANY ($1)

-- name: reported_runs
-- A run that is over is not changed any more, and is not taken.
SELECT idempotency_key, schedule_id, state, fence, launches, outcome, kill_at IS NOT NULL
FROM gnomon.schedule_runs
WHERE idempotency_key = ANY ($1)
  AND state || '' <> 'done' -- so written that the key finds the row, and no other index
ORDER BY schedule_id, idempotency_key
FOR NO KEY UPDATE

-- name: start_runs
-- A run that goes on without its worker has a lease of its own, and no owner. $1 run ids, $2 the
-- lengths of such leases, $3 starts, NULL for now, $4 keys, $5 now, $6 the instant for leases
UPDATE gnomon.schedule_runs r SET
  state = 'running', outcome = 'executed', status = 'STARTED', run_id = v.run_id,
  started_at = coalesce(v.started_at, $5), updated_at = $5,
  owner = CASE WHEN v.detached_ms IS NULL THEN r.owner END,
  lease_until = coalesce(
    LEASE_NOW($6) + v.detached_ms * interval '1 millisecond', r.lease_until
  )
FROM unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::text[])
  AS v (run_id, detached_ms, started_at, key)
WHERE r.idempotency_key = v.key

-- name: fill_in_runs
-- Launches that are told after the ends; where claims are confirmed nothing begins before it is
-- told. $1 keys, $2 fences, $3 run ids, $4 starts
UPDATE gnomon.schedule_runs r SET
  run_id = coalesce(r.run_id, v.run_id),
  started_at = coalesce(r.started_at, least(v.started_at, r.ended_at))
FROM unnest($1::text[], $2::bigint[], $3::text[], $4::timestamptz[])
  AS v (key, fence, run_id, started_at)
WHERE r.idempotency_key = v.key AND r.fence = v.fence AND r.state = 'done' AND NOT r.confirmed
  AND r.outcome = 'executed' AND r.reason IS DISTINCT FROM 'uncertain'
RETURNING r.idempotency_key, r.fence

-- name: end_runs
-- An outcome, and what the launch said, stay if they are there. $1 keys, $2 kinds; $3 outcomes,
-- $4 reasons, $5 statuses, $6 details, $7 run ids, $8 starts, $9 ends, NULL for now; $10 now
UPDATE gnomon.schedule_runs r SET
  state = 'done', outcome = coalesce(r.outcome, k.outcome), reason = k.reason, status = k.status,
  detail = k.detail, lease_until = NULL, ended_at = coalesce(k.ended_at, $10), updated_at = $10,
  run_id = coalesce(r.run_id, k.run_id), started_at = coalesce(r.started_at, k.started_at)
FROM unnest($1::text[], $2::int[]) AS v (key, kind)
JOIN unnest(
  $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::timestamptz[]
)
  WITH ORDINALITY AS k (outcome, reason, status, detail, run_id, started_at, ended_at, kind)
  ON k.kind = v.kind
WHERE r.idempotency_key = v.key

-- name: end_held
-- What most reports come to, as one statement: ends of runs that are held still, and the queues of
-- their schedules; an error when one of them is not held. No other worker can end them, so the rows
-- are taken in any order. Joined: $1 keys, $2 fences, $3 kinds; $4 outcomes, $5 reasons,
-- $6 statuses, $7 details, $8 run ids, $9 starts, $10 ends, NULL for now; $11 now, $12 states that
-- can end, $13 how many, $14 the channel
WITH ended AS (
  UPDATE gnomon.schedule_runs r SET
    state = 'done', outcome = coalesce(r.outcome, k.outcome), reason = k.reason, status = k.status,
    detail = k.detail, lease_until = NULL, ended_at = coalesce(k.ended_at, $11), updated_at = $11,
    run_id = coalesce(r.run_id, k.run_id), started_at = coalesce(r.started_at, k.started_at)
  FROM unnest(
    string_to_array($1, ','), string_to_array($2, ',')::bigint[], string_to_array($3, ',')::int[]
  ) AS v (key, fence, kind)
  JOIN unnest(
    $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[],
    $10::timestamptz[]
  )
    WITH ORDINALITY AS k (outcome, reason, status, detail, run_id, started_at, ended_at, kind)
    ON k.kind = v.kind
  WHERE r.idempotency_key = v.key AND r.fence = v.fence
    AND r.state || '' = ANY ($12) -- so written that the key finds the row, and no other index
  RETURNING r.schedule_id
)
SELECT gnomon.wake_queues_if($13, count(*), string_agg(schedule_id, ','), $11, $14) FROM ended

-- name: retry_runs
-- $1 details, $2 chosen, $3 whether it may have run, $4 keys, $5 now
UPDATE gnomon.schedule_runs r SET
  state = 'planned', status = NULL, detail = v.detail,
  chosen_at = coalesce(r.chosen_at, r.fire_at), fire_at = v.fire_at, owner = NULL,
  lease_until = NULL, outcome = CASE WHEN v.ran THEN 'executed' ELSE r.outcome END, updated_at = $5
FROM unnest($1::text[], $2::timestamptz[], $3::bool[], $4::text[]) AS v (detail, fire_at, ran, key)
WHERE r.idempotency_key = v.key

-- name: wake_queues
-- Joined: $1 ids; $2 now, $3 the channel
SELECT gnomon.wake_queues($1, $2, $3)

-- name: new_versions
-- Plans made before no longer hold.
UPDATE gnomon.schedules SET lock_version = lock_version + 1, updated_at = :now_at
WHERE schedule_id = ANY (:ids)

-- name: wake
-- $1 ids, $2 instants, $3 now
UPDATE gnomon.schedules s SET
  lock_version = s.lock_version + 1, wake_at = least(s.wake_at, v.wake_at), updated_at = $3
FROM unnest($1::text[], $2::timestamptz[]) AS v (id, wake_at)
WHERE s.schedule_id = v.id AND s.deleted_at IS NULL

-- name: wake_now
UPDATE gnomon.schedules
SET lock_version = lock_version + 1, wake_at = least(wake_at, :now_at), updated_at = :now_at
WHERE schedule_id = :id AND deleted_at IS NULL

-- name: look_later
-- $1 ids, $2 instant
UPDATE gnomon.schedules SET wake_at = $2 WHERE schedule_id = ANY ($1)

-- name: lose_later
-- Except those that another process has, as above. $1 ids, $2 milliseconds, $3 instant for leases
WITH lost AS MATERIALIZED (
  SELECT r.idempotency_key FROM gnomon.schedule_runs r
  WHERE r.schedule_id = ANY ($1) AND r.lease_until < LEASE_NOW($3)
  FOR NO KEY UPDATE OF r SKIP LOCKED
)
UPDATE gnomon.schedule_runs r SET lease_until = LEASE_NOW($3) + $2 * interval '1 millisecond'
FROM lost
WHERE r.idempotency_key = lost.idempotency_key

-- name: covered
SELECT run_at, coalesce(last_run_at, run_at) AS last_at, created_at FROM gnomon.schedule_runs
WHERE schedule_id = :id AND coalesce(last_run_at, run_at) > :after_at AND state = 'done'
  AND NOT starts_with(idempotency_key, 'manual:') AND NOT starts_with(idempotency_key, 'backfill:')
UNION ALL
SELECT run_at, coalesce(last_run_at, run_at) AS last_at, created_at FROM gnomon.schedule_runs
WHERE schedule_id = :id AND coalesce(last_run_at, run_at) > :after_at AND state <> 'done'
  AND NOT starts_with(idempotency_key, 'manual:') AND NOT starts_with(idempotency_key, 'backfill:')

-- name: renew
-- Guarded by itself, because no schedule's row is taken. $1 keys, $2 fences, $3 lengths, NULL for that
-- of the schedule, $4 owner, $5 now, $6 the instant for leases
WITH held AS (
  SELECT r.idempotency_key, coalesce(v.lease_ms, s.lease_ms) AS lease_ms
  FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS v (key, fence, lease_ms)
  JOIN gnomon.schedule_runs r ON r.idempotency_key = v.key AND r.fence = v.fence
  JOIN gnomon.schedules s ON s.schedule_id = r.schedule_id
  WHERE r.owner = $4 AND r.lease_until IS NOT NULL
  ORDER BY r.schedule_id, r.idempotency_key
  FOR NO KEY UPDATE OF r
)
UPDATE gnomon.schedule_runs r
SET lease_until = LEASE_NOW($6) + held.lease_ms * interval '1 millisecond', updated_at = $5
FROM held
WHERE r.idempotency_key = held.idempotency_key
RETURNING r.idempotency_key, r.fence

-- name: over
-- The row of a run keeps its worker when it ends, and not when another worker judges it lost.
-- $1 keys, $2 fences, $3 owner
SELECT r.idempotency_key, r.fence
FROM unnest($1::text[], $2::bigint[]) AS v (key, fence)
JOIN gnomon.schedule_runs r ON r.idempotency_key = v.key AND r.fence = v.fence
WHERE r.owner = $3 AND r.state = 'done'

-- name: orphans
SELECT * FROM gnomon.schedule_runs
WHERE lease_until IS NOT NULL AND owner <> :owner
ORDER BY schedule_id, run_at

-- name: schedules_of_others
SELECT DISTINCT schedule_id FROM gnomon.schedule_runs WHERE lease_until IS NOT NULL AND owner <> $1

-- name: adopt
-- $1 keys, $2 owner, $3 now, $4 the instant for leases
UPDATE gnomon.schedule_runs r SET
  owner = $2, fence = r.fence + 1, updated_at = $3,
  lease_until = LEASE_NOW($4) + s.lease_ms * interval '1 millisecond'
FROM gnomon.schedules s
WHERE s.schedule_id = r.schedule_id AND r.lease_until IS NOT NULL AND r.owner <> $2
  AND r.idempotency_key = ANY ($1)
RETURNING r.idempotency_key, r.fence

-- name: lose
-- $1 owner, $2 now
UPDATE gnomon.schedule_runs SET lease_until = 'epoch', updated_at = $2
WHERE lease_until IS NOT NULL AND owner <> $1

-- name: heads
SELECT schedule_id, revision, cursor_at, paused, paused_until, deleted_at,
  EXISTS (SELECT 1 FROM gnomon.schedule_runs r
    WHERE r.schedule_id = s.schedule_id AND r.state <> 'done' AND r.state IN ('planned', 'queued'))
    AS waits
FROM gnomon.schedules s
WHERE schedule_id = ANY (:ids)

-- name: insert_schedule
INSERT INTO gnomon.schedules (
  schedule_id, workflow_id, version, user_id, cron_expr, timezone, start_at, end_at, jitter_ms,
  overlap_policy, catchup_policy, lease_ms, revision, cursor_at, next_run_at, wake_at, created_at,
  updated_at, lock_version
)
SELECT v.*, v.now_at, 1 + coalesce(
    (SELECT value::bigint FROM gnomon.ledger_meta WHERE name = 'forgotten_version'), 0
  )
FROM unnest(
  :id::text[], :workflow_id::text[], :version::int[], :user_id::text[], :cron_expr::text[],
  :timezone::text[], :start_at::timestamptz[], :end_at::timestamptz[], :jitter_ms::bigint[],
  :overlap::text[], :catchup::text[], :lease_ms::bigint[], :revision::int[],
  :cursor_at::timestamptz[], :next_at::timestamptz[], :wake_at::timestamptz[],
  :now_at::timestamptz[]
) AS v (
  id, workflow_id, version, user_id, cron_expr, timezone, start_at, end_at, jitter_ms, overlap,
  catchup, lease_ms, revision, cursor_at, next_at, wake_at, now_at
)

-- name: take_begun
-- The runs that can end, of schedules that get a queue: their ends wake only a queue that they see,
-- so an end has to be done before the queue is there, or to begin after that.
SELECT r.idempotency_key FROM gnomon.schedule_runs r JOIN gnomon.schedules s USING (schedule_id)
WHERE r.schedule_id = ANY (:ids) AND s.overlap_policy <> 'queue'
  AND r.state <> 'done' AND r.launches > 0
ORDER BY r.idempotency_key
FOR NO KEY UPDATE OF r

-- name: change_schedule
UPDATE gnomon.schedules s SET
  workflow_id = v.workflow_id, version = v.version, user_id = v.user_id, cron_expr = v.cron_expr,
  timezone = v.timezone, start_at = v.start_at, end_at = v.end_at, jitter_ms = v.jitter_ms,
  overlap_policy = v.overlap, catchup_policy = v.catchup, lease_ms = v.lease_ms,
  revision = v.revision, cursor_at = v.cursor_at, next_run_at = v.next_at, wake_at = v.wake_at,
  lock_version = s.lock_version + 1, updated_at = v.now_at, deleted_at = NULL
FROM unnest(
  :id::text[], :workflow_id::text[], :version::int[], :user_id::text[], :cron_expr::text[],
  :timezone::text[], :start_at::timestamptz[], :end_at::timestamptz[], :jitter_ms::bigint[],
  :overlap::text[], :catchup::text[], :lease_ms::bigint[], :revision::int[],
  :cursor_at::timestamptz[], :next_at::timestamptz[], :wake_at::timestamptz[],
  :now_at::timestamptz[]
) AS v (
  id, workflow_id, version, user_id, cron_expr, timezone, start_at, end_at, jitter_ms, overlap,
  catchup, lease_ms, revision, cursor_at, next_at, wake_at, now_at
)
WHERE s.schedule_id = v.id

-- name: insert_revision
INSERT INTO gnomon.schedule_revisions (schedule_id, revision, effective_at, definition)
SELECT * FROM unnest(:id::text[], :revision::int[], :now_at::timestamptz[], :definition::text[])

-- name: pause
UPDATE gnomon.schedules s SET
  paused = true, paused_until = :paused_until, pause_reason = :reason,
  wake_at = CASE
    WHEN EXISTS (
      SELECT 1 FROM gnomon.schedule_runs r
      WHERE r.schedule_id = s.schedule_id AND r.state <> 'done'
        AND r.state IN ('planned', 'queued')
        AND (starts_with(r.idempotency_key, 'manual:') OR r.kill_at IS NOT NULL)
    ) THEN :now_at -- what was asked for by hand starts all the same, and what is to be ended ends
    ELSE :paused_until::timestamptz
  END,
  lock_version = lock_version + 1, updated_at = :now_at
WHERE schedule_id = :id AND deleted_at IS NULL

-- name: resume
UPDATE gnomon.schedules SET
  paused_until = least(coalesce(paused_until, :now_at), :now_at), wake_at = :now_at,
  lock_version = lock_version + 1, updated_at = :now_at
WHERE schedule_id = :id AND paused

-- name: delete_waiting
UPDATE gnomon.schedule_runs SET
  state = 'done', outcome = coalesce(outcome, 'skipped'),
  reason = CASE WHEN outcome IS NULL THEN 'deleted' ELSE 'uncertain' END,
  status = CASE WHEN outcome IS NULL THEN 'SKIPPED' ELSE 'FAILED' END,
  ended_at = :now_at, updated_at = :now_at
WHERE schedule_id = :id AND state <> 'done' AND state IN ('planned', 'queued')

-- name: delete_schedule
UPDATE gnomon.schedules SET
  deleted_at = :now_at, updated_at = :now_at, cursor_at = :cursor_at, next_run_at = NULL, wake_at = NULL,
  paused = false, paused_until = NULL, pause_reason = '', skips = '',
  lock_version = lock_version + 1
WHERE schedule_id = :id

-- name: give_params
UPDATE gnomon.schedule_runs SET params = :params WHERE idempotency_key = :key

-- name: asked_head
SELECT revision, cursor_at, skips FROM gnomon.schedules
WHERE schedule_id = :id AND deleted_at IS NULL
FOR NO KEY UPDATE

-- name: next_waiting
-- The next period that is opened and lies ahead.
SELECT idempotency_key, run_at FROM gnomon.schedule_runs
WHERE schedule_id = :id AND state <> 'done' AND state = 'planned' AND launches = 0
  AND fire_at > :now_at AND strpos(idempotency_key, ':') = 0
ORDER BY run_at
LIMIT 1
FOR NO KEY UPDATE

-- name: leave_out
UPDATE gnomon.schedule_runs SET
  state = 'done', outcome = 'skipped', reason = 'requested', status = 'SKIPPED', ended_at = :now_at,
  updated_at = :now_at
WHERE idempotency_key = :key

-- name: set_skips
UPDATE gnomon.schedules SET skips = :skips, lock_version = lock_version + 1, updated_at = :now_at
WHERE schedule_id = :id

-- name: take_in_flight
SELECT schedule_id FROM gnomon.schedule_runs
WHERE idempotency_key = :key AND lease_until IS NOT NULL
FOR NO KEY UPDATE

-- name: schedule_of_run
SELECT schedule_id FROM gnomon.schedule_runs WHERE idempotency_key = :key

-- name: ask_to_end
-- Who waits in a queue leaves it, and a further try is none any more: it is looked at now.
UPDATE gnomon.schedule_runs SET
  kill_at = :now_at, kill_by = :by, updated_at = :now_at,
  state = CASE WHEN state = 'queued' THEN 'planned' ELSE state END,
  chosen_at = CASE WHEN launches > 0 THEN coalesce(chosen_at, fire_at) END,
  fire_at = CASE WHEN lease_until IS NULL AND outcome IS NOT NULL THEN :now_at ELSE fire_at END
WHERE idempotency_key = :key AND state <> 'done' AND kill_at IS NULL

-- name: end_waiting
UPDATE gnomon.schedule_runs SET
  state = 'done', outcome = 'skipped', reason = 'killed', status = 'SKIPPED', ended_at = :now_at,
  updated_at = :now_at
WHERE idempotency_key = :key AND state = 'planned' AND outcome IS NULL

-- name: to_end
SELECT idempotency_key, fence, owner IS NULL AS detached FROM gnomon.schedule_runs
WHERE kill_at IS NOT NULL AND state <> 'done' AND (owner = :owner OR owner IS NULL)

-- name: run
SELECT * FROM gnomon.schedule_runs WHERE idempotency_key = :key

-- name: schedules
SELECT s.schedule_id, s.revision, s.lock_version, s.cursor_at, s.wake_at, s.paused, s.paused_until,
  s.pause_reason, s.created_at, s.updated_at, s.skips,
  (SELECT count(*) FROM gnomon.schedule_runs r
   WHERE r.schedule_id = s.schedule_id AND r.state <> 'done' AND r.state IN ('claimed', 'running'))
   AS in_flight
FROM gnomon.schedules s
WHERE s.schedule_id > :after AND s.deleted_at IS NULL
ORDER BY s.schedule_id
LIMIT :limit

-- name: schedules_where
SELECT s.schedule_id, s.revision, s.lock_version, s.cursor_at, s.wake_at, s.paused, s.paused_until,
  s.pause_reason, s.created_at, s.updated_at, s.skips,
  (SELECT count(*) FROM gnomon.schedule_runs r
   WHERE r.schedule_id = s.schedule_id AND r.state <> 'done' AND r.state IN ('claimed', 'running'))
   AS in_flight
FROM gnomon.schedules s
WHERE s.schedule_id > :after AND s.deleted_at IS NULL
  AND (:workflow_id::text IS NULL OR s.workflow_id = :workflow_id)
  AND (:paused::bool IS NULL OR s.paused = :paused)
  AND (:text::text IS NULL OR strpos(s.schedule_id, :text) > 0)
  AND (:user_id::text IS NULL OR s.user_id = :user_id)
ORDER BY s.schedule_id
LIMIT :limit

-- name: schedules_of_user
SELECT s.schedule_id, s.revision, s.lock_version, s.cursor_at, s.wake_at, s.paused, s.paused_until,
  s.pause_reason, s.created_at, s.updated_at, s.skips,
  (SELECT count(*) FROM gnomon.schedule_runs r
   WHERE r.schedule_id = s.schedule_id AND r.state <> 'done' AND r.state IN ('claimed', 'running'))
   AS in_flight
FROM gnomon.schedules s
WHERE s.user_id = :user_id AND s.schedule_id > :after AND s.deleted_at IS NULL
  AND (:workflow_id::text IS NULL OR s.workflow_id = :workflow_id)
  AND (:paused::bool IS NULL OR s.paused = :paused)
  AND (:text::text IS NULL OR strpos(s.schedule_id, :text) > 0)
ORDER BY s.schedule_id
LIMIT :limit

-- name: schedule
SELECT s.schedule_id, s.revision, s.lock_version, s.cursor_at, s.wake_at, s.paused, s.paused_until,
  s.pause_reason, s.created_at, s.updated_at, s.skips,
  (SELECT count(*) FROM gnomon.schedule_runs r
   WHERE r.schedule_id = s.schedule_id AND r.state <> 'done' AND r.state IN ('claimed', 'running'))
   AS in_flight
FROM gnomon.schedules s
WHERE s.schedule_id = :id AND s.deleted_at IS NULL

-- name: runs
SELECT * FROM (
  (
    SELECT * FROM gnomon.schedule_runs
    WHERE schedule_id = :id AND (run_at, idempotency_key) < (:before_at, :key) AND state = 'done'
    ORDER BY run_at DESC, idempotency_key DESC
    LIMIT :limit
  )
  UNION ALL
  SELECT * FROM gnomon.schedule_runs
  WHERE schedule_id = :id AND (run_at, idempotency_key) < (:before_at, :key) AND state <> 'done'
) r
ORDER BY run_at DESC, idempotency_key DESC
LIMIT :limit

-- name: find_open
SELECT r.* FROM gnomon.schedule_runs r JOIN gnomon.schedules s ON s.schedule_id = r.schedule_id
WHERE r.state <> 'done' AND (r.run_at, r.idempotency_key) < (:before_at, :key)
  AND (:user_id::text IS NULL OR s.user_id = :user_id)
  AND (:workflow_id::text IS NULL OR s.workflow_id = :workflow_id)
  AND (:state::text IS NULL OR r.state = :state)
  AND (:status::text IS NULL OR r.status = :status)
  AND (:outcome::text IS NULL OR r.outcome = :outcome)
  AND (:reason::text IS NULL OR r.reason = :reason)
ORDER BY r.run_at DESC, r.idempotency_key DESC
LIMIT :limit

-- name: find_ended
SELECT r.* FROM gnomon.schedule_runs r JOIN gnomon.schedules s ON s.schedule_id = r.schedule_id
WHERE r.ended_at IS NOT NULL AND r.ended_at >= :since_at
  AND (r.ended_at, r.idempotency_key) < (:before_at, :key)
  AND (:user_id::text IS NULL OR s.user_id = :user_id)
  AND (:workflow_id::text IS NULL OR s.workflow_id = :workflow_id)
  AND (:state::text IS NULL OR r.state = :state)
  AND (:status::text IS NULL OR r.status = :status)
  AND (:outcome::text IS NULL OR r.outcome = :outcome)
  AND (:reason::text IS NULL OR r.reason = :reason)
ORDER BY r.ended_at DESC, r.idempotency_key DESC
LIMIT :limit

-- name: covering
-- The rows of one instant: the period's, or the range's that holds it, and those asked for.
SELECT * FROM gnomon.schedule_runs
WHERE schedule_id = :id AND run_at <= :covered_at AND coalesce(last_run_at, run_at) >= :covered_at
ORDER BY run_at DESC, idempotency_key

-- name: revisions
SELECT revision, effective_at, definition FROM gnomon.schedule_revisions
WHERE schedule_id = :id AND revision < :before
ORDER BY revision DESC
LIMIT :limit

-- name: alone_for
-- Who counts the schedules of a user has no other beside it until its transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended('gnomon.schedules of ' || :user_id, 0))

-- name: schedules_of
SELECT count(*) AS schedules FROM gnomon.schedules WHERE user_id = :user_id AND deleted_at IS NULL

-- name: owners
-- Takes the rows.
SELECT schedule_id, user_id, revision, deleted_at IS NOT NULL AS deleted FROM gnomon.schedules
WHERE schedule_id = ANY (:ids)
ORDER BY schedule_id
FOR NO KEY UPDATE

-- name: write_log
INSERT INTO gnomon.schedule_log (logged_at, subject, user_id, action, schedule_id, detail)
SELECT * FROM unnest(
  :now_at::timestamptz[], :subject::text[], :user_id::text[], :action::text[], :id::text[],
  :detail::text[]
)

-- name: read_log
SELECT number, logged_at, subject, user_id, action, schedule_id, detail FROM gnomon.schedule_log
WHERE number < :before AND (:id::text IS NULL OR schedule_id = :id)
  AND (:user_id::text IS NULL OR user_id = :user_id)
ORDER BY number DESC
LIMIT :limit

-- name: expect
INSERT INTO gnomon.expectations AS e (schedule_id, check_at, after_at)
SELECT * FROM unnest(:id::text[], :check_at::timestamptz[], :after_at::timestamptz[])
ON CONFLICT (schedule_id) DO UPDATE SET
  check_at = least(e.check_at, excluded.check_at), after_at = greatest(e.after_at, excluded.after_at)

-- name: expect_nothing
DELETE FROM gnomon.expectations WHERE schedule_id = ANY (:ids)

-- name: expected
SELECT schedule_id, after_at FROM gnomon.expectations
WHERE check_at <= :now_at
ORDER BY check_at
LIMIT :limit

-- name: next_expected
SELECT min(check_at) FROM gnomon.expectations

-- name: judge_expected
UPDATE gnomon.expectations SET check_at = :check_at, after_at = :after_at
WHERE schedule_id = :id AND after_at = :former_at

-- name: judge_nothing
-- Unless a definition was saved since that was found.
DELETE FROM gnomon.expectations WHERE schedule_id = :id AND after_at = :former_at

-- name: add_breach
INSERT INTO gnomon.breaches (schedule_id, run_at, expectation, noted_at)
VALUES (:id, :run_at, :expectation, :now_at)
ON CONFLICT DO NOTHING

-- name: finished
SELECT idempotency_key, schedule_id, coalesce(last_run_at, run_at) AS last_at
FROM gnomon.schedule_runs
WHERE ended_at < :before_at AND coalesce(last_run_at, run_at) < :before_at
ORDER BY ended_at
LIMIT :limit

-- name: remove_runs
DELETE FROM gnomon.schedule_runs WHERE idempotency_key = ANY (:keys) AND state = 'done'

-- name: raise_floor
UPDATE gnomon.schedules s SET floor_at = greatest(s.floor_at, v.floor_at)
FROM unnest(:id::text[], :floor_at::timestamptz[]) AS v (id, floor_at)
WHERE s.schedule_id = v.id

-- name: forgotten
SELECT schedule_id FROM gnomon.schedules s
WHERE deleted_at < :before_at
  AND NOT EXISTS (SELECT 1 FROM gnomon.schedule_runs r
    WHERE r.schedule_id = s.schedule_id AND r.state = 'done')
  AND NOT EXISTS (SELECT 1 FROM gnomon.schedule_runs r
    WHERE r.schedule_id = s.schedule_id AND r.state <> 'done')
ORDER BY deleted_at
LIMIT :limit
FOR UPDATE SKIP LOCKED

-- name: remember_forgotten
-- The numbers that these had are not given again: a process that has read a definition of one of
-- them, or made a plan, must not take it for one of what is saved under that name later.
INSERT INTO gnomon.ledger_meta AS m (name, value)
SELECT v.name, v.number::text FROM (
  SELECT 'forgotten_revision' AS name, max(revision)::bigint AS number FROM gnomon.schedules
  WHERE schedule_id = ANY (:ids)
  UNION ALL
  SELECT 'forgotten_version', max(lock_version) FROM gnomon.schedules
  WHERE schedule_id = ANY (:ids)
) v
ON CONFLICT (name) DO UPDATE SET value = greatest(m.value::bigint, excluded.value::bigint)::text

-- name: remove_revisions
DELETE FROM gnomon.schedule_revisions WHERE schedule_id = ANY (:ids)

-- name: remove_schedules
DELETE FROM gnomon.schedules WHERE schedule_id = ANY (:ids)

-- name: get_meta
SELECT value FROM gnomon.ledger_meta WHERE name = :name

-- name: set_meta
INSERT INTO gnomon.ledger_meta (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: set_meta_once
INSERT INTO gnomon.ledger_meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING

-- name: bring_note
-- A note of a ledger that moves here. Numbers that were given here before are not given again either.
INSERT INTO gnomon.ledger_meta AS m (name, value) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET value = CASE
  WHEN m.name IN ('forgotten_revision', 'forgotten_version')
    THEN greatest(m.value::bigint, excluded.value::bigint)::text
  ELSE excluded.value
END

-- name: wake_zoned
UPDATE gnomon.schedules SET wake_at = 'epoch' WHERE wake_at IS NOT NULL AND timezone <> 'UTC'

-- name: forget_zones
-- $1 the zone data whose workers stay, $2 after how long in milliseconds the others are gone; what
-- another worker is about to forget is left to it
DELETE FROM gnomon.ledger_meta WHERE name IN (
  SELECT name FROM gnomon.ledger_meta
  WHERE name LIKE 'tzdata %' AND name <> 'tzdata ' || $1
    AND value::bigint < (extract(epoch FROM now()) * 1000)::bigint - $2::bigint
  FOR UPDATE SKIP LOCKED
)
RETURNING name

-- name: time
SELECT (extract(epoch FROM now()) * 1000)::bigint

-- name: heartbeat
-- Answers with the time. $1 owner, $2 host, $3 pid, $4 state, $5 how far ahead in milliseconds,
-- $6 in hand, $7 counters, $8 its zone data, of which is noted when a worker last had them
WITH zones AS (
  INSERT INTO gnomon.ledger_meta (name, value)
  VALUES ('tzdata ' || $8, (extract(epoch FROM now()) * 1000)::bigint::text)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value
)
INSERT INTO gnomon.workers (owner, host, pid, state, started_at, seen_at, ahead_ms, holding, counters)
VALUES ($1, $2, $3, $4, now(), now(), $5, $6, $7)
ON CONFLICT (owner) DO UPDATE SET
  state = excluded.state, seen_at = excluded.seen_at, ahead_ms = excluded.ahead_ms,
  holding = excluded.holding, counters = excluded.counters
RETURNING (extract(epoch FROM now()) * 1000)::bigint

-- name: forget_workers
-- Those that have not been heard of for long, unless runs are still under their names. $1 how long,
-- in milliseconds
DELETE FROM gnomon.workers w
WHERE seen_at < now() - $1 * interval '1 millisecond'
  AND NOT EXISTS (SELECT 1 FROM gnomon.schedule_runs r
    WHERE r.lease_until IS NOT NULL AND r.state <> 'done' AND r.owner = w.owner)

-- name: workers
SELECT owner, host, pid, state, started_at, seen_at, ahead_ms, holding, counters,
  (extract(epoch FROM now() - seen_at) * 1000)::bigint
FROM gnomon.workers
ORDER BY started_at, owner

-- name: missing_rights
-- What a worker does to each table and this user may not.
SELECT split_part(needs.place, '.', 2), needed
FROM (VALUES
  (1, 'gnomon.ledger_meta', '{SELECT, INSERT, UPDATE, DELETE}'::text[]),
  (2, 'gnomon.schedules', '{SELECT, UPDATE, DELETE}'),
  (3, 'gnomon.schedule_revisions', '{SELECT, DELETE}'),
  (4, 'gnomon.schedule_runs', '{SELECT, INSERT, UPDATE, DELETE}'),
  (5, 'gnomon.workers', '{SELECT, INSERT, UPDATE, DELETE}'),
  (6, 'gnomon.expectations', '{SELECT, UPDATE, DELETE}'),
  (7, 'gnomon.breaches', '{SELECT, INSERT}'),
  (8, 'gnomon.dags', '{SELECT}'),
  (9, 'gnomon.removed_dags', '{SELECT}'),
  (10, 'gnomon.dag_runs', '{SELECT, INSERT, UPDATE, DELETE}'),
  (11, 'gnomon.dag_run_nodes', '{SELECT, INSERT, UPDATE}')
) AS needs (number, place, rights),
  unnest(needs.rights) WITH ORDINALITY AS one (needed, place_in_row)
WHERE NOT has_table_privilege(needs.place, needed)
ORDER BY number, place_in_row
