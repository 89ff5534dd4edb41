"""
Does what stands in the tables agree with what was answered, and with the calendar?

Nothing here asks the code that wrote the rows. The lives of rows are judged by what the database
saw of them, the answers by the book, and which periods there are by minutes of the hour. Each rule
yields what is wrong, in words.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from gnomon.core.ledger.period import period_key
from gnomon.ports import Ended, Failed, Launched
from gnomon.shell.store.postgres.pool import Pool
from tests.storm.book import Book
from tests.storm.history import Moment, Row, told

__all__ = ["judge_answers", "judge_rest"]

_STEPS = {
    "planned": ("planned", "queued", "claimed", "done"),
    "queued": ("queued", "claimed", "done"),
    "claimed": ("claimed", "running", "planned", "done"),
    "running": ("running", "claimed", "planned", "done"),
    "done": ("done",),
}
_PERMANENT = ("state", "outcome", "reason", "status", "detail", "ended_at", "fence", "launches")


async def judge_answers(pool: Pool, schema: str, book: Book) -> list[str]:
    """What is wrong with the lives of rows, and where they differ from what was answered."""
    runs = await told(pool, schema, "schedule_runs")
    schedules = await told(pool, schema, "schedules")
    log = await pool.fetch(f"SELECT action, count(*) FROM {schema}.schedule_log GROUP BY action")
    breaches = await pool.fetch(_BREACHES.format(schema=schema))
    return [
        *(line for moment in runs for line in _of_a_life(moment)),
        *(line for moment in schedules for line in _of_a_schedule(moment)),
        *_of_claims(runs, book),
        *_of_commits(runs, book),
        *_of_reports(runs, book),
        *_of_requests(runs, book),
        *_of_the_log(dict(map(tuple, log)), book),
        *_differences("breach", Counter(map(tuple, breaches)), book.breaches),
    ]


async def judge_rest(pool: Pool, schema: str) -> list[str]:
    """What is wrong with the rows as they stand, when no worker and no person is at work."""
    schedules = await pool.fetch(_SCHEDULES.format(schema=schema))
    runs = await pool.fetch(_PERIODS.format(schema=schema))
    found = []
    for schedule_id, cursor, floor, effective_ms, former, definition, is_expected in schedules:
        own = [(first, last) for name, first, last in runs if name == schedule_id]
        found += [
            f"{schedule_id}: a row at {first} lies beyond the cursor, {cursor}"
            for first, last in own
            if last > cursor
        ]
        record = json.loads(definition)
        after = max(floor or 0, former or 0, (effective_ms - 1) // 1000)
        for nominal in _nominals(record["cron_expr"], after, cursor):
            rows = sum(first <= nominal <= last for first, last in own)
            if rows != 1:
                found.append(f"{schedule_id}: {rows} rows for {nominal}, up to the cursor {cursor}")
        if "_by_ms" in json.dumps(record.get("target")) and not is_expected:
            found.append(f"{schedule_id}: no worker will look at what is expected of it")
    orphans = await pool.fetch(_ORPHANS.format(schema=schema))
    return found + [f"{key} is {state}, and its schedule is gone" for key, state in orphans]


_BREACHES = """
SELECT schedule_id, extract(epoch FROM run_at)::bigint, expectation FROM {schema}.breaches
"""
_SCHEDULES = """
SELECT s.schedule_id, extract(epoch FROM s.cursor_at)::bigint,
  extract(epoch FROM s.floor_at)::bigint,
  (SELECT (extract(epoch FROM max(e.effective_at)) * 1000)::bigint
   FROM {schema}.schedule_revisions e WHERE e.schedule_id = s.schedule_id),
  (SELECT extract(epoch FROM max(coalesce(r.last_run_at, r.run_at)))::bigint
   FROM {schema}.schedule_runs r
   WHERE r.schedule_id = s.schedule_id AND r.revision < s.revision
     AND r.idempotency_key NOT LIKE 'manual:%' AND r.idempotency_key NOT LIKE 'backfill:%'),
  v.definition,
  EXISTS (SELECT 1 FROM {schema}.expectations e WHERE e.schedule_id = s.schedule_id)
