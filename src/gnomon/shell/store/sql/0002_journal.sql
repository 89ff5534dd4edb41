-- Schema 2: what has been seen of the clock on the wall, as JSON; empty for what is older.

ALTER TABLE journal_meta ADD COLUMN looked TEXT NOT NULL DEFAULT '';
