-- The statements of the workflow log on PostgreSQL; the columns are those of SQLite, in their order.

-- name: get_meta
SELECT value FROM gnomon.flow_meta WHERE name = $1;

-- name: set_meta
INSERT INTO gnomon.flow_meta (name, value) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: notify
SELECT pg_notify($1, $2);

-- name: take
UPDATE gnomon.workflows SET fence = fence + 1, writes = 0, holder = $1,
  lease_until = now() + $2::bigint * interval '1 millisecond'
WHERE name IN (
  SELECT name FROM gnomon.workflows
  WHERE holder = '' OR lease_until IS NULL OR lease_until < now()
    OR (holder = $1 AND NOT name = ANY ($3::text[])) FOR UPDATE SKIP LOCKED)
RETURNING name, fence;

-- name: keep
UPDATE gnomon.workflows SET lease_until = now() + $3::bigint * interval '1 millisecond'
FROM unnest($1::text[], $2::bigint[]) AS held (name, fence)
WHERE workflows.name = held.name AND workflows.fence = held.fence AND workflows.holder <> ''
RETURNING workflows.name;

-- name: held_by
SELECT name, CASE WHEN lease_until > now() THEN holder ELSE '' END FROM gnomon.workflows;

-- name: release
UPDATE gnomon.workflows SET holder = '', lease_until = NULL WHERE name = $1 AND fence = $2;

-- name: standing
SELECT name, title, zone, mode, script, version, fence, writes, runs, arrivals, current, failures,
  retry_at, repairs, trouble, created_at
FROM gnomon.workflows WHERE name = $1;

-- name: standing_shared
SELECT name, title, zone, mode, script, version, fence, writes, runs, arrivals, current, failures,
  retry_at, repairs, trouble, created_at
FROM gnomon.workflows WHERE name = $1 FOR SHARE;

-- name: standing_locked
SELECT name, title, zone, mode, script, version, fence, writes, runs, arrivals, current, failures,
  retry_at, repairs, trouble, created_at
FROM gnomon.workflows WHERE name = $1 FOR UPDATE;

-- name: add_workflow
INSERT INTO gnomon.workflows (name, title, zone, mode, script, runs, current, failures, retry_at, repairs,
  trouble, created_at, version, fence, writes, holder, arrivals)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 1,
  coalesce((SELECT fence + 1 FROM gnomon.removed_workflows AS gone WHERE gone.name = $1), 0), 0, '', 0);

-- name: set_workflow
UPDATE gnomon.workflows SET title = $1, zone = $2, mode = $3, script = $4, runs = $5, current = $6,
  failures = $7, retry_at = $8, repairs = $9, trouble = $10, version = version + 1,
  writes = $11
WHERE name = $12;

-- name: handlers
SELECT name, kind, place, schedule, subscribes, publishes, next_run_at, wake_at, state, ran_at
FROM gnomon.workflow_handlers WHERE workflow = $1 ORDER BY place, name;

