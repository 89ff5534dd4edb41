-- Schema 11: what the service runs is a DAG; a workflow is producers and consumers, and lives in other
-- tables. Where schema 4 is made today, DAGs have their name from the beginning.

DO $$
BEGIN
  IF to_regclass('gnomon.dags') IS NULL THEN
    ALTER TABLE gnomon.workflows RENAME TO dags;
    ALTER TABLE gnomon.dags RENAME CONSTRAINT workflows_pkey TO dags_pkey;
    ALTER TRIGGER workflows_keep_version ON gnomon.dags RENAME TO dags_keep_version;
  END IF;
  IF to_regclass('gnomon.removed_dags') IS NULL THEN
    ALTER TABLE gnomon.removed_workflows RENAME TO removed_dags;
    ALTER TABLE gnomon.removed_dags RENAME CONSTRAINT removed_workflows_pkey TO removed_dags_pkey;
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION gnomon.keep_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a version of a DAG is permanent'
    USING ERRCODE = 'integrity_constraint_violation';
END
$$;

ALTER TABLE gnomon.executions RENAME TO dag_runs;
ALTER TABLE gnomon.dag_runs RENAME CONSTRAINT executions_pkey TO dag_runs_pkey;
ALTER TABLE gnomon.dag_runs RENAME CONSTRAINT executions_check TO dag_runs_check;
ALTER INDEX gnomon.executions_by_end RENAME TO dag_runs_by_end;

ALTER TABLE gnomon.execution_nodes RENAME TO dag_run_nodes;
ALTER TABLE gnomon.dag_run_nodes RENAME CONSTRAINT execution_nodes_pkey TO dag_run_nodes_pkey;
ALTER TABLE gnomon.dag_run_nodes
  RENAME CONSTRAINT execution_nodes_idempotency_key_fkey TO dag_run_nodes_idempotency_key_fkey;
