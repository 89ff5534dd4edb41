-- Schema 3: an approval names the mutation that it approves; a failure keeps its traceback; a
-- script keeps the modules beside it; a workflow says why its script cannot be loaded; an event knows
-- how many rounds of consumers it was made of.

ALTER TABLE runs DROP COLUMN approved;
ALTER TABLE runs ADD COLUMN asked TEXT;
ALTER TABLE runs ADD COLUMN approved TEXT;
ALTER TABLE runs ADD COLUMN traceback TEXT NOT NULL DEFAULT '';
ALTER TABLE scripts ADD COLUMN modules TEXT NOT NULL DEFAULT '{}';
ALTER TABLE workflows ADD COLUMN trouble TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN rounds INTEGER NOT NULL DEFAULT 0;
