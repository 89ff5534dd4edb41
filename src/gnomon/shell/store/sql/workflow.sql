-- The statements of the workflow log. Columns stand in the order in which rows are read.

-- name: take
UPDATE workflows SET fence = fence + 1, writes = 0, holder = ?1
WHERE holder <> ?1 OR name NOT IN (SELECT value FROM json_each(?2))
RETURNING name, fence;

-- name: fences
SELECT name, fence FROM workflows;

-- name: holders
SELECT name, holder FROM workflows;

-- name: release
UPDATE workflows SET holder = '' WHERE name = ? AND fence = ?;

-- name: standing
SELECT name, title, zone, mode, script, version, fence, writes, runs, arrivals, current, failures,
  retry_at, repairs, trouble, created_at
FROM workflows WHERE name = ?;

-- name: add_workflow
INSERT INTO workflows (name, title, zone, mode, script, runs, current, failures, retry_at, repairs,
  trouble, created_at, version, fence, writes, holder, arrivals)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 1,
  coalesce((SELECT fence + 1 FROM removed_workflows AS gone WHERE gone.name = ?1), 0), 0, '', 0);

-- name: set_workflow
UPDATE workflows SET title = ?, zone = ?, mode = ?, script = ?, runs = ?, current = ?,
  failures = ?, retry_at = ?, repairs = ?, trouble = ?, version = version + 1, writes = ?
WHERE name = ?;

-- name: handlers
SELECT name, kind, place, schedule, subscribes, publishes, next_run_at, wake_at, state, ran_at
FROM handlers WHERE workflow = ? ORDER BY place, name;

