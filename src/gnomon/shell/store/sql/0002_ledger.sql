-- Schema 2: an end asks whether there are queues at all before it looks for the one to wake.

CREATE INDEX schedules_queueing ON schedules (schedule_id) WHERE overlap_policy = 'queue';
