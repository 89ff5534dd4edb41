-- Schema 4: which workflows were removed, and with which fencing number, so that a host that held
-- one of them is not taken for the holder of another that has its name.

CREATE TABLE removed_workflows (
  name TEXT NOT NULL PRIMARY KEY,
  fence INTEGER NOT NULL
) WITHOUT ROWID;
