"""
Does the ledger tell the truth about what the commands did?

The judge shares no code with Gnomon. It reads the ledger with plain SQL, the commands' own file,
where each of them has written a line, and the calendar, which for these schedules is counting.
"""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import asyncpg

__all__ = [
    "Row", "Table", "Verdict", "judge", "judge_database", "judge_tables", "tables_of",
    "tables_of_database",
]  # fmt: skip

_COLUMNS = "run_at, coalesce(last_run_at, run_at), periods, state, outcome, reason, status"


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What was compared, and what was wrong."""

    periods: int = 0
    executed: int = 0
    lines: int = 0
    unseen: int = 0
    """Executed by the ledger, without a line: the worker died between commit and release, or the
    run was replaced before it came to write one."""
    outcomes: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


class Table(NamedTuple):
    """What a ledger has of a schedule: when it was saved first, and its rows."""

    created: float
    rows: "list[Row]"


@dataclass(frozen=True, slots=True)
class Row:
    first: int
    last: int
    periods: int
    state: str
    outcome: str | None
    reason: str | None
    status: str | None


def judge(
    store: Path,
    log: Path,
    intervals: dict[str, int],
    *,
    until: int,
    open_for: Mapping[str, int] | None = None,
) -> Verdict:
    """
    Compare; `until` is an instant up to which every period has to be accounted for.

    `open_for` is how many seconds the window of a schedule is open after a period. A period whose
    window was open when the schedule was first saved may be there, and need not.
    """
    tables = tables_of(store, list(intervals))
    return judge_tables(tables, log, intervals, until=until, open_for=open_for)


def judge_database(
    url: str, log: Path, intervals: dict[str, int], *, until: int, certain: dict[str, int]
) -> Verdict:
    """The same for a ledger on PostgreSQL; `certain` were to be executed, each up to an instant."""
    tables = tables_of_database(url, list(intervals))
    verdict = judge_tables(tables, log, intervals, until=until)
    for name, manned in certain.items():
        missed = [row for row in tables[name].rows if row.outcome != "executed"]
        verdict.problems += [
            f"{name} {row.first}: {row.outcome}({row.reason}), and had to be executed"
            for row in missed
            if row.first <= manned
        ]
    return verdict


def tables_of(store: Path, names: list[str]) -> dict[str, Table]:
    """What a ledger on SQLite has of these schedules."""
    query = f"SELECT {_COLUMNS} FROM schedule_runs WHERE schedule_id = ?"
    tables: dict[str, Table] = {}
    with sqlite3.connect(store) as connection:
        for name in names:
            (created,) = connection.execute(
                "SELECT created_at FROM schedules WHERE schedule_id = ?", (name,)
            ).fetchone()
            rows = [
                Row(int(_instant(first)), int(_instant(last)), *rest)
                for first, last, *rest in connection.execute(query, (name,))
            ]
            tables[name] = Table(_instant(created), rows)
    connection.close()
    return tables


def tables_of_database(url: str, names: list[str]) -> dict[str, Table]:
    """What a ledger on PostgreSQL has of them."""
    return asyncio.run(_read(url, names))


def judge_tables(
    tables: "dict[str, Table]",
    log: Path,
    intervals: dict[str, int],
    *,
    until: int,
    open_for: Mapping[str, int] | None = None,
) -> Verdict:
    verdict = Verdict()
    written = Counter(_lines(log, verdict))
    verdict.lines = written.total()
    verdict.problems += [f"{key} was executed {n} times" for key, n in written.items() if n > 1]
    for name, interval in intervals.items():
        created, rows = tables[name]
        opened = created - (open_for or {}).get(name, 0)
        ran = {period: n for (owner, period), n in written.items() if owner == name}
        _judge_cover(verdict, name, rows, interval, created, until, opened=opened)
        _judge_runs(verdict, name, rows, ran)
    strangers = {name for name, _ in written} - set(intervals)
    verdict.problems += [f"{name} ran and is no schedule" for name in strangers]
    return verdict


def _judge_cover(
    verdict: Verdict,
    name: str,
    rows: list[Row],
    interval: int,
    created: float,
    until: int,
    *,
    opened: float,
) -> None:
    """Each period from the first to the last has exactly one row, with an outcome."""
    covered: Counter[int] = Counter()
    for row in rows:
        periods = range(row.first, row.last + 1, interval)
        covered.update(periods)
        if len(periods) != row.periods:
            verdict.problems.append(f"{name}: a row says {row.periods} and holds {len(periods)}")
        if row.state != "done" or row.outcome is None:
            verdict.problems.append(f"{name} {row.first}: left as {row.state}, {row.outcome}")
        verdict.outcomes[f"{row.outcome}({row.reason or ''})"] += row.periods
    first = -int(-created // interval) * interval
    last = until // interval * interval
    owed = range(first, last + 1, interval)
    missing = [period for period in owed if not covered[period]]
    verdict.problems += [f"{name} {period}: not accounted for" for period in missing]
    twice = [period for period, count in covered.items() if count > 1]
    verdict.problems += [f"{name} {period}: accounted for twice" for period in twice]
    early = [period for period in covered if period % interval or period < min(first, opened)]
    verdict.problems += [f"{name} {period}: was never owed" for period in early]
    verdict.periods += len(covered)


def _judge_runs(verdict: Verdict, name: str, rows: list[Row], ran: dict[int, int]) -> None:
    """What has a line was executed, and what was seen to come to its end has a line."""
    executed = {row.first: row for row in rows if row.outcome == "executed"}
    verdict.executed += len(executed)
    for period in ran.keys() - executed.keys():
        verdict.problems.append(f"{name} {period}: ran, and the ledger denies it")
    for period in executed.keys() - ran.keys():
        verdict.unseen += 1
        if executed[period].reason not in ("uncertain", "replaced"):
            verdict.problems.append(f"{name} {period}: came to its end without having run")


async def _read(url: str, names: list[str]) -> "dict[str, Table]":
    tables: dict[str, Table] = {}
    connection = await asyncpg.connect(url)
    query = f"SELECT {_COLUMNS} FROM gnomon.schedule_runs WHERE schedule_id = $1"
    for name in names:
        created = await connection.fetchval(
            "SELECT created_at FROM gnomon.schedules WHERE schedule_id = $1", name
        )
        rows = [
            Row(int(first.timestamp()), int(last.timestamp()), *rest)
            for first, last, *rest in await connection.fetch(query, name)
        ]
        tables[name] = Table(created.timestamp(), rows)
    await connection.close()
    return tables


def _lines(log: Path, verdict: Verdict) -> Iterator[tuple[str, int]]:
    for line in log.read_text().splitlines() if log.exists() else []:
        name, period, end = line.split(" ")
        if end != "ran":
            verdict.problems.append(f"a torn line: {line!r}")
        yield name, int(_instant(period))


def _instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
