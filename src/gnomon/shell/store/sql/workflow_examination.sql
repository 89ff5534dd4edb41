-- What a doctor asks of workflows. Each statement finds what cannot be, under its name:
-- the workflow, what it is about, and the problem. Nothing here writes.

-- name: open_run
SELECT workflow.name, 'run ' || workflow.current,
  coalesce('is the open run, and is ' || run.status, 'is the open run, and is not there')
FROM workflows AS workflow
LEFT JOIN runs AS run ON run.workflow = workflow.name AND run.number = workflow.current
WHERE workflow.current IS NOT NULL
  AND (run.status IS NULL OR run.status IN ('committed', 'crashed'));

-- name: left_run
SELECT run.workflow, 'run ' || run.number,
  'is ' || run.status || ', but is not the open run and no other follows it'
FROM runs AS run JOIN workflows AS workflow ON workflow.name = run.workflow
WHERE run.status <> 'committed' AND run.number <> coalesce(workflow.current, 0)
  AND NOT EXISTS (SELECT 1 FROM runs AS next
    WHERE next.workflow = run.workflow AND next.retry_of = run.number);

-- name: attempts
SELECT run.workflow, 'run ' || run.number, 'follows run ' || before.number || ' of another handler'
FROM runs AS run
JOIN runs AS before ON before.workflow = run.workflow AND before.number = run.retry_of
WHERE before.handler <> run.handler
UNION ALL
SELECT workflow, 'run ' || retry_of, 'is followed by ' || count(*) || ' runs'
FROM runs WHERE retry_of IS NOT NULL GROUP BY workflow, retry_of HAVING count(*) > 1;

-- name: word
SELECT workflow, 'run ' || number, 'has the phase ' || phase || ' and the status ' || status
FROM runs
WHERE phase NOT IN ('preparing', 'prepared', 'mutating', 'mutated', 'emitting', 'committed')
  OR status NOT IN ('active', 'paused:transient', 'paused:approval', 'paused:reconciliation',
    'failed:logic', 'failed:internal', 'committed', 'crashed')
  OR (phase = 'committed') <> (status = 'committed')
UNION ALL
SELECT workflow, 'event ' || topic || '/' || id, 'has the status ' || status
FROM events WHERE status NOT IN ('pending', 'reserved', 'consumed', 'skipped');

-- name: checkpoint
SELECT workflow, 'run ' || number, 'is ' || phase || ' without what it has prepared'
FROM runs
WHERE handler_type = 'consumer' AND phase <> 'preparing' AND prepare_result IS NULL
UNION ALL
SELECT workflow, 'run ' || number, 'is ' || phase || ' without what became of its mutation'
FROM runs
WHERE handler_type = 'consumer' AND phase IN ('mutated', 'emitting', 'committed')
  AND mutation_result IS NULL;

-- name: reservation
SELECT event.workflow, 'event ' || event.topic || '/' || event.id,
  'is reserved by run ' || coalesce(event.reserved_by, 'none') || ', which is not open'
FROM events AS event JOIN workflows AS workflow ON workflow.name = event.workflow
WHERE event.status = 'reserved'
  AND coalesce(event.reserved_by, 0) <> coalesce(workflow.current, -1);

-- name: count
SELECT topic.workflow, 'topic ' || topic.name,
  'counts ' || topic.pending || ' pending events, and has ' || (SELECT count(*) FROM events AS event
    WHERE event.workflow = topic.workflow AND event.topic = topic.name
      AND event.status = 'pending')
FROM topics AS topic
WHERE topic.pending <> (SELECT count(*) FROM events AS event
  WHERE event.workflow = topic.workflow AND event.topic = topic.name AND event.status = 'pending')
UNION ALL
SELECT event.workflow, 'topic ' || event.topic, 'counts nothing, and has pending events'
FROM events AS event
WHERE event.status = 'pending' AND NOT EXISTS (SELECT 1 FROM topics AS topic
  WHERE topic.workflow = event.workflow AND topic.name = event.topic)
GROUP BY event.workflow, event.topic;

-- name: uncertain
SELECT mutation.workflow, 'mutation ' || mutation.idempotency_key,
  'is ' || mutation.status || ', and no open run waits for that to be known'
FROM mutations AS mutation JOIN workflows AS workflow ON workflow.name = mutation.workflow
LEFT JOIN runs AS run ON run.workflow = workflow.name AND run.number = workflow.current
WHERE mutation.status IN ('in_flight', 'needs_reconcile', 'indeterminate')
  AND coalesce(run.mutation, 0) <> mutation.run;

-- name: unconcluded
SELECT mutation.workflow, 'mutation ' || mutation.idempotency_key,
  'was applied, and no run has come to its end with it'
FROM mutations AS mutation JOIN workflows AS workflow ON workflow.name = mutation.workflow
WHERE mutation.status = 'applied' AND NOT EXISTS (SELECT 1 FROM runs AS run
  WHERE run.workflow = mutation.workflow AND run.mutation = mutation.run
    AND (run.status = 'committed' OR run.number = workflow.current));

-- name: number
SELECT workflow.name, 'its runs', 'are numbered beyond ' || workflow.runs
FROM workflows AS workflow
WHERE EXISTS (SELECT 1 FROM runs AS run WHERE run.workflow = workflow.name AND run.number > workflow.runs)
UNION ALL
SELECT workflow.name, 'its events', 'are numbered beyond ' || workflow.arrivals
FROM workflows AS workflow
WHERE EXISTS (SELECT 1 FROM events AS event
  WHERE event.workflow = workflow.name AND event.number > workflow.arrivals);

-- name: script
SELECT workflow.name, 'script ' || workflow.script, 'is in force, and is not there'
FROM workflows AS workflow
WHERE NOT EXISTS (SELECT 1 FROM scripts AS script
  WHERE script.workflow = workflow.name AND script.version = workflow.script)
UNION ALL
SELECT name, 'script ' || script, 'cannot be loaded by its host: ' || trouble
FROM workflows WHERE trouble <> '';
