-- What a doctor asks of workflows. Each statement finds what cannot be, under its name:
-- the workflow, what it is about, and the problem. Nothing here writes.

-- name: open_run
SELECT flow.name, 'run ' || flow.current,
  coalesce('is the open run, and is ' || run.status, 'is the open run, and is not there')
FROM gnomon.flows AS flow
LEFT JOIN gnomon.flow_runs AS run ON run.workflow = flow.name AND run.number = flow.current
WHERE flow.current IS NOT NULL
  AND (run.status IS NULL OR run.status IN ('committed', 'crashed'));

-- name: left_run
SELECT run.workflow, 'run ' || run.number,
  'is ' || run.status || ', but is not the open run and no other follows it'
FROM gnomon.flow_runs AS run JOIN gnomon.flows AS flow ON flow.name = run.workflow
WHERE run.status <> 'committed' AND run.number <> coalesce(flow.current, 0)
  AND NOT EXISTS (SELECT 1 FROM gnomon.flow_runs AS next
    WHERE next.workflow = run.workflow AND next.retry_of = run.number);

-- name: attempts
SELECT run.workflow, 'run ' || run.number, 'follows run ' || before.number || ' of another handler'
FROM gnomon.flow_runs AS run
JOIN gnomon.flow_runs AS before ON before.workflow = run.workflow AND before.number = run.retry_of
WHERE before.handler <> run.handler
UNION ALL
SELECT workflow, 'run ' || retry_of, 'is followed by ' || count(*) || ' runs'
FROM gnomon.flow_runs WHERE retry_of IS NOT NULL GROUP BY workflow, retry_of HAVING count(*) > 1;

-- name: word
SELECT workflow, 'run ' || number, 'has the phase ' || phase || ' and the status ' || status
FROM gnomon.flow_runs
WHERE phase NOT IN ('preparing', 'prepared', 'mutating', 'mutated', 'emitting', 'committed')
  OR status NOT IN ('active', 'paused:transient', 'paused:approval', 'paused:reconciliation',
    'failed:logic', 'failed:internal', 'committed', 'crashed')
  OR (phase = 'committed') <> (status = 'committed')
UNION ALL
SELECT workflow, 'event ' || topic || '/' || id, 'has the status ' || status
FROM gnomon.flow_events WHERE status NOT IN ('pending', 'reserved', 'consumed', 'skipped');

-- name: checkpoint
SELECT workflow, 'run ' || number, 'is ' || phase || ' without what it has prepared'
FROM gnomon.flow_runs
WHERE handler_type = 'consumer' AND phase <> 'preparing' AND prepare_result IS NULL
UNION ALL
SELECT workflow, 'run ' || number, 'is ' || phase || ' without what became of its mutation'
FROM gnomon.flow_runs
WHERE handler_type = 'consumer' AND phase IN ('mutated', 'emitting', 'committed')
  AND mutation_result IS NULL;

-- name: reservation
SELECT event.workflow, 'event ' || event.topic || '/' || event.id,
  'is reserved by run ' || coalesce(event.reserved_by::text, 'none') || ', which is not open'
FROM gnomon.flow_events AS event JOIN gnomon.flows AS flow ON flow.name = event.workflow
WHERE event.status = 'reserved'
  AND coalesce(event.reserved_by, 0) <> coalesce(flow.current, -1);

-- name: count
SELECT topic.workflow, 'topic ' || topic.name,
  'counts ' || topic.pending || ' pending events, and has ' || (SELECT count(*) FROM gnomon.flow_events AS event
    WHERE event.workflow = topic.workflow AND event.topic = topic.name
      AND event.status = 'pending')
FROM gnomon.flow_topics AS topic
WHERE topic.pending <> (SELECT count(*) FROM gnomon.flow_events AS event
  WHERE event.workflow = topic.workflow AND event.topic = topic.name AND event.status = 'pending')
UNION ALL
SELECT event.workflow, 'topic ' || event.topic, 'counts nothing, and has pending events'
FROM gnomon.flow_events AS event
WHERE event.status = 'pending' AND NOT EXISTS (SELECT 1 FROM gnomon.flow_topics AS topic
  WHERE topic.workflow = event.workflow AND topic.name = event.topic)
GROUP BY event.workflow, event.topic;

-- name: uncertain
SELECT mutation.workflow, 'mutation ' || mutation.idempotency_key,
  'is ' || mutation.status || ', and no open run waits for that to be known'
FROM gnomon.flow_mutations AS mutation JOIN gnomon.flows AS flow ON flow.name = mutation.workflow
LEFT JOIN gnomon.flow_runs AS run ON run.workflow = flow.name AND run.number = flow.current
WHERE mutation.status IN ('in_flight', 'needs_reconcile', 'indeterminate')
  AND coalesce(run.mutation, 0) <> mutation.run;

-- name: unconcluded
SELECT mutation.workflow, 'mutation ' || mutation.idempotency_key,
  'was applied, and no run has come to its end with it'
FROM gnomon.flow_mutations AS mutation JOIN gnomon.flows AS flow ON flow.name = mutation.workflow
WHERE mutation.status = 'applied' AND NOT EXISTS (SELECT 1 FROM gnomon.flow_runs AS run
  WHERE run.workflow = mutation.workflow AND run.mutation = mutation.run
    AND (run.status = 'committed' OR run.number = flow.current));

-- name: number
SELECT flow.name, 'its runs', 'are numbered beyond ' || flow.runs
FROM gnomon.flows AS flow
WHERE EXISTS (SELECT 1 FROM gnomon.flow_runs AS run WHERE run.workflow = flow.name AND run.number > flow.runs)
UNION ALL
SELECT flow.name, 'its events', 'are numbered beyond ' || flow.arrivals
FROM gnomon.flows AS flow
WHERE EXISTS (SELECT 1 FROM gnomon.flow_events AS event
  WHERE event.workflow = flow.name AND event.number > flow.arrivals);

-- name: script
SELECT flow.name, 'script ' || flow.script, 'is in force, and is not there'
FROM gnomon.flows AS flow
WHERE NOT EXISTS (SELECT 1 FROM gnomon.flow_scripts AS script
  WHERE script.workflow = flow.name AND script.version = flow.script)
UNION ALL
SELECT name, 'script ' || script, 'cannot be loaded by its host: ' || trouble
FROM gnomon.flows WHERE trouble <> '';
