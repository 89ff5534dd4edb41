-- Schema 5: tables of workflows are named after them. They were called flows, because a ledger in the
-- same schema had its DAGs in a table named workflows. `flow_meta` keeps its name: an older version of
-- Gnomon looks for it, finds this number and refuses, and does not make an empty log beside this one.

ALTER TABLE gnomon.flows RENAME TO workflows;
ALTER TABLE gnomon.workflows RENAME CONSTRAINT flows_pkey TO workflows_pkey;
ALTER TABLE gnomon.removed_flows RENAME TO removed_workflows;
ALTER TABLE gnomon.removed_workflows RENAME CONSTRAINT removed_flows_pkey TO removed_workflows_pkey;

ALTER TABLE gnomon.flow_scripts RENAME TO workflow_scripts;
ALTER TABLE gnomon.workflow_scripts RENAME CONSTRAINT flow_scripts_pkey TO workflow_scripts_pkey;
ALTER TABLE gnomon.workflow_scripts
  RENAME CONSTRAINT flow_scripts_workflow_fkey TO workflow_scripts_workflow_fkey;

ALTER TABLE gnomon.flow_handlers RENAME TO workflow_handlers;
ALTER TABLE gnomon.workflow_handlers RENAME CONSTRAINT flow_handlers_pkey TO workflow_handlers_pkey;
ALTER TABLE gnomon.workflow_handlers
  RENAME CONSTRAINT flow_handlers_workflow_fkey TO workflow_handlers_workflow_fkey;

ALTER TABLE gnomon.flow_runs RENAME TO workflow_runs;
ALTER TABLE gnomon.workflow_runs RENAME CONSTRAINT flow_runs_pkey TO workflow_runs_pkey;
ALTER TABLE gnomon.workflow_runs
  RENAME CONSTRAINT flow_runs_workflow_fkey TO workflow_runs_workflow_fkey;

ALTER TABLE gnomon.flow_mutations RENAME TO workflow_mutations;
ALTER TABLE gnomon.workflow_mutations RENAME CONSTRAINT flow_mutations_pkey TO workflow_mutations_pkey;
ALTER TABLE gnomon.workflow_mutations
  RENAME CONSTRAINT flow_mutations_workflow_fkey TO workflow_mutations_workflow_fkey;
ALTER TABLE gnomon.workflow_mutations
  RENAME CONSTRAINT flow_mutations_idempotency_key_key TO workflow_mutations_idempotency_key_key;

ALTER TABLE gnomon.flow_topics RENAME TO workflow_topics;
ALTER TABLE gnomon.workflow_topics RENAME CONSTRAINT flow_topics_pkey TO workflow_topics_pkey;
ALTER TABLE gnomon.workflow_topics
  RENAME CONSTRAINT flow_topics_workflow_fkey TO workflow_topics_workflow_fkey;
ALTER TABLE gnomon.workflow_topics
  RENAME CONSTRAINT flow_topics_pending_check TO workflow_topics_pending_check;

ALTER TABLE gnomon.flow_events RENAME TO workflow_events;
ALTER TABLE gnomon.workflow_events RENAME CONSTRAINT flow_events_pkey TO workflow_events_pkey;
ALTER TABLE gnomon.workflow_events
  RENAME CONSTRAINT flow_events_workflow_fkey TO workflow_events_workflow_fkey;
ALTER INDEX gnomon.flow_events_pending RENAME TO workflow_events_pending;
ALTER INDEX gnomon.flow_events_reserved RENAME TO workflow_events_reserved;
ALTER INDEX gnomon.flow_events_number RENAME TO workflow_events_number;

ALTER TABLE gnomon.flow_inputs RENAME TO workflow_inputs;
ALTER TABLE gnomon.workflow_inputs RENAME CONSTRAINT flow_inputs_pkey TO workflow_inputs_pkey;
ALTER TABLE gnomon.workflow_inputs
  RENAME CONSTRAINT flow_inputs_workflow_fkey TO workflow_inputs_workflow_fkey;

ALTER TABLE gnomon.flow_causes RENAME TO workflow_causes;
ALTER TABLE gnomon.workflow_causes RENAME CONSTRAINT flow_causes_pkey TO workflow_causes_pkey;