-- name: put_handler
INSERT INTO gnomon.workflow_handlers
  (workflow, name, kind, place, schedule, subscribes, publishes, next_run_at, wake_at, state,
  ran_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (workflow, name) DO UPDATE SET kind = excluded.kind, place = excluded.place,
  schedule = excluded.schedule, subscribes = excluded.subscribes, publishes = excluded.publishes,
  next_run_at = excluded.next_run_at, wake_at = excluded.wake_at, state = excluded.state,
  ran_at = excluded.ran_at;

-- name: remove_handler
DELETE FROM gnomon.workflow_handlers WHERE workflow = $1 AND name = $2;

-- name: script
SELECT version, digest, text, reason, deployed_at, modules FROM gnomon.workflow_scripts WHERE workflow = $1 AND version = $2;

-- name: scripts
SELECT version, digest, text, reason, deployed_at, modules FROM gnomon.workflow_scripts
WHERE workflow = $1 AND version < $2 ORDER BY version DESC LIMIT $3;

-- name: add_script
INSERT INTO gnomon.workflow_scripts (workflow, version, digest, text, reason, deployed_at, modules)
VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: run
SELECT number, handler, handler_type, script, retry_of, phase, status, prepare_result,
  mutation_result, mutation, asked, approved, fault, error_details, traceback, note, created_at,
  updated_at
FROM gnomon.workflow_runs WHERE workflow = $1 AND number = $2;

-- name: runs
SELECT number, handler, handler_type, script, retry_of, phase, status, prepare_result,
  mutation_result, mutation, asked, approved, fault, error_details, traceback, note, created_at,
  updated_at
FROM gnomon.workflow_runs WHERE workflow = $1 AND number < $2 ORDER BY number DESC LIMIT $3;

-- name: put_run
INSERT INTO gnomon.workflow_runs (workflow, number, handler, handler_type, script, retry_of, phase, status,
  prepare_result, mutation_result, mutation, asked, approved, fault, error_details, traceback, note,
  created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
ON CONFLICT (workflow, number) DO UPDATE SET script = excluded.script, phase = excluded.phase,
  status = excluded.status, prepare_result = excluded.prepare_result,
  mutation_result = excluded.mutation_result, mutation = excluded.mutation,
  asked = excluded.asked, approved = excluded.approved, fault = excluded.fault,
  error_details = excluded.error_details, traceback = excluded.traceback, note = excluded.note,
  updated_at = excluded.updated_at;

-- name: mutation
SELECT run, tool, params, idempotency_key, title, reconcilable, status, result, error,
  reconcile_attempts, next_reconcile_at, resolved_by, resolved_at, created_at
FROM gnomon.workflow_mutations WHERE workflow = $1 AND run = $2;

-- name: mutations
SELECT run, tool, params, idempotency_key, title, reconcilable, status, result, error,
  reconcile_attempts, next_reconcile_at, resolved_by, resolved_at, created_at
FROM gnomon.workflow_mutations WHERE workflow = $1 AND run = ANY ($2::bigint[])
ORDER BY run DESC;

-- name: put_mutation
INSERT INTO gnomon.workflow_mutations (workflow, run, tool, params, idempotency_key, title, reconcilable, status,
  result, error, reconcile_attempts, next_reconcile_at, resolved_by, resolved_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
ON CONFLICT (workflow, run) DO UPDATE SET status = excluded.status, result = excluded.result,
  error = excluded.error, reconcile_attempts = excluded.reconcile_attempts,
  next_reconcile_at = excluded.next_reconcile_at, resolved_by = excluded.resolved_by,
  resolved_at = excluded.resolved_at;

-- name: topics
SELECT name, pending, newest,
  (SELECT number FROM gnomon.workflow_events AS one
   WHERE one.workflow = topic.workflow AND one.topic = topic.name AND one.status = 'pending'
   ORDER BY number LIMIT 1)
FROM gnomon.workflow_topics AS topic WHERE workflow = $1 AND pending > 0;

-- name: count_topic
INSERT INTO gnomon.workflow_topics AS topic (workflow, name, pending, newest) VALUES ($1, $2, $3, $4)
ON CONFLICT (workflow, name) DO UPDATE SET pending = topic.pending + excluded.pending,
  newest = greatest(topic.newest, excluded.newest);

-- name: take_from_topic
UPDATE gnomon.workflow_topics SET pending = pending - $1 WHERE workflow = $2 AND name = $3;

-- name: arrivals
UPDATE gnomon.workflows SET arrivals = $1 WHERE name = $2;

-- name: known_event
SELECT payload, status, causes, published_at FROM gnomon.workflow_events WHERE workflow = $1 AND topic = $2 AND id = $3;

-- name: add_event
INSERT INTO gnomon.workflow_events (workflow, topic, id, payload, status, number, arrival, attempt, reserved_by,
  created_by, causes, created_at, published_at, rounds)
VALUES ($1, $2, $3, $4, 'pending', $5, $6, 1, NULL, $7, $8, $9, $9, $10);

-- name: set_event
UPDATE gnomon.workflow_events SET payload = $1, causes = $2, arrival = $3
WHERE workflow = $4 AND topic = $5 AND id = $6;

-- name: reserve
UPDATE gnomon.workflow_events SET status = 'reserved', reserved_by = $1
WHERE workflow = $2 AND topic = $3 AND id = $4 AND status = 'pending'
RETURNING 1;

-- name: settle
UPDATE gnomon.workflow_events SET status = $1,
  attempt = attempt + CASE $1 WHEN 'pending' THEN 1 ELSE 0 END,
  reserved_by = CASE $1 WHEN 'pending' THEN NULL ELSE reserved_by END
WHERE workflow = $2 AND reserved_by = $3 AND status = 'reserved'
RETURNING topic;

-- name: hand_over
UPDATE gnomon.workflow_events SET reserved_by = $1 WHERE workflow = $2 AND reserved_by = $3 AND status = 'reserved';

-- name: skip_input
UPDATE gnomon.workflow_events SET status = 'skipped'
WHERE workflow = $1 AND status = 'pending' AND (topic, id) IN
  (SELECT topic, id FROM gnomon.workflow_causes WHERE workflow = $1 AND input = $2)
RETURNING topic;

-- name: mark_input
UPDATE gnomon.workflow_inputs SET skipped = true WHERE workflow = $1 AND id = $2;

-- name: put_input
INSERT INTO gnomon.workflow_inputs (workflow, id, title, skipped, created_at)
VALUES ($1, $2, $3, false, $4)
ON CONFLICT (workflow, id) DO UPDATE SET title = excluded.title;

-- name: add_cause
INSERT INTO gnomon.workflow_causes (workflow, input, topic, id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: inputs
SELECT inputs.id, title, skipped, inputs.created_at,
  (SELECT count(*) FROM gnomon.workflow_causes AS cause
   JOIN gnomon.workflow_events AS event ON event.workflow = cause.workflow
     AND event.topic = cause.topic AND event.id = cause.id
     AND event.status IN ('pending', 'reserved')
   WHERE cause.workflow = inputs.workflow AND cause.input = inputs.id)
FROM gnomon.workflow_inputs AS inputs WHERE workflow = $1 AND ($2::text IS NULL OR inputs.id = $2)
ORDER BY inputs.created_at DESC, inputs.id LIMIT $3;

-- name: causes_of
SELECT causes FROM gnomon.workflow_events WHERE workflow = $1 AND reserved_by = $2 AND status = 'reserved';

-- name: peek
SELECT topic, id, payload, status, number, arrival, attempt, reserved_by, created_by, causes,
  created_at, rounds
FROM gnomon.workflow_events WHERE workflow = $1 AND topic = $2 AND status = 'pending' AND number > $3
ORDER BY number LIMIT $4;

-- name: find
SELECT topic, id, payload, status, number, arrival, attempt, reserved_by, created_by, causes,
  created_at, rounds
FROM gnomon.workflow_events WHERE workflow = $1 AND topic = $2 AND status = 'pending'
  AND id = ANY ($3::text[])
ORDER BY number;

-- name: reserved
SELECT topic, id, payload, status, number, arrival, attempt, reserved_by, created_by, causes,
  created_at, rounds
FROM gnomon.workflow_events WHERE workflow = $1 AND reserved_by = $2 AND status = 'reserved' ORDER BY number;

-- name: events
SELECT topic, id, payload, status, number, arrival, attempt, reserved_by, created_by, causes,
  created_at, rounds
FROM gnomon.workflow_events
WHERE workflow = $1 AND ($2::text IS NULL OR topic = $2) AND ($3::text IS NULL OR status = $3)
  AND number < $4
ORDER BY number DESC LIMIT $5;

-- name: versions
SELECT name, version, arrivals FROM gnomon.workflows;

-- name: refresh_event
UPDATE gnomon.workflow_events SET published_at = $1 WHERE workflow = $2 AND topic = $3 AND id = $4;

-- name: first_attempt
WITH RECURSIVE chain (number, retry_of) AS (
  SELECT number, retry_of FROM gnomon.workflow_runs WHERE workflow = $1 AND number = $2
  UNION ALL
  SELECT before.number, before.retry_of FROM gnomon.workflow_runs AS before
  JOIN chain ON before.workflow = $1 AND before.number = chain.retry_of)
SELECT min(number) FROM chain;

-- name: forget_runs
DELETE FROM gnomon.workflow_runs WHERE workflow = $1 AND updated_at < $2 AND number IN
  (SELECT number FROM gnomon.workflow_runs WHERE workflow = $1 AND number < $3 ORDER BY number LIMIT $4)
RETURNING 1;

-- name: forget_mutations
DELETE FROM gnomon.workflow_mutations WHERE workflow = $1
  AND run < (SELECT min(number) FROM gnomon.workflow_runs WHERE workflow = $1);

-- name: forget_scripts
DELETE FROM gnomon.workflow_scripts WHERE workflow = $1 AND version < $2 AND version <
  (SELECT script FROM gnomon.workflow_runs WHERE workflow = $1 ORDER BY number LIMIT 1);

-- name: some_events
SELECT count(*), max(number) FROM
  (SELECT number FROM gnomon.workflow_events WHERE workflow = $1 AND number > $2 ORDER BY number LIMIT $3)
  AS batch;

-- name: forget_events
DELETE FROM gnomon.workflow_events AS one
WHERE workflow = $1 AND number > $2 AND number <= $3 AND status IN ('consumed', 'skipped')
  AND published_at < $4 AND NOT EXISTS
    (SELECT 1 FROM gnomon.workflow_runs AS run
     WHERE run.workflow = one.workflow AND run.number = one.reserved_by)
RETURNING topic, id, causes;

-- name: forget_cause
DELETE FROM gnomon.workflow_causes WHERE workflow = $1 AND input = $2 AND topic = $3 AND id = $4;

-- name: forget_input
DELETE FROM gnomon.workflow_inputs WHERE workflow = $1 AND id = $2 AND created_at < $3 AND NOT EXISTS
  (SELECT 1 FROM gnomon.workflow_causes AS cause WHERE cause.workflow = $1 AND cause.input = $2);

-- name: holders
SELECT count(*), count(DISTINCT nullif(holder, '')) FROM gnomon.workflows;

-- name: mark_removed
INSERT INTO gnomon.removed_workflows (name, fence) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET fence = excluded.fence;

-- name: remove_causes
DELETE FROM gnomon.workflow_causes WHERE workflow = $1;

-- name: remove_inputs
DELETE FROM gnomon.workflow_inputs WHERE workflow = $1;

-- name: remove_events
DELETE FROM gnomon.workflow_events WHERE workflow = $1;

-- name: remove_topics
DELETE FROM gnomon.workflow_topics WHERE workflow = $1;

-- name: remove_mutations
DELETE FROM gnomon.workflow_mutations WHERE workflow = $1;

-- name: remove_runs
DELETE FROM gnomon.workflow_runs WHERE workflow = $1;

-- name: remove_handlers
DELETE FROM gnomon.workflow_handlers WHERE workflow = $1;

-- name: remove_scripts
DELETE FROM gnomon.workflow_scripts WHERE workflow = $1;

-- name: remove_workflow
DELETE FROM gnomon.workflows WHERE name = $1;
