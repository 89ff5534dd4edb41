-- The statements of the journal.

-- name: head
SELECT fence, writes, identifier, ended, t_ms, wall_at, through_at, calls, entries, looked
FROM journal_meta WHERE namespace = :namespace;

-- name: namespaces
SELECT namespace FROM journal_meta ORDER BY namespace;

-- name: set_head
-- Only where the head is still the one that was seen.
INSERT INTO journal_meta AS head
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
SELECT name, record FROM tasks WHERE namespace = :namespace ORDER BY name;

-- name: put_record
INSERT INTO tasks (namespace, name, record) VALUES (:namespace, :name, :record)
ON CONFLICT (namespace, name) DO UPDATE SET record = excluded.record;

-- name: remove_record
DELETE FROM tasks WHERE namespace = :namespace AND name = :name;

-- name: add_entry
INSERT INTO journal (namespace, number, event, t_ms, wall_at, task, call, registrations, detail)
VALUES (
  :namespace, :number, :event, :t_ms, :wall_at, :task, :call, :registrations, :detail
);

-- name: trim
DELETE FROM journal WHERE namespace = :namespace AND number <= :through;

-- name: entries
SELECT event, t_ms, wall_at, task, call, registrations, detail, number
FROM journal WHERE namespace = :namespace AND number > :after ORDER BY number LIMIT :limit;
