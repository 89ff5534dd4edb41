-- Schema 9: versions of DAGs that were removed; they are kept, because a version never changes. As in
-- schema 4, the table was called removed_workflows until schema 11.

CREATE TABLE gnomon.removed_dags (
  user_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  removed_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, workflow_id, version)
);
