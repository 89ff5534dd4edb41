-- Schema 9: versions of workflows that were removed; they are kept, because a version never changes.

CREATE TABLE gnomon.removed_workflows (
  user_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  removed_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, workflow_id, version)
);
