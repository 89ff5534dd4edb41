-- Schema 9: versions of workflows that were removed; they are kept, because a version never changes.

CREATE TABLE removed_workflows (
  user_id TEXT NOT NULL,
  workflow_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  removed_at TEXT NOT NULL,
  PRIMARY KEY (user_id, workflow_id, version)
) WITHOUT ROWID;
