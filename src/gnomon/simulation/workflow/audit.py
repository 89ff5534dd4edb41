"""
Was every mutation made once, and none lost? From the tables alone, and from what is outside.

The tables are read with plain SQL; nothing of the machine, the store or the host is used. While the
world lasts, each commit is looked at: one run at work, and no phase that goes back. When it has
come to rest, every item must have been shipped once and billed once, unless a person said to skip
it; nothing may be left reserved or pending; and each application outside must be followed by a run
that was committed and knows of it. What was done after a backup that was restored since is not
known to the store: that may be done again, under another key. And whatever fails, nothing is called
in a circle, and the person is not asked twice about what has not changed. The person is told of
each script that could not be loaded for so long that the host looked twice, once, and of no other.

Spec: WSIM-4 to WSIM-7, WSIM-13, WSIM-15 to WSIM-17.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from gnomon.simulation.workflow.outside import Application, Lack, Outside, Question

__all__ = ["Auditor", "audit", "hurried", "is_at_rest", "unloadable", "weathered"]

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
FRUITLESS_MAX = 20
VAIN_MAX = 50
"""In an hour, with three outages a few minutes apart, each tried often in its first minutes."""
TRIES_UNTOLD = 5
BEGUN_MAX = 500
PHASES = ("preparing", "prepared", "mutating", "mutated", "emitting", "committed")
TOPICS = {"ship": "orders", "bill": "shipped"}
LOOKS_MS = 600_000
PAUSE_MS = 900_000
"""After that long without a look it could be loaded meanwhile."""
TELLING_MS = 60_000


class Auditor:
    """Looks at the tables after each commit."""

    def __init__(self, tables: Callable[[], sqlite3.Connection]) -> None:
        self._tables = tables
        self._phases: dict[int, int] = {}

    def forget(self) -> None:
        """The store is another now."""
        self._phases.clear()

    def look(self) -> list[str]:
        """What is wrong right now."""
        found = []
        rows = (
            self._tables()
            .execute("SELECT number, phase, status FROM runs ORDER BY number DESC LIMIT 3")
            .fetchall()
        )
        active = [number for number, _, status in rows if status == "active"]
        if len(active) > 1:
            found.append(f"runs {active} are active at once")
        for number, phase, _ in rows:
            rank = PHASES.index(phase)
            if rank < self._phases.get(number, 0):
                found.append(f"run {number} went back to {phase}")
            self._phases[number] = rank
        return found


def audit(connection: sqlite3.Connection, outside: Outside, items: list[str]) -> Iterator[str]:
    """What is wrong after everything has come to rest."""
    yield from _twice(outside)
    yield from _asked_again(outside)
    yield from _unsettled(connection)
    statuses = _events(connection)
    known = [id for topic, id in statuses if topic == "orders"]
    for item in dict.fromkeys([*items, *known]):
        yield from _item(item, statuses, outside)
    yield from _conclusions(connection, outside)
    yield from _counts(connection)
    yield from _chains(connection)
    for number, error in connection.execute(
        "SELECT number, error_details FROM runs WHERE error_details LIKE '%wakeAt%'"
    ):
        yield f"run {number} failed because of what it wished for: {error}"


def hurried(fruitless: list[int], begun: list[int]) -> Iterator[str]:
    """Whether a tool was called in vain, or handlers were called, more often than anybody waits."""
    for what, times, most in (
        ("a tool was called in vain", fruitless, FRUITLESS_MAX),
        ("handlers were called", begun, BEGUN_MAX),
    ):
        yield from _crowded(what, times, most, MINUTE_MS)


def weathered(connection: sqlite3.Connection, outside: Outside, *, lives: int) -> Iterator[str]:
    """Whether outages were borne: with few calls, and each told of once by each life."""
    yield from _crowded("what is away was called", outside.fruitless, VAIN_MAX, HOUR_MS)
    before: dict[int, int] = {}
    failed: Counter[int] = Counter()
    for number, retry_of, status in connection.execute(
        "SELECT number, retry_of, status FROM runs ORDER BY number"
    ):
        before[number] = before.get(retry_of, number)
        failed[before[number]] += status == "paused:transient"
    told = Counter(
        (life, before[run] if status == "paused:transient" else run, status)
        for life, run, status in outside.told
        if status in ("paused:transient", "paused:reconciliation")
    )
    for (life, first, status), times in told.items():
        if times > 1:
            yield f"{life} told {times} times of run {first} and what followed it, {status}"
    known = {first for _, first, status in told if status == "paused:transient"}
    for first, times in failed.items():
        if times > TRIES_UNTOLD + lives and first not in known:
            yield f"{times} tries in a row failed from run {first} on, and the person heard nothing"


def unloadable(outside: Outside) -> Iterator[str]:
    """What was not told, told again, or told of a script that could be loaded."""
    left = list(outside.told_lacking)
    for spell in _spells(outside.lacked):
        first, last = spell[0], spell[-1]
        told = [
            one
            for one in left
            if one[:3] == first[:3] and first.at <= one.at <= last.at + TELLING_MS
        ]
        left = [one for one in left if one not in told]
        looked = [one.at for one in spell if not one.is_paused]
        must = len(looked) > 1 and looked[-1] - looked[0] >= LOOKS_MS
        if len(told) > 1 or (must and not told):
            yield (
                f"version {first.version} could not be loaded from {first.at} until {last.at}"
                f" ({first.cause}), and {first.life} told of it {len(told)} times"
            )
    for one in left:
        yield f"{one.life} told that version {one.version} cannot be loaded: {one.cause!r}"


def is_at_rest(connection: sqlite3.Connection, items: list[str]) -> bool:
    """Whether nothing is left to do: all items are in, nothing is pending, open or in trouble."""
    (left,) = connection.execute(
        "SELECT count(*) FROM events WHERE status IN ('pending', 'reserved')"
    ).fetchone()
    (open_runs,) = connection.execute(
        "SELECT count(*) FROM workflows WHERE current IS NOT NULL OR trouble <> ''"
    ).fetchone()
    known = {id for (id,) in connection.execute("SELECT id FROM events WHERE topic = 'orders'")}
    return not left and not open_runs and known.issuperset(items)


def _crowded(what: str, times: list[int], most: int, within_ms: int) -> Iterator[str]:
    for first, last in zip(times, times[most:], strict=False):
        if last - first < within_ms:
            unit = "minute" if within_ms == MINUTE_MS else "hour"
            yield f"{what} more than {most} times in the {unit} from {first} on"
            return


def _twice(outside: Outside) -> Iterator[str]:
    by_key: dict[str, list[Application]] = {}
    for one in outside.applications:
        by_key.setdefault(one.key, []).append(one)
    for key, found in by_key.items():
        # A backup may know the key, because a person was asked about it, and not that it was made.
        lasting = [one for one in found if not outside.is_forgotten(one.at)]
        if len(found) > 1 and (len(lasting) > 1 or len({one.items for one in found}) > 1):
            yield f"{key} was applied {len(found)} times"
    done = Counter((one.tool, item) for one in outside.applications for item in one.items)
    for (tool, item), times in done.items():
        known = sum(
            one.tool == tool and item in one.items and not outside.is_forgotten(one.at)
            for one in outside.applications
        )
        if times > 1 and (known > 1 or not outside.restored):
            yield f"{tool} of {item} was done {times} times"


def _asked_again(outside: Outside) -> Iterator[str]:
    """What a person has approved last, and was asked about again by an attempt that follows."""
    approved: Question | None = None
    for one in outside.asked:
        before = None if approved is None else (*approved[:2], approved.granted)
        if approved is not None and before == one[:3] and one.first == approved.first:
            is_restored = any(approved.at <= until <= one.at for _, until in outside.restored)
            if not is_restored:
                yield f"{one.tool} of {one.params} was approved at {approved.at}, asked at {one.at}"
        approved = one if one.granted is not None else None


def _unsettled(connection: sqlite3.Connection) -> Iterator[str]:
    for topic, id, status in connection.execute("SELECT topic, id, status FROM events"):
        if status not in ("consumed", "skipped"):
            yield f"{topic}/{id} is stuck: {status}"
    for number, phase, status in connection.execute(
        "SELECT number, phase, status FROM runs WHERE number IN (SELECT current FROM workflows)"
    ):
        yield f"run {number} is stuck: {phase}, {status}"


def _events(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    rows = connection.execute("SELECT topic, id, status FROM events")
    return {(topic, id): status for topic, id, status in rows}


def _item(item: str, statuses: dict[tuple[str, str], str], outside: Outside) -> Iterator[str]:
    for tool, topic in TOPICS.items():
        status = statuses.get((topic, item))
        times = [one.at for one in outside.applications if one.tool == tool and item in one.items]
        done = len(times)
        if status is None:
            yield f"{item} never came to {topic}"
            return
        if status == "consumed" and not done:
            yield f"{topic}/{item} was consumed without its {tool}"
        if status == "skipped":
            if not all(outside.is_forgotten(at) for at in times):
                yield f"{topic}/{item} was skipped after its {tool}"
            return


def _conclusions(connection: sqlite3.Connection, outside: Outside) -> Iterator[str]:
    """Each application is known, and a run that knows it was committed: `next` has run."""
    rows = connection.execute(
        "SELECT mutations.idempotency_key, mutations.status, count(runs.number) FROM mutations"
        " LEFT JOIN runs ON runs.mutation = mutations.run AND runs.status = 'committed'"
        "   AND runs.mutation_result LIKE '%applied%'"
        " GROUP BY mutations.idempotency_key, mutations.status"
    )
    known = {key: (status, commits) for key, status, commits in rows}
    for one in outside.applications:
        if outside.is_forgotten(one.at) and one.key not in known:
            continue
        if known.get(one.key) != ("applied", 1):
            yield f"{one.key} was applied, but the tables say {known.get(one.key)}"
    applied = {one.key for one in outside.applications}
    for key, (status, commits) in known.items():
        if (status == "applied" or commits) and key not in applied:
            yield f"{key} is {status} in the tables, but was never applied"


def _counts(connection: sqlite3.Connection) -> Iterator[str]:
    for name, counted, real in connection.execute(
        "SELECT name, pending, (SELECT count(*) FROM events WHERE topic = name"
        " AND status = 'pending') FROM topics"
    ):
        if counted != real:
            yield f"topic {name} counts {counted} pending events, and has {real}"


def _chains(connection: sqlite3.Connection) -> Iterator[str]:
    """Each attempt follows one of the same handler, no two follow the same, none is passed over."""
    rows = connection.execute("SELECT number, handler, retry_of, status FROM runs").fetchall()
    runs = {number: (handler, status) for number, handler, _, status in rows}
    followed = Counter(before for *_, before, _ in rows if before is not None)
    for number, handler, before, _ in rows:
        if before is not None and runs[before][0] != handler:
            yield f"run {number} of {handler} follows one of {runs[before][0]}"
    for number, (_, status) in runs.items():
        times = followed[number]
        if times > 1 or (status == "committed") == bool(times):
            yield f"run {number} is {status} and was followed by {times}"


def _spells(lacked: Sequence[Lack]) -> list[list[Lack]]:
    """Times in which the same could not be loaded for the same cause, without a break."""
    spells: list[list[Lack]] = []
    for one in lacked:
        latest = spells[-1][-1] if spells else None
        if latest is None or latest[:3] != one[:3] or one.at - latest.at > PAUSE_MS:
            spells.append([])
        spells[-1].append(one)
    return spells