-- name: put_handler
INSERT INTO handlers
  (workflow, name, kind, place, schedule, subscribes, publishes, next_run_at, wake_at, state,
  ran_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (workflow, name) DO UPDATE SET kind = excluded.kind, place = excluded.place,
  schedule = excluded.schedule, subscribes = excluded.subscribes, publishes = excluded.publishes,
  next_run_at = excluded.next_run_at, wake_at = excluded.wake_at, state = excluded.state,
  ran_at = excluded.ran_at;

-- name: remove_handler
DELETE FROM handlers WHERE workflow = ? AND name = ?;

-- name: script
SELECT version, digest, text, reason, deployed_at, modules FROM scripts WHERE workflow = ? AND version = ?;

-- name: scripts
SELECT version, digest, text, reason, deployed_at, modules FROM scripts
WHERE workflow = ? AND version < ? ORDER BY version DESC LIMIT ?;

-- name: add_script
INSERT INTO scripts (workflow, version, digest, text, reason, deployed_at, modules)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: run
SELECT number, handler, handler_type, script, retry_of, phase, status, prepare_result,
  mutation_result, mutation, asked, approved, fault, error_details, traceback, note, created_at,
  updated_at
FROM runs WHERE workflow = ? AND number = ?;

-- name: runs
SELECT number, handler, handler_type, script, retry_of, phase, status, prepare_result,
  mutation_result, mutation, asked, approved, fault, error_details, traceback, note, created_at,
  updated_at
FROM runs WHERE workflow = ? AND number < ? ORDER BY number DESC LIMIT ?;

-- name: put_run
INSERT INTO runs (workflow, number, handler, handler_type, script, retry_of, phase, status,
  prepare_result, mutation_result, mutation, asked, approved, fault, error_details, traceback, note,
  created_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (workflow, number) DO UPDATE SET script = excluded.script, phase = excluded.phase,
  status = excluded.status, prepare_result = excluded.prepare_result,
  mutation_result = excluded.mutation_result, mutation = excluded.mutation,
  asked = excluded.asked, approved = excluded.approved, fault = excluded.fault,
  error_details = excluded.error_details, traceback = excluded.traceback, note = excluded.note,
  updated_at = excluded.updated_at;

-- name: mutation
SELECT run, tool, params, idempotency_key, title, reconcilable, status, result, error,
  reconcile_attempts, next_reconcile_at, resolved_by, resolved_at, created_at
FROM mutations WHERE workflow = ? AND run = ?;

-- name: mutations
SELECT run, tool, params, idempotency_key, title, reconcilable, status, result, error,
  reconcile_attempts, next_reconcile_at, resolved_by, resolved_at, created_at
FROM mutations WHERE workflow = ?1 AND run IN (SELECT value FROM json_each(?2))
ORDER BY run DESC;

-- name: put_mutation
INSERT INTO mutations (workflow, run, tool, params, idempotency_key, title, reconcilable, status,
  result, error, reconcile_attempts, next_reconcile_at, resolved_by, resolved_at, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (workflow, run) DO UPDATE SET status = excluded.status, result = excluded.result,
  error = excluded.error, reconcile_attempts = excluded.reconcile_attempts,
  next_reconcile_at = excluded.next_reconcile_at, resolved_by = excluded.resolved_by,
  resolved_at = excluded.resolved_at;

-- name: topics
SELECT name, pending, newest,
  (SELECT number FROM events AS one
   WHERE one.workflow = topics.workflow AND one.topic = topics.name AND one.status = 'pending'
   ORDER BY number LIMIT 1)
FROM topics WHERE workflow = ? AND pending > 0;

-- name: count_topic
INSERT INTO topics (workflow, name, pending, newest) VALUES (?, ?, ?, ?)
ON CONFLICT (workflow, name) DO UPDATE SET pending = pending + excluded.pending,
  newest = max(newest, excluded.newest);

-- name: take_from_topic
UPDATE topics SET pending = pending - ? WHERE workflow = ? AND name = ?;

-- name: arrivals
UPDATE workflows SET arrivals = ? WHERE name = ?;

-- name: known_event
SELECT payload, status, causes, published_at FROM events WHERE workflow = ? AND topic = ? AND id = ?;

-- name: add_event
INSERT INTO events (workflow, topic, id, payload, status, number, arrival, attempt, reserved_by,
  created_by, causes, created_at, published_at, rounds)
VALUES (?1, ?2, ?3, ?4, 'pending', ?5, ?6, 1, NULL, ?7, ?8, ?9, ?9, ?10);

-- name: set_event
UPDATE events SET payload = ?, causes = ?, arrival = ?
WHERE workflow = ? AND topic = ? AND id = ?;

-- name: reserve
UPDATE events SET status = 'reserved', reserved_by = ?
WHERE workflow = ? AND topic = ? AND id = ? AND status = 'pending';

-- name: settle
UPDATE events SET status = ?1, attempt = attempt + (?1 = 'pending'),
  reserved_by = CASE ?1 WHEN 'pending' THEN NULL ELSE reserved_by END
WHERE workflow = ?2 AND reserved_by = ?3 AND status = 'reserved'
RETURNING topic;

-- name: hand_over
UPDATE events SET reserved_by = ? WHERE workflow = ? AND reserved_by = ? AND status = 'reserved';

-- name: skip_input
UPDATE events SET status = 'skipped'
WHERE workflow = ?1 AND status = 'pending' AND (topic, id) IN
  (SELECT topic, id FROM event_causes WHERE workflow = ?1 AND input = ?2)
RETURNING topic;

-- name: mark_input
UPDATE inputs SET skipped = 1 WHERE workflow = ? AND id = ?;

-- name: put_input
INSERT INTO inputs (workflow, id, title, skipped, created_at) VALUES (?, ?, ?, 0, ?)
ON CONFLICT (workflow, id) DO UPDATE SET title = excluded.title;

-- name: add_cause
INSERT INTO event_causes (workflow, input, topic, id) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: inputs
SELECT inputs.id, title, skipped, inputs.created_at,
  (SELECT count(*) FROM event_causes AS cause
   JOIN events ON events.workflow = cause.workflow AND events.topic = cause.topic
     AND events.id = cause.id AND events.status IN ('pending', 'reserved')
   WHERE cause.workflow = inputs.workflow AND cause.input = inputs.id)
FROM inputs WHERE workflow = ?1 AND (?2 IS NULL OR inputs.id = ?2)
ORDER BY inputs.created_at DESC, inputs.id LIMIT ?3;

-- name: causes_of
SELECT causes FROM events WHERE workflow = ? AND reserved_by = ? AND status = 'reserved';

-- name: peek
SELECT topic, id, payload, status, number, arrival, attempt, reserved_by, created_by, causes,
  created_at, rounds
FROM events WHERE workflow = ? AND topic = ? AND status = 'pending' AND number > ?
ORDER BY number LIMIT ?;

-- name: find
SELECT topic, id, payload, status, number, arrival, attempt, reserved_by, created_by, causes,
  created_at, rounds
FROM events WHERE workflow = ?1 AND topic = ?2 AND status = 'pending'
  AND id IN (SELECT value FROM json_each(?3))
ORDER BY number;

-- name: reserved
SELECT topic, id, payload, status, number, arrival, attempt, reserved_by, created_by, causes,
  created_at, rounds
FROM events WHERE workflow = ? AND reserved_by = ? AND status = 'reserved' ORDER BY number;

-- name: events
SELECT topic, id, payload, status, number, arrival, attempt, reserved_by, created_by, causes,
  created_at, rounds
FROM events
WHERE workflow = ?1 AND (?2 IS NULL OR topic = ?2) AND (?3 IS NULL OR status = ?3)
  AND number < ?4
ORDER BY number DESC LIMIT ?5;

-- name: versions
SELECT name, version, arrivals FROM workflows;

-- name: refresh_event
UPDATE events SET published_at = ?1 WHERE workflow = ?2 AND topic = ?3 AND id = ?4;

-- name: first_attempt
WITH RECURSIVE chain (number, retry_of) AS (
  SELECT number, retry_of FROM runs WHERE workflow = ?1 AND number = ?2
  UNION ALL
  SELECT before.number, before.retry_of FROM runs AS before
  JOIN chain ON before.workflow = ?1 AND before.number = chain.retry_of)
SELECT min(number) FROM chain;

-- name: forget_runs
DELETE FROM runs WHERE workflow = ?1 AND updated_at < ?2 AND number IN
  (SELECT number FROM runs WHERE workflow = ?1 AND number < ?3 ORDER BY number LIMIT ?4)
RETURNING 1;

-- name: forget_mutations
DELETE FROM mutations WHERE workflow = ?1
  AND run < (SELECT min(number) FROM runs WHERE workflow = ?1);

-- name: forget_scripts
DELETE FROM scripts WHERE workflow = ?1 AND version < ?2 AND version <
  (SELECT script FROM runs WHERE workflow = ?1 ORDER BY number LIMIT 1);

-- name: some_events
SELECT count(*), max(number) FROM
  (SELECT number FROM events WHERE workflow = ?1 AND number > ?2 ORDER BY number LIMIT ?3)
  AS batch;

-- name: forget_events
DELETE FROM events AS one
WHERE workflow = ?1 AND number > ?2 AND number <= ?3 AND status IN ('consumed', 'skipped')
  AND published_at < ?4 AND NOT EXISTS
    (SELECT 1 FROM runs AS run
     WHERE run.workflow = one.workflow AND run.number = one.reserved_by)
RETURNING topic, id, causes;

-- name: forget_cause
DELETE FROM event_causes WHERE workflow = ?1 AND input = ?2 AND topic = ?3 AND id = ?4;

-- name: forget_input
DELETE FROM inputs WHERE workflow = ?1 AND id = ?2 AND created_at < ?3 AND NOT EXISTS
  (SELECT 1 FROM event_causes AS cause WHERE cause.workflow = ?1 AND cause.input = ?2);

-- name: mark_removed
INSERT INTO removed_workflows (name, fence) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET fence = excluded.fence;

-- name: remove_causes
DELETE FROM event_causes WHERE workflow = ?;

-- name: remove_inputs
DELETE FROM inputs WHERE workflow = ?;

-- name: remove_events
DELETE FROM events WHERE workflow = ?;

-- name: remove_topics
DELETE FROM topics WHERE workflow = ?;

-- name: remove_mutations
DELETE FROM mutations WHERE workflow = ?;

-- name: remove_runs
DELETE FROM runs WHERE workflow = ?;

-- name: remove_handlers
DELETE FROM handlers WHERE workflow = ?;

-- name: remove_scripts
DELETE FROM scripts WHERE workflow = ?;

-- name: remove_workflow
DELETE FROM workflows WHERE name = ?;
