-- Schema 1: the journal of a declarative scheduler, and what it knows of its tasks.
-- Instants are RFC 3339 texts in UTC with milliseconds; t_ms is time that never goes back.

CREATE TABLE journal_meta (
  namespace TEXT NOT NULL PRIMARY KEY,
  fence INTEGER NOT NULL,
  writes INTEGER NOT NULL,
  identifier TEXT NOT NULL,
  ended INTEGER NOT NULL,
  t_ms INTEGER NOT NULL,
  wall_at TEXT NOT NULL,
  through_at TEXT NOT NULL,
  calls INTEGER NOT NULL,
  entries INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE tasks (
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (namespace, name)
) WITHOUT ROWID;

CREATE TABLE journal (
  namespace TEXT NOT NULL,
  number INTEGER NOT NULL,
  event TEXT NOT NULL,
  t_ms INTEGER NOT NULL,
  wall_at TEXT NOT NULL,
  task TEXT NOT NULL,
  call INTEGER NOT NULL,
  registrations TEXT,
  detail TEXT NOT NULL,
  PRIMARY KEY (namespace, number)
) WITHOUT ROWID;
