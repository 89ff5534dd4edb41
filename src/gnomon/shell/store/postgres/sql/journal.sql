-- The statements of the journal on PostgreSQL.

-- name: get_meta
SELECT value FROM gnomon.journal_meta WHERE name = $1;

-- name: set_meta
INSERT INTO gnomon.journal_meta (name, value) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: head
SELECT fence, writes, identifier, ended, t_ms, wall_at, through_at, calls, entries, looked
FROM gnomon.journal_heads WHERE namespace = :namespace;

-- name: namespaces
SELECT namespace FROM gnomon.journal_heads ORDER BY namespace;

-- name: set_head
-- Only where the head is still the one that was seen.
INSERT INTO gnomon.journal_heads AS head
  (namespace, fence, writes, identifier, ended, t_ms, wall_at, through_at, calls, entries, looked)
VALUES (
  :namespace, :fence, :writes, :identifier, :ended, :t_ms, :wall_at, :through_at, :calls, :entries,
  :looked
)
ON CONFLICT (namespace) DO UPDATE SET
  fence = excluded.fence, writes = excluded.writes, identifier = excluded.identifier,
  ended = excluded.ended, t_ms = excluded.t_ms, wall_at = excluded.wall_at,
  through_at = excluded.through_at, calls = excluded.calls, entries = excluded.entries,
  looked = excluded.looked
WHERE head.fence = :seen_fence AND head.writes = :seen_writes;

-- name: records
SELECT name, record FROM gnomon.journal_tasks WHERE namespace = :namespace ORDER BY name;

-- name: put_record
INSERT INTO gnomon.journal_tasks (namespace, name, record)
SELECT * FROM unnest(:namespace::text[], :name::text[], :record::text[])
ON CONFLICT (namespace, name) DO UPDATE SET record = excluded.record;

-- name: remove_record
DELETE FROM gnomon.journal_tasks t
USING unnest(:namespace::text[], :name::text[]) AS gone (namespace, name)
WHERE t.namespace = gone.namespace AND t.name = gone.name;

-- name: add_entry
INSERT INTO gnomon.journal_entries
  (namespace, number, event, t_ms, wall_at, task, call, registrations, detail)
SELECT * FROM unnest(
  :namespace::text[], :number::bigint[], :event::text[], :t_ms::bigint[], :wall_at::timestamptz[],
  :task::text[], :call::bigint[], :registrations::text[], :detail::text[]
);

-- name: trim
DELETE FROM gnomon.journal_entries WHERE namespace = :namespace AND number <= :through;

-- name: entries
SELECT event, t_ms, wall_at, task, call, registrations, detail, number
FROM gnomon.journal_entries WHERE namespace = :namespace AND number > :after ORDER BY number LIMIT :limit;

-- name: take_lock
SELECT pg_try_advisory_lock(hashtextextended($1, 0));

-- name: holder
SELECT activity.application_name
FROM pg_locks AS held JOIN pg_stat_activity AS activity USING (pid)
WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 1
  AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (held.classid::bigint << 32 | held.objid::bigint) = hashtextextended($1, 0);

-- name: who_am_i
SELECT pid, date_trunc('milliseconds', backend_start) FROM pg_stat_activity WHERE pid = pg_backend_pid();

-- name: end_former
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE pid = $1 AND date_trunc('milliseconds', backend_start) = $2 AND usename = current_user;