FROM {schema}.schedules s JOIN {schema}.schedule_revisions v USING (schedule_id, revision)
WHERE s.deleted_at IS NULL
"""
_PERIODS = """
SELECT schedule_id, extract(epoch FROM run_at)::bigint,
  extract(epoch FROM coalesce(last_run_at, run_at))::bigint
FROM {schema}.schedule_runs
WHERE idempotency_key NOT LIKE 'manual:%' AND idempotency_key NOT LIKE 'backfill:%'
"""
_ORPHANS = """
SELECT r.idempotency_key, r.state FROM {schema}.schedule_runs r
LEFT JOIN {schema}.schedules s USING (schedule_id)
WHERE s.schedule_id IS NULL OR s.deleted_at IS NOT NULL AND r.state IN ('planned', 'queued')
"""


def _nominals(expression: str, after: int, until: int) -> Iterator[int]:
    """The multiples of so many minutes of the hour, after an instant and up to another."""
    every = int(expression.split()[0].removeprefix("*/"))
    for minute in range(after // 60 + 1, until // 60 + 1):
        if minute % 60 % every == 0:
            yield minute * 60


def _of_a_life(moment: Moment) -> Iterator[str]:
    was, became = moment.was, moment.became
    if was is None:
        return
    if became is None:
        if was["state"] != "done":
            yield f"{moment.id} was removed while it was {was['state']}"
        return
    if became["state"] not in _STEPS[str(was["state"])] and not _leaves_the_queue(was, became):
        yield f"{moment.id} went from {was['state']} to {became['state']}"
    if was["kill_at"] is not None and _number(became, "launches") > _number(was, "launches"):
        yield f"{moment.id} was to be ended, and was claimed again"
    if was["outcome"] is not None and became["outcome"] != was["outcome"]:
        yield f"{moment.id} was {was['outcome']} and became {became['outcome']}"
    if was["state"] == "done":
        changed = [name for name in _PERMANENT if was[name] != became[name]]
        if changed:
            yield f"{moment.id} was over, and {', '.join(changed)} changed"
    for name in ("fence", "launches"):
        if _number(became, name) < _number(was, name):
            yield f"{moment.id}: {name} fell from {was[name]} to {became[name]}"


def _leaves_the_queue(was: Row, became: Row) -> bool:
    """Who is to be ended waits for its turn no longer."""
    is_asked = was["kill_at"] is None and became["kill_at"] is not None
    return is_asked and (was["state"], became["state"]) == ("queued", "planned")


def _of_a_schedule(moment: Moment) -> Iterator[str]:
    was, became = moment.was, moment.became
    if was is None or became is None:
        return
    for name in ("lock_version", "revision"):
        if _number(became, name) < _number(was, name):
            yield f"{moment.id}: {name} fell from {was[name]} to {became[name]}"
    if str(became["cursor_at"]) < str(was["cursor_at"]):  # texts of one zone, in order
        yield f"{moment.id}: the cursor fell from {was['cursor_at']} to {became['cursor_at']}"
    moved = was["cursor_at"] != became["cursor_at"] or was["revision"] != became["revision"]
    if moved and was["lock_version"] == became["lock_version"]:
        yield f"{moment.id} moved on without a new version"


def _of_claims(runs: Sequence[Moment], book: Book) -> Iterator[str]:
    """Each number of each run was handed to one worker, and each that was written was told."""
    written = Counter[tuple[str, int, str]]()
    for id_, was, became in runs:
        if became is None or became["owner"] is None:
            continue
        if was is None or _number(became, "fence") > _number(was, "fence"):
            written[id_, _number(became, "fence"), str(became["owner"])] += 1
    handed = book.claims + book.adopted
    yield from _differences("claim", written, handed)
    numbers = Counter((key, fence) for key, fence, _ in handed.elements())
    for (key, fence), times in numbers.items():
        if times > 1:
            yield f"{key} was handed out {times} times with the number {fence}"


def _of_commits(runs: Sequence[Moment], book: Book) -> Iterator[str]:
    """What a commit said is over is over, as it said, and came to that once."""
    written = Counter(
        (id_, str(became["outcome"]), str(became["reason"]))
        for id_, was, became in runs
        if became is not None
        and became["state"] == "done"
        and (was is None or was["state"] != "done")
    )
    for one in (book.settled - written).elements():
        yield f"a commit said {one}, and the row says otherwise"


def _of_reports(runs: Sequence[Moment], book: Book) -> Iterator[str]:
    """Each report that was accepted stands in its row, and none that was refused does."""
    seen = {
        (id_, _number(became, "fence"), str(became[name]))
        for id_, _, became in runs
        if became is not None
        for name in ("detail", "run_id")
    }
    said_already = {
        (id_, _number(became, "fence"))
        for id_, _, became in runs
        if became is not None and became["state"] == "done" and became["run_id"] is not None
    }
    for is_accepted, reports in ((True, book.accepted), (False, book.refused)):
        for report in reports:
            match report:
                case Launched():
                    word = report.run_id
                case Ended():
                    word = report.detail
                case Failed():
                    word = report.message
            is_late = is_accepted and (report.key, report.fence) in said_already
            if is_late and isinstance(report, Launched):
                continue  # it came after the end, which had said it all
            if ((report.key, report.fence, word) in seen) != is_accepted:
                said = "accepted" if is_accepted else "refused"
                yield f"{report} was {said}, and the rows say otherwise"
    over = {id_ for id_, _, became in runs if became is not None and became["state"] == "done"}
    for report in book.accepted:
        if isinstance(report, Ended) and report.key not in over:
            yield f"{report} was accepted, and the run is not over"


def _of_requests(runs: Sequence[Moment], book: Book) -> Iterator[str]:
    added = Counter(id_ for id_, was, _ in runs if was is None)
    by_hand = {key for key in added if key.startswith("manual:")}
    for key in by_hand ^ book.asked:
        yield f"{key} was {'added and not told' if key in by_hand else 'told and not added'}"
    backfills = sum(times for key, times in added.items() if key.startswith("backfill:"))
    if backfills != book.backfilled:
        yield f"{backfills} rows of backfills, and {book.backfilled} were told"
    removed = sum(became is None for _, _, became in runs)
    if removed != book.removed:
        yield f"{removed} rows were removed, and {book.removed} were told"
    stopped = {id_ for id_, _, row in runs if row is not None and _is_to_end(row)}
    for key in book.killed - stopped:
        yield f"{key} was to be ended, and goes on"
    launched = {id_ for id_, _, row in runs if row is not None and row["launches"]}
    for schedule_id, nominal in book.skipped:
        if schedule_id not in book.deleted and period_key(schedule_id, nominal) in launched:
            yield f"{schedule_id}: {nominal} was to be left out, and was launched"


def _of_the_log(log: dict[str, int], book: Book) -> Iterator[str]:
    for action in log.keys() | book.logged.keys():
        told_times = book.logged[action]
        more = book.maybe_logged[action]
        if not told_times <= log.get(action, 0) <= told_times + more:
            yield f"{log.get(action, 0)} lines about {action}, and {told_times} changes were told"


def _differences(
    word: str, written: Counter[tuple[str, int, str]], answered: Counter[tuple[str, int, str]]
) -> Iterable[str]:
    for one in (written - answered).elements():
        yield f"{word} {one} was written and not told"
    for one in (answered - written).elements():
        yield f"{word} {one} was told and not written"


def _is_to_end(row: Row) -> bool:
    return row["kill_at"] is not None or row["state"] == "done"


def _number(row: Row, name: str) -> int:
    value = row[name]
    assert isinstance(value, int)
    return value
