-- Schema 2: what is needed to forget. When an event was last published, whatever became of it by
-- then, and when a producer last ran: an id that is published again and again is never forgotten.

ALTER TABLE events ADD COLUMN published_at TEXT NOT NULL DEFAULT '';
UPDATE events SET published_at = created_at;
ALTER TABLE handlers ADD COLUMN ran_at TEXT;
