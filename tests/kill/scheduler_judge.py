"""
Does the journal tell the truth about what the callbacks did, and was everything owed?

The judge shares no code with Gnomon. It reads the journal with plain SQL, the callbacks' own file,
with a line for every life that ended, and the calendar, which for these tasks is counting.
"""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import asyncpg

__all__ = ["Verdict", "Written", "judge", "read_database", "read_file"]

_STARTS = "SELECT task, detail FROM {} WHERE event = 'RunStart'"
_CRASHES = "SELECT count(*) FROM {} WHERE event = 'UnexpectedShutdown'"


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What was compared, and what was wrong."""

    starts: int = 0
    lives: int = 0
    unseen: int = 0
    """Starts that were written and never seen: the process died in between."""
    reasons: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Task:
    """What is known about one task, line by line."""

    interval: int
    open: tuple[int, int] | None = None
    """The run that goes on: its period and attempt."""
    failed: tuple[int, int] | None = None
    died: bool = False
    """Whether a process has died since the latest line."""
    latest: int = 0
    starts_in_life: int = 0


class Written(NamedTuple):
    """What a journal says: how often each start, and how many crashes."""

    starts: Counter[tuple[str, str]]
    crashes: int


def read_file(store: Path) -> Written:
    connection = sqlite3.connect(store)
    starts = Counter[tuple[str, str]](connection.execute(_STARTS.format("journal")))
    (crashes,) = connection.execute(_CRASHES.format("journal")).fetchone()
    connection.close()
    return Written(starts, crashes)


def read_database(url: str) -> Written:
    async def read() -> Written:
        connection = await asyncpg.connect(url)
        rows = await connection.fetch(_STARTS.format("gnomon.journal_entries"))
        crashes = await connection.fetchval(_CRASHES.format("gnomon.journal_entries"))
        await connection.close()
        return Written(Counter((row[0], row[1]) for row in rows), crashes)

    return asyncio.run(read())


def judge(written: Written, log: Path, intervals: Mapping[str, int]) -> Verdict:
    """Compare; the last life has been stopped as it should."""
    verdict = Verdict()
    tasks = {name: _Task(interval) for name, interval in intervals.items()}
    seen = Counter[tuple[str, str]]()
    for number, line in enumerate(log.read_text().splitlines(), 1):
        for problem in _judge_line(line, tasks, seen, verdict):
            verdict.problems.append(f"line {number}, {line!r}: {problem}")
    for name, task in tasks.items():
        if task.open is not None:
            verdict.problems.append(f"{name} was running when stop had returned")
        if not task.starts_in_life:
            verdict.problems.append(f"{name} did not start in the last life")
    _judge_journal(written, seen, verdict)
    return verdict


def _judge_line(
    line: str, tasks: dict[str, _Task], seen: Counter[tuple[str, str]], verdict: Verdict
) -> list[str]:
    if line == "killed":
        verdict.lives += 1
        for task in tasks.values():
            task.died, task.starts_in_life = True, 0
        return []
    parts = line.split(" ")
    if len(parts) != 6 or parts[-1] != ".":
        return ["is torn"]
    what, name, period, attempt, reason, _ = parts
    if name not in tasks:
        return ["is no task"]
    run = _instant(period), int(attempt)
    if what != "start":
        return _end(tasks[name], what, run)
    verdict.starts += 1
    verdict.reasons[reason] += 1
    seen[name, f"{reason} {period} attempt {attempt}"] += 1
    return _start(tasks[name], run, reason)


def _start(task: _Task, run: tuple[int, int], reason: str) -> list[str]:
    problems = []
    period, attempt = run
    if task.open is not None and not task.died:
        problems.append("its last run is going on")
    if period % task.interval:
        problems.append("is no occurrence")
    if reason == "due" and (attempt != 1 or period <= task.latest):
        problems.append("was not owed: this occurrence had its run")
    if reason == "retry" and not task.died and task.failed != (period, attempt - 1):
        problems.append("was not owed: no failure came before it")
    if reason == "interrupted" and not task.died:
        problems.append("was not owed: no process has died")
    task.open, task.failed, task.died = run, None, False
    task.latest = max(task.latest, period)
    task.starts_in_life += 1
    return problems


def _end(task: _Task, what: str, run: tuple[int, int]) -> list[str]:
    problems = [] if task.open == run else ["ended and had not begun"]
    task.open = None
    task.failed = run if what == "failure" else None
    return problems


def _judge_journal(journal: Written, seen: Counter[tuple[str, str]], verdict: Verdict) -> None:
    """Every call has its start in the journal; what has none was cut off by a death."""
    written, crashes = journal
    for key, count in seen.items():
        if count > written[key]:
            verdict.problems.append(f"{key} was called {count} times, written {written[key]}")
    verdict.unseen = (written - seen).total()
    if verdict.unseen > len({name for name, _ in written}) * verdict.lives:
        verdict.problems.append(f"{verdict.unseen} starts were never called")
    if crashes > verdict.lives:
        verdict.problems.append(f"{crashes} crashes were written, and {verdict.lives} happened")


def _instant(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())
