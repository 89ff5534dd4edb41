-- Schema 11: what the service runs is a DAG; a workflow is producers and consumers, and has a file of
-- its own.

ALTER TABLE workflows RENAME TO dags;
ALTER TABLE removed_workflows RENAME TO removed_dags;
ALTER TABLE executions RENAME TO dag_runs;
ALTER TABLE execution_nodes RENAME TO dag_run_nodes;

DROP INDEX executions_by_end;
CREATE INDEX dag_runs_by_end ON dag_runs (ended_at) WHERE ended_at IS NOT NULL;

DROP TRIGGER workflows_keep_version;
CREATE TRIGGER dags_keep_version BEFORE UPDATE ON dags
BEGIN
  SELECT RAISE(ABORT, 'a version of a DAG is permanent');
END;
