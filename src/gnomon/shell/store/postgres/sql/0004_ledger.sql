-- Schema 4: DAGs by version, and how far their runs have come. Until schema 11 the table was called
-- workflows. It is not any more, because the workflow log may be there with a table of that name.

CREATE TABLE gnomon.dags (
  user_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  digest text NOT NULL,
  dag text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, workflow_id, version)
);

-- No writer ever changes a version.
CREATE FUNCTION gnomon.keep_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a version of a DAG is permanent'
    USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER dags_keep_version
BEFORE UPDATE ON gnomon.dags FOR EACH ROW EXECUTE FUNCTION gnomon.keep_version();

CREATE TABLE gnomon.executions (
  idempotency_key text COLLATE "C" PRIMARY KEY,
  run_id text NOT NULL,
  workflow_id text NOT NULL,
  version integer NOT NULL,
  user_id text NOT NULL,
  fence bigint NOT NULL,
  status text NOT NULL,
  detail text NOT NULL DEFAULT '',
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  CHECK ((status = 'STARTED') = (ended_at IS NULL))
);

CREATE INDEX executions_by_end ON gnomon.executions (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE gnomon.execution_nodes (
  idempotency_key text COLLATE "C" NOT NULL
    REFERENCES gnomon.executions (idempotency_key) ON DELETE CASCADE,
  node_id text COLLATE "C" NOT NULL,
  state text NOT NULL,
  attempt integer NOT NULL,
  process text,
  detail text NOT NULL DEFAULT '',
  log text,
  started_at timestamptz,
  ended_at timestamptz,
  PRIMARY KEY (idempotency_key, node_id)
);
