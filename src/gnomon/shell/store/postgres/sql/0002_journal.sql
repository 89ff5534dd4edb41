-- Schema 2: what has been seen of the clock on the wall, as JSON; empty for what is older.

ALTER TABLE gnomon.journal_heads ADD COLUMN looked text NOT NULL DEFAULT '';
