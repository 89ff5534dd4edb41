-- What pg_dump 16 says of a database in which Gnomon wrote a ledger at schema 10 and workflows at
-- schema 4, before what the service runs was called a DAG.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA gnomon;
CREATE FUNCTION gnomon.keep_outcome() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'an outcome is permanent' USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE FUNCTION gnomon.keep_version() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'a version of a workflow is permanent'
    USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE FUNCTION gnomon.wake_queues(ended text, noted_at timestamp with time zone, channel text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION gnomon.wake_queues_if(wanted bigint, written bigint, ended text, noted_at timestamp with time zone, channel text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF written <> wanted THEN
    RAISE EXCEPTION 'not all of these runs are held' USING ERRCODE = 'no_data_found';
  END IF;
  PERFORM gnomon.wake_queues(ended, noted_at, channel);
END
$$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE gnomon.breaches (
    schedule_id text NOT NULL COLLATE pg_catalog."C",
    run_at timestamp with time zone NOT NULL,
    expectation text NOT NULL,
    noted_at timestamp with time zone NOT NULL
);
CREATE TABLE gnomon.execution_nodes (
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    node_id text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL,
    attempt integer NOT NULL,
    process text,
    detail text DEFAULT ''::text NOT NULL,
    log text,
    started_at timestamp with time zone,
    ended_at timestamp with time zone
);
CREATE TABLE gnomon.executions (
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL,
    workflow_id text NOT NULL,
    version integer NOT NULL,
    user_id text NOT NULL,
    fence bigint NOT NULL,
    status text NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT executions_check CHECK (((status = 'STARTED'::text) = (ended_at IS NULL)))
);
CREATE TABLE gnomon.expectations (
    schedule_id text NOT NULL COLLATE pg_catalog."C",
    check_at timestamp with time zone NOT NULL,
    after_at timestamp with time zone NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE gnomon.flow_causes (
    workflow text NOT NULL COLLATE pg_catalog."C",
    input text NOT NULL COLLATE pg_catalog."C",
    topic text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE gnomon.flow_events (
    workflow text NOT NULL COLLATE pg_catalog."C",
    topic text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    payload text NOT NULL,
    status text NOT NULL,
    number bigint NOT NULL,
    arrival bigint NOT NULL,
    attempt bigint NOT NULL,
    reserved_by bigint,
    created_by bigint,
    causes text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    published_at timestamp with time zone NOT NULL,
    rounds bigint DEFAULT 0 NOT NULL
);
CREATE TABLE gnomon.flow_handlers (
    workflow text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    place bigint NOT NULL,
    schedule text NOT NULL,
    subscribes text NOT NULL,
    publishes text NOT NULL,
    next_run_at timestamp with time zone,
    wake_at timestamp with time zone,
    state text NOT NULL,
    ran_at timestamp with time zone
);
CREATE TABLE gnomon.flow_inputs (
    workflow text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    skipped boolean NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE gnomon.flow_meta (
    name text NOT NULL,
    value text NOT NULL
);
CREATE TABLE gnomon.flow_mutations (
    workflow text NOT NULL COLLATE pg_catalog."C",
    run bigint NOT NULL,
    tool text NOT NULL,
    params text NOT NULL,
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    reconcilable boolean NOT NULL,
    status text NOT NULL,
    result text,
    error text NOT NULL,
    reconcile_attempts bigint NOT NULL,
    next_reconcile_at timestamp with time zone,
    resolved_by text NOT NULL,
    resolved_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE gnomon.flow_runs (
    workflow text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    handler text NOT NULL,
    handler_type text NOT NULL,
    script bigint NOT NULL,
    retry_of bigint,
    phase text NOT NULL,
    status text NOT NULL,
    prepare_result text,
    mutation_result text,
    mutation bigint,
    fault text NOT NULL,
    error_details text NOT NULL,
    note text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    asked text,
    approved text,
    traceback text DEFAULT ''::text NOT NULL
);
CREATE TABLE gnomon.flow_scripts (
    workflow text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    digest text NOT NULL,
    text text NOT NULL,
    reason text NOT NULL,
    deployed_at timestamp with time zone NOT NULL,
    modules text DEFAULT '{}'::text NOT NULL
);
CREATE TABLE gnomon.flow_topics (
    workflow text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    pending bigint NOT NULL,
    newest bigint NOT NULL,
    CONSTRAINT flow_topics_pending_check CHECK ((pending >= 0))
);
CREATE TABLE gnomon.flows (
    name text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    zone text NOT NULL,
    mode text NOT NULL,
    script bigint NOT NULL,
    version bigint NOT NULL,
    fence bigint NOT NULL,
    writes bigint NOT NULL,
    holder text NOT NULL,
    lease_until timestamp with time zone,
    runs bigint NOT NULL,
    arrivals bigint NOT NULL,
    current bigint,
    failures bigint NOT NULL,
    retry_at timestamp with time zone,
    repairs bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    trouble text DEFAULT ''::text NOT NULL
);
CREATE TABLE gnomon.ledger_meta (
    name text NOT NULL,
    value text NOT NULL
);
CREATE TABLE gnomon.removed_flows (
    name text NOT NULL,
    fence bigint NOT NULL
);
CREATE TABLE gnomon.removed_workflows (
    user_id text NOT NULL COLLATE pg_catalog."C",
    workflow_id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    removed_at timestamp with time zone NOT NULL
);
CREATE TABLE gnomon.schedule_log (
    number bigint NOT NULL,
    logged_at timestamp with time zone NOT NULL,
    subject text NOT NULL,
    user_id text,
    action text NOT NULL,
    schedule_id text NOT NULL COLLATE pg_catalog."C",
    detail text DEFAULT '{}'::text NOT NULL
);
ALTER TABLE gnomon.schedule_log ALTER COLUMN number ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME gnomon.schedule_log_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE gnomon.schedule_revisions (
    schedule_id text NOT NULL COLLATE pg_catalog."C",
    revision integer NOT NULL,
    effective_at timestamp with time zone NOT NULL,
    definition text NOT NULL
);
CREATE TABLE gnomon.schedule_runs (
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    schedule_id text NOT NULL COLLATE pg_catalog."C",
    run_at timestamp with time zone NOT NULL,
    status text,
    run_id text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    last_run_at timestamp with time zone,
    periods integer DEFAULT 1 NOT NULL,
    fire_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    outcome text,
    reason text,
    launches integer DEFAULT 0 NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    owner text,
    lease_until timestamp with time zone,
    confirmed boolean DEFAULT false NOT NULL,
    detail text,
    revision integer NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    kill_at timestamp with time zone,
    kill_by text,
    chosen_at timestamp with time zone,
    params text,
    CONSTRAINT schedule_runs_check CHECK ((((state = 'done'::text) = (ended_at IS NOT NULL)) AND ((ended_at IS NULL) OR (outcome IS NOT NULL)))),
    CONSTRAINT schedule_runs_check1 CHECK (((state = ANY (ARRAY['claimed'::text, 'running'::text])) = (lease_until IS NOT NULL)))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000', autovacuum_analyze_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
CREATE TABLE gnomon.schedules (
    schedule_id text NOT NULL COLLATE pg_catalog."C",
    workflow_id text,
    version integer,
    user_id text,
    cron_expr text,
    timezone text NOT NULL,
    start_at timestamp with time zone,
    end_at timestamp with time zone,
    next_run_at timestamp with time zone,
    paused boolean DEFAULT false NOT NULL,
    jitter_ms bigint DEFAULT 0 NOT NULL,
    overlap_policy text DEFAULT 'skip'::text NOT NULL,
    catchup_policy text DEFAULT 'none'::text NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    revision integer NOT NULL,
    lock_version bigint NOT NULL,
    cursor_at timestamp with time zone NOT NULL,
    wake_at timestamp with time zone,
    paused_until timestamp with time zone,
    pause_reason text DEFAULT ''::text NOT NULL,
    lease_ms bigint NOT NULL,
    floor_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    skips text DEFAULT ''::text NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_analyze_scale_factor='0.05', autovacuum_analyze_threshold='1000', autovacuum_vacuum_cost_delay='0');
CREATE TABLE gnomon.workers (
    owner text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    state text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    ahead_ms bigint DEFAULT 0 NOT NULL,
    holding integer DEFAULT 0 NOT NULL,
    counters text DEFAULT '{}'::text NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='200');
CREATE TABLE gnomon.workflows (
    user_id text NOT NULL COLLATE pg_catalog."C",
    workflow_id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    digest text NOT NULL,
    dag text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
INSERT INTO gnomon.execution_nodes VALUES ('done', 'a', 'success', 1, NULL, 'exit 0', 'hello
', '2026-03-01 00:00:00+00', '2026-03-01 00:00:00.005+00');
INSERT INTO gnomon.execution_nodes VALUES ('busy', 'a', 'running', 1, '1:2:x:0:0', '', NULL, '2026-03-01 00:00:00+00', NULL);
INSERT INTO gnomon.executions VALUES ('busy', 'run:busy', 'report', 2, 'anna', 1, 'STARTED', '', '2026-03-01 00:00:00+00', NULL);
INSERT INTO gnomon.executions VALUES ('done', 'run:done', 'report', 2, 'anna', 1, 'SUCCESS', '', '2026-03-01 00:00:00+00', '2026-03-01 00:00:00.009+00');
INSERT INTO gnomon.flow_events VALUES ('orders', 'orders', 'o3', '1', 'pending', 3, 3, 1, NULL, NULL, '[]', '2026-03-01 00:00:00+00', '2026-03-01 00:00:00+00', 0);
INSERT INTO gnomon.flow_events VALUES ('orders', 'orders', 'o1', '1', 'consumed', 1, 1, 1, 2, NULL, '[]', '2026-03-01 00:00:00+00', '2026-03-01 00:00:00+00', 0);
INSERT INTO gnomon.flow_events VALUES ('orders', 'orders', 'o2', '1', 'reserved', 2, 2, 1, 3, NULL, '[]', '2026-03-01 00:00:00+00', '2026-03-01 00:00:00+00', 0);
INSERT INTO gnomon.flow_handlers VALUES ('orders', 'sheet', 'consumer', 1, '', '["orders"]', '["done"]', NULL, NULL, 'null', NULL);
INSERT INTO gnomon.flow_meta VALUES ('schema', '4');
INSERT INTO gnomon.flow_mutations VALUES ('orders', 1, 'append', '1', 'orders/1', '', false, 'applied', NULL, '', 0, NULL, '', NULL, '1970-01-01 00:00:00+00');
INSERT INTO gnomon.flow_mutations VALUES ('orders', 3, 'append', '1', 'orders/3', '', false, 'indeterminate', NULL, '', 0, NULL, '', NULL, '1970-01-01 00:00:00+00');
INSERT INTO gnomon.flow_runs VALUES ('orders', 1, 'sheet', 'consumer', 1, NULL, 'mutating', 'crashed', '{}', NULL, 1, '', '', '', '2026-03-01 00:00:00+00', '2026-03-01 00:00:00+00', NULL, NULL, '');
INSERT INTO gnomon.flow_runs VALUES ('orders', 2, 'sheet', 'consumer', 1, 1, 'committed', 'committed', '{}', '{"status": "applied", "result": null}', 1, '', '', '', '2026-03-01 00:00:00+00', '2026-03-01 00:00:00+00', NULL, NULL, '');
INSERT INTO gnomon.flow_runs VALUES ('orders', 3, 'sheet', 'consumer', 1, NULL, 'mutating', 'paused:reconciliation', '{}', NULL, 3, '', '', '', '2026-03-01 00:00:00+00', '2026-03-01 00:00:00+00', NULL, NULL, '');
INSERT INTO gnomon.flow_scripts VALUES ('orders', 1, 'a', 'text', 'deploy', '2026-03-01 00:00:00+00', '{}');
INSERT INTO gnomon.flow_topics VALUES ('orders', 'orders', 1, 3);
INSERT INTO gnomon.flows VALUES ('orders', '', 'UTC', 'active', 1, 3, 1, 0, 'anna', '2026-11-19 23:21:37.551781+00', 3, 3, 3, 0, NULL, 0, '2026-03-01 00:00:00+00', '');
INSERT INTO gnomon.ledger_meta VALUES ('schema', '10');
INSERT INTO gnomon.ledger_meta VALUES ('tzdata', '2026f');
INSERT INTO gnomon.removed_flows VALUES ('gone', 1);
INSERT INTO gnomon.removed_workflows VALUES ('anna', 'report', 1, '2026-03-01 00:00:00+00');
INSERT INTO gnomon.schedule_log VALUES (1, '2026-03-01 00:00:00+00', 'anna@example.org', 'anna', 'upsert', 'report.main.dea66772dece73df', '{}');
INSERT INTO gnomon.schedule_log VALUES (2, '2026-03-01 00:00:00+00', 'anna@example.org', 'anna', 'upsert', 'report.main.dea66772dece73df', '{}');
INSERT INTO gnomon.schedule_revisions VALUES ('report.main.dea66772dece73df', 1, '2026-03-01 00:00:00+00', '{"catchup_policy":"none","cron_expr":"0 0 1 1 *","dialect":"standard","distribution":"uniform","dst":"vixie","jitter_ms":0,"launch_backoff":"1s","launches_max":3,"lease":"1m0s","overlap_policy":"skip","pause_rule":"skip","salt":"","schedule_id":"report.main.dea66772dece73df","seed":"stable","target":{"trigger_id":"main","user_id":"anna","version":1,"workflow_id":"report"},"timezone":"UTC","uncertain":"relaunch_same_key","window":"after,0s"}');
INSERT INTO gnomon.schedule_revisions VALUES ('report.main.dea66772dece73df', 2, '2026-03-01 00:00:00+00', '{"catchup_policy":"none","cron_expr":"0 0 1 1 *","dialect":"standard","distribution":"uniform","dst":"vixie","jitter_ms":0,"launch_backoff":"1s","launches_max":3,"lease":"1m0s","overlap_policy":"skip","pause_rule":"skip","salt":"","schedule_id":"report.main.dea66772dece73df","seed":"stable","target":{"trigger_id":"main","user_id":"anna","version":2,"workflow_id":"report"},"timezone":"UTC","uncertain":"relaunch_same_key","window":"after,0s"}');
INSERT INTO gnomon.schedules VALUES ('report.main.dea66772dece73df', 'report', 2, 'anna', '0 0 1 1 *', 'UTC', NULL, NULL, '2027-01-01 00:00:00+00', false, 0, 'skip', 'none', '2026-03-01 00:00:00+00', 2, 2, '2026-01-01 00:00:00+00', '2027-01-01 00:00:00+00', NULL, '', 60000, NULL, '2026-03-01 00:00:00+00', NULL, '');
INSERT INTO gnomon.workflows VALUES ('anna', 'report', 1, '4915fb163c3d9a195d16706e9df4803b44a6ea10739649b7fbe77904b2b1cf36', '{"nodes":[{"command":["true"],"id":"first","type":"command"}],"triggers":[{"cron_expr":"0 0 1 1 *","type":"schedule_based"}],"version":1,"workflow_id":"report"}', '2026-03-01 00:00:00+00');
INSERT INTO gnomon.workflows VALUES ('anna', 'report', 2, '510ef77a6447289d914e9ebadeacb6a0a1e79feaf7af9302dde403f8face9c2c', '{"nodes":[{"command":["true"],"id":"first","type":"command"}],"triggers":[{"cron_expr":"0 0 1 1 *","type":"schedule_based"}],"version":2,"workflow_id":"report"}', '2026-03-01 00:00:00+00');
INSERT INTO gnomon.workflows VALUES ('anna', 'other', 1, '2de9a5cb6749aaae295bb4afd3d43170c8ca0efaea4ac4aa359f4fc296b52933', '{"nodes":[{"command":["true"],"id":"first","type":"command"}],"version":1,"workflow_id":"other"}', '2026-03-01 00:00:00+00');
SELECT pg_catalog.setval('gnomon.schedule_log_number_seq', 2, true);
ALTER TABLE ONLY gnomon.breaches
    ADD CONSTRAINT breaches_pkey PRIMARY KEY (schedule_id, run_at, expectation);
ALTER TABLE ONLY gnomon.execution_nodes
    ADD CONSTRAINT execution_nodes_pkey PRIMARY KEY (idempotency_key, node_id);
ALTER TABLE ONLY gnomon.executions
    ADD CONSTRAINT executions_pkey PRIMARY KEY (idempotency_key);
ALTER TABLE ONLY gnomon.expectations
    ADD CONSTRAINT expectations_pkey PRIMARY KEY (schedule_id);
ALTER TABLE ONLY gnomon.flow_causes
    ADD CONSTRAINT flow_causes_pkey PRIMARY KEY (workflow, input, topic, id);
ALTER TABLE ONLY gnomon.flow_events
    ADD CONSTRAINT flow_events_pkey PRIMARY KEY (workflow, topic, id);
ALTER TABLE ONLY gnomon.flow_handlers
    ADD CONSTRAINT flow_handlers_pkey PRIMARY KEY (workflow, name);
ALTER TABLE ONLY gnomon.flow_inputs
    ADD CONSTRAINT flow_inputs_pkey PRIMARY KEY (workflow, id);
ALTER TABLE ONLY gnomon.flow_meta
    ADD CONSTRAINT flow_meta_pkey PRIMARY KEY (name);
ALTER TABLE ONLY gnomon.flow_mutations
    ADD CONSTRAINT flow_mutations_idempotency_key_key UNIQUE (idempotency_key);
ALTER TABLE ONLY gnomon.flow_mutations
    ADD CONSTRAINT flow_mutations_pkey PRIMARY KEY (workflow, run);
ALTER TABLE ONLY gnomon.flow_runs
    ADD CONSTRAINT flow_runs_pkey PRIMARY KEY (workflow, number);
ALTER TABLE ONLY gnomon.flow_scripts
    ADD CONSTRAINT flow_scripts_pkey PRIMARY KEY (workflow, version);
ALTER TABLE ONLY gnomon.flow_topics
    ADD CONSTRAINT flow_topics_pkey PRIMARY KEY (workflow, name);
ALTER TABLE ONLY gnomon.flows
    ADD CONSTRAINT flows_pkey PRIMARY KEY (name);
ALTER TABLE ONLY gnomon.ledger_meta
    ADD CONSTRAINT ledger_meta_pkey PRIMARY KEY (name);
ALTER TABLE ONLY gnomon.removed_flows
    ADD CONSTRAINT removed_flows_pkey PRIMARY KEY (name);
ALTER TABLE ONLY gnomon.removed_workflows
    ADD CONSTRAINT removed_workflows_pkey PRIMARY KEY (user_id, workflow_id, version);
ALTER TABLE ONLY gnomon.schedule_log
    ADD CONSTRAINT schedule_log_pkey PRIMARY KEY (number);
ALTER TABLE ONLY gnomon.schedule_revisions
    ADD CONSTRAINT schedule_revisions_pkey PRIMARY KEY (schedule_id, revision);
ALTER TABLE ONLY gnomon.schedule_runs
    ADD CONSTRAINT schedule_runs_pkey PRIMARY KEY (idempotency_key);
ALTER TABLE ONLY gnomon.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (schedule_id);
ALTER TABLE ONLY gnomon.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (owner);
ALTER TABLE ONLY gnomon.workflows
    ADD CONSTRAINT workflows_pkey PRIMARY KEY (user_id, workflow_id, version);
CREATE INDEX executions_by_end ON gnomon.executions USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX expectations_by_check ON gnomon.expectations USING btree (check_at);
CREATE UNIQUE INDEX flow_events_number ON gnomon.flow_events USING btree (workflow, number);
CREATE INDEX flow_events_pending ON gnomon.flow_events USING btree (workflow, topic, number) WHERE (status = 'pending'::text);
CREATE INDEX flow_events_reserved ON gnomon.flow_events USING btree (workflow, reserved_by) WHERE (status = 'reserved'::text);
CREATE INDEX schedule_log_by_schedule ON gnomon.schedule_log USING btree (schedule_id, number);
CREATE INDEX schedule_log_by_user ON gnomon.schedule_log USING btree (user_id, number);
CREATE INDEX schedule_runs_by_end ON gnomon.schedule_runs USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX schedule_runs_by_lease ON gnomon.schedule_runs USING btree (lease_until) WHERE (lease_until IS NOT NULL);
CREATE INDEX schedule_runs_by_schedule ON gnomon.schedule_runs USING btree (schedule_id, run_at) WHERE (state = 'done'::text);
CREATE INDEX schedule_runs_open ON gnomon.schedule_runs USING btree (schedule_id) WHERE (state <> 'done'::text);
CREATE INDEX schedule_runs_to_end ON gnomon.schedule_runs USING btree (kill_at) WHERE ((kill_at IS NOT NULL) AND (state <> 'done'::text));
CREATE INDEX schedules_by_user ON gnomon.schedules USING btree (user_id, schedule_id) WHERE (user_id IS NOT NULL);
CREATE INDEX schedules_by_wake ON gnomon.schedules USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX schedules_deleted ON gnomon.schedules USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX schedules_with_queue ON gnomon.schedules USING btree (schedule_id) WHERE (overlap_policy = 'queue'::text);
CREATE TRIGGER schedule_runs_keep_outcome AFTER UPDATE OF state, outcome ON gnomon.schedule_runs FOR EACH ROW WHEN (((old.outcome IS NOT NULL) AND ((old.state = 'done'::text) OR (new.outcome IS DISTINCT FROM old.outcome)))) EXECUTE FUNCTION gnomon.keep_outcome();
CREATE TRIGGER workflows_keep_version BEFORE UPDATE ON gnomon.workflows FOR EACH ROW EXECUTE FUNCTION gnomon.keep_version();
ALTER TABLE ONLY gnomon.execution_nodes
    ADD CONSTRAINT execution_nodes_idempotency_key_fkey FOREIGN KEY (idempotency_key) REFERENCES gnomon.executions(idempotency_key) ON DELETE CASCADE;
ALTER TABLE ONLY gnomon.flow_events
    ADD CONSTRAINT flow_events_workflow_fkey FOREIGN KEY (workflow) REFERENCES gnomon.flows(name);
ALTER TABLE ONLY gnomon.flow_handlers
    ADD CONSTRAINT flow_handlers_workflow_fkey FOREIGN KEY (workflow) REFERENCES gnomon.flows(name);
ALTER TABLE ONLY gnomon.flow_inputs
    ADD CONSTRAINT flow_inputs_workflow_fkey FOREIGN KEY (workflow) REFERENCES gnomon.flows(name);
ALTER TABLE ONLY gnomon.flow_mutations
    ADD CONSTRAINT flow_mutations_workflow_fkey FOREIGN KEY (workflow) REFERENCES gnomon.flows(name);
ALTER TABLE ONLY gnomon.flow_runs
    ADD CONSTRAINT flow_runs_workflow_fkey FOREIGN KEY (workflow) REFERENCES gnomon.flows(name);
ALTER TABLE ONLY gnomon.flow_scripts
    ADD CONSTRAINT flow_scripts_workflow_fkey FOREIGN KEY (workflow) REFERENCES gnomon.flows(name);
ALTER TABLE ONLY gnomon.flow_topics
    ADD CONSTRAINT flow_topics_workflow_fkey FOREIGN KEY (workflow) REFERENCES gnomon.flows(name);
ALTER TABLE ONLY gnomon.schedule_revisions
    ADD CONSTRAINT schedule_revisions_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES gnomon.schedules(schedule_id);
