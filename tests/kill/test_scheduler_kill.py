"""A program with a scheduler is killed twenty times; the callbacks' own file shows the promise."""

from collections import Counter
from pathlib import Path

import pytest

from tests.clauses import clause
from tests.kill.scheduler_judge import Verdict, Written, judge
from tests.kill.scheduler_world import run_world

KILLS = 10
LINES = [
    "start tick 2026-03-01T00:00:00Z 1 due .",
    "failure tick 2026-03-01T00:00:00Z 1 due .",
    "start tick 2026-03-01T00:00:00Z 2 retry .",
    "killed",
    "start tick 2026-03-01T00:00:00Z 3 interrupted .",
    "success tick 2026-03-01T00:00:00Z 3 interrupted .",
    "start tick 2026-03-01T00:00:02Z 1 due .",
    "success tick 2026-03-01T00:00:02Z 1 due .",
]


@clause("SIM-17")
@pytest.mark.parametrize("seed", ["north", "south"])
def test_a_killed_scheduler_loses_nothing_and_starts_nothing_that_is_not_owed(seed: str) -> None:
    outcome = run_world(seed, KILLS)

    assert outcome.problems == [], f"python -m tests.kill.scheduler_world {seed} {KILLS}"
    assert outcome.kills == KILLS
    assert outcome.verdict.starts > 0


@clause("SIM-17", "JOURNAL-11")
def test_a_killed_scheduler_on_postgresql_loses_nothing_either(database: str) -> None:
    outcome = run_world("west", KILLS, database)

    assert outcome.problems == []
    assert outcome.kills == KILLS
    assert outcome.verdict.starts > 0


def verdict(folder: Path, lines: list[str], *, written: list[str] | None = None) -> Verdict:
    log = folder / "calls.txt"
    log.write_text("".join(f"{line}\n" for line in lines))
    starts = Counter[tuple[str, str]]()
    for line in lines if written is None else written:
        if line.startswith("start") and line.endswith(" ."):
            _, task, period, attempt, reason, _ = line.split()
            starts[task, f"{reason} {period} attempt {attempt}"] += 1
    return judge(Written(starts, crashes=0), log, {"tick": 1})


def test_callbacks_that_were_owed_are_acquitted(tmp_path: Path) -> None:
    found = verdict(tmp_path, LINES)

    assert found.problems == []
    assert (found.starts, found.lives, found.unseen) == (4, 1, 0)


@pytest.mark.parametrize(
    ("problem", "lines"),
    [
        ("its last run is going on", [*LINES[:1], *LINES[6:]]),
        ("this occurrence had its run", [*LINES, LINES[6], LINES[7]]),
        ("no failure came before it", [LINES[0], LINES[2].replace("failure", "success"), *LINES]),
        ("no process has died", [*LINES[:3], *LINES[4:]]),
        ("ended and had not begun", [LINES[1], *LINES]),
        ("was running when stop had returned", LINES[:-1]),
        ("did not start in the last life", LINES[:4]),
        ("is torn", ["start tick 2026-03-01T00:0", *LINES]),
        ("is no task", [LINES[0].replace("tick", "tock"), *LINES]),
    ],
)
def test_each_kind_of_broken_promise_is_noticed(
    problem: str, lines: list[str], tmp_path: Path
) -> None:
    assert any(problem in found for found in verdict(tmp_path, lines).problems)


def test_a_call_whose_start_was_not_written_is_noticed(tmp_path: Path) -> None:
    found = verdict(tmp_path, LINES, written=LINES[:-2])

    expected = "('tick', 'due 2026-03-01T00:00:02Z attempt 1') was called 1 times, written 0"
    assert found.problems == [expected]
