-- Schema 1: workflows, their runs, the events of their topics, and what they changed outside.
-- The tables are those of the log on SQLite, under names of their own; instants are timestamptz,
-- values of scripts are JSON texts, and a workflow is held until its lease is over.

CREATE TABLE gnomon.flow_meta (
  name text PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE gnomon.flows (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  title text NOT NULL,
  zone text NOT NULL,
  mode text NOT NULL,
  script bigint NOT NULL,
  version bigint NOT NULL,
  fence bigint NOT NULL,
  writes bigint NOT NULL,
  holder text NOT NULL,
  lease_until timestamptz,
  runs bigint NOT NULL,
  arrivals bigint NOT NULL,
  current bigint,
  failures bigint NOT NULL,
  retry_at timestamptz,
  repairs bigint NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE TABLE gnomon.flow_scripts (
  workflow text COLLATE "C" NOT NULL REFERENCES gnomon.flows (name),
  version bigint NOT NULL,
  digest text NOT NULL,
  text text NOT NULL,
  reason text NOT NULL,
  deployed_at timestamptz NOT NULL,
  PRIMARY KEY (workflow, version)
);

CREATE TABLE gnomon.flow_handlers (
  workflow text COLLATE "C" NOT NULL REFERENCES gnomon.flows (name),
  name text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  place bigint NOT NULL,
  schedule text NOT NULL,
  subscribes text NOT NULL,
  publishes text NOT NULL,
  next_run_at timestamptz,
  wake_at timestamptz,
  state text NOT NULL,
  PRIMARY KEY (workflow, name)
);

CREATE TABLE gnomon.flow_runs (
  workflow text COLLATE "C" NOT NULL REFERENCES gnomon.flows (name),
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
  approved boolean NOT NULL,
  fault text NOT NULL,
  error_details text NOT NULL,
  note text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (workflow, number)
);

CREATE TABLE gnomon.flow_mutations (
  workflow text COLLATE "C" NOT NULL REFERENCES gnomon.flows (name),
  run bigint NOT NULL,
  tool text NOT NULL,
  params text NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL UNIQUE,
  title text NOT NULL,
  reconcilable boolean NOT NULL,
  status text NOT NULL,
  result text,
  error text NOT NULL,
  reconcile_attempts bigint NOT NULL,
  next_reconcile_at timestamptz,
  resolved_by text NOT NULL,
  resolved_at timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (workflow, run)
);

CREATE TABLE gnomon.flow_topics (
  workflow text COLLATE "C" NOT NULL REFERENCES gnomon.flows (name),
  name text COLLATE "C" NOT NULL,
  pending bigint NOT NULL CHECK (pending >= 0),
  newest bigint NOT NULL,
  PRIMARY KEY (workflow, name)
);

CREATE TABLE gnomon.flow_events (
  workflow text COLLATE "C" NOT NULL REFERENCES gnomon.flows (name),
  topic text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  status text NOT NULL,
  number bigint NOT NULL,
  arrival bigint NOT NULL,
  attempt bigint NOT NULL,
  reserved_by bigint,
  created_by bigint,
  causes text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (workflow, topic, id)
);

CREATE INDEX flow_events_pending ON gnomon.flow_events (workflow, topic, number) WHERE status = 'pending';
CREATE INDEX flow_events_reserved ON gnomon.flow_events (workflow, reserved_by) WHERE status = 'reserved';
CREATE UNIQUE INDEX flow_events_number ON gnomon.flow_events (workflow, number);

CREATE TABLE gnomon.flow_inputs (
  workflow text COLLATE "C" NOT NULL REFERENCES gnomon.flows (name),
  id text COLLATE "C" NOT NULL,
  title text NOT NULL,
  skipped boolean NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (workflow, id)
);

CREATE TABLE gnomon.flow_causes (
  workflow text COLLATE "C" NOT NULL,
  input text COLLATE "C" NOT NULL,
  topic text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (workflow, input, topic, id)
);
