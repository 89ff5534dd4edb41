-- Schema 3: an approval names the mutation that it approves; a failure keeps its traceback; a
-- script keeps the modules beside it; a workflow says why its script cannot be loaded; an event knows
-- how many rounds of consumers it was made of.

ALTER TABLE gnomon.flow_runs DROP COLUMN approved;
ALTER TABLE gnomon.flow_runs ADD COLUMN asked text;
ALTER TABLE gnomon.flow_runs ADD COLUMN approved text;
ALTER TABLE gnomon.flow_runs ADD COLUMN traceback text NOT NULL DEFAULT '';
ALTER TABLE gnomon.flow_scripts ADD COLUMN modules text NOT NULL DEFAULT '{}';
ALTER TABLE gnomon.flows ADD COLUMN trouble text NOT NULL DEFAULT '';
ALTER TABLE gnomon.flow_events ADD COLUMN rounds bigint NOT NULL DEFAULT 0;
