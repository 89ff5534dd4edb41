-- Schema 2: what is needed to forget. When an event was last published, whatever became of it by
-- then, and when a producer last ran: an id that is published again and again is never forgotten.

ALTER TABLE gnomon.flow_events ADD COLUMN published_at timestamptz;
UPDATE gnomon.flow_events SET published_at = created_at;
ALTER TABLE gnomon.flow_events ALTER COLUMN published_at SET NOT NULL;
ALTER TABLE gnomon.flow_handlers ADD COLUMN ran_at timestamptz;
