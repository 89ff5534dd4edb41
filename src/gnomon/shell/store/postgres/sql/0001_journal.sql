-- Schema 1: the journals of declarative schedulers, and what they know of their tasks.
-- The tables are those of the journal on SQLite; instants are timestamptz, and t_ms is time that
-- never goes back.

CREATE TABLE gnomon.journal_meta (
  name text PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE gnomon.journal_heads (
  namespace text COLLATE "C" PRIMARY KEY,
  fence bigint NOT NULL,
  writes bigint NOT NULL,
  identifier text NOT NULL,
  ended boolean NOT NULL,
  t_ms bigint NOT NULL,
  wall_at timestamptz NOT NULL,
  through_at timestamptz NOT NULL,
  calls bigint NOT NULL,
  entries bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE TABLE gnomon.journal_tasks (
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  record text NOT NULL,
  PRIMARY KEY (namespace, name)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE TABLE gnomon.journal_entries (
  namespace text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  event text NOT NULL,
  t_ms bigint NOT NULL,
  wall_at timestamptz NOT NULL,
  task text NOT NULL,
  call bigint NOT NULL,
  registrations text,
  detail text NOT NULL,
  PRIMARY KEY (namespace, number)
);
