"""The judge of the kills notices what it is there to notice."""

import sqlite3
from pathlib import Path

import pytest

from tests.kill.judge import Row as JudgedRow
from tests.kill.judge import Verdict, judge
from tests.kill.lives import where_it_died
from tests.kill.service_world import judge_strictly

Row = tuple[str, str | None, int, str, str | None, str | None, str | None]

ROWS: list[Row] = [
    ("2026-03-01T00:00:00.000Z", None, 1, "done", "executed", None, "SUCCESS"),
    ("2026-03-01T00:00:01.000Z", None, 1, "done", "skipped", "overlap", "SKIPPED"),
    ("2026-03-01T00:00:02.000Z", "2026-03-01T00:00:04.000Z", 3, "done", "missed", "outage", None),
    ("2026-03-01T00:00:05.000Z", None, 1, "done", "executed", "uncertain", "FAILED"),
]
LINES = ["tick 2026-03-01T00:00:00Z ran"]
UNTIL = 1_772_323_205
"""2026-03-01T00:00:05Z."""


def verdict(
    folder: Path, rows: list[Row], lines: list[str], *, until: int = UNTIL, open_for: int = 0
) -> Verdict:
    store, log = folder / "ledger.sqlite3", folder / "jobs.txt"
    log.write_text("".join(f"{line}\n" for line in lines))
    connection = sqlite3.connect(store)
    connection.execute("CREATE TABLE schedules (schedule_id, created_at)")
    connection.execute("INSERT INTO schedules VALUES ('tick', '2026-02-28T23:59:59.001Z')")
    connection.execute(
        "CREATE TABLE schedule_runs "
        "(schedule_id, run_at, last_run_at, periods, state, outcome, reason, status)"
    )
    statement = "INSERT INTO schedule_runs VALUES ('tick', ?, ?, ?, ?, ?, ?, ?)"
    connection.executemany(statement, rows)
    connection.commit()
    connection.close()
    return judge(store, log, {"tick": 1}, until=until, open_for={"tick": open_for})


def test_a_ledger_that_tells_the_truth_is_acquitted(tmp_path: Path) -> None:
    found = verdict(tmp_path, ROWS, LINES)

    assert found.problems == []
    assert (found.periods, found.executed, found.lines, found.unseen) == (6, 2, 1, 1)


@pytest.mark.parametrize(
    ("problem", "rows", "lines"),
    [
        ("was executed 2 times", ROWS, LINES * 2),
        ("ran, and the ledger denies it", ROWS, [*LINES, "tick 2026-03-01T00:00:01Z ran"]),
        ("came to its end without having run", ROWS, []),
        ("not accounted for", ROWS[:1] + ROWS[2:], LINES),
        ("accounted for twice", [*ROWS, ROWS[1]], LINES),
        ("left as running", [(*ROWS[0][:3], "running", *ROWS[0][4:]), *ROWS[1:]], LINES),
        ("was never owed", [("2026-02-28T23:59:59.000Z", *ROWS[1][1:]), *ROWS], LINES),
        ("a row says 2 and holds 3", [*ROWS[:2], (*ROWS[2][:2], 2, *ROWS[2][3:]), ROWS[3]], LINES),
        ("ran and is no schedule", ROWS, [*LINES, "tock 2026-03-01T00:00:01Z ran"]),
        ("a torn line", ROWS, ["tick 2026-03-01T00:00:00Z rantick"]),
    ],
)
def test_each_kind_of_untruth_is_noticed(
    problem: str, rows: list[Row], lines: list[str], tmp_path: Path
) -> None:
    assert any(problem in found for found in verdict(tmp_path, rows, lines).problems)


def test_time_that_has_passed_without_a_row_is_noticed(tmp_path: Path) -> None:
    found = verdict(tmp_path, ROWS, LINES, until=UNTIL + 1)

    assert found.problems == ["tick 1772323206: not accounted for"]


@pytest.mark.parametrize(
    ("open_for", "earlier", "is_owed"),
    [(1, "59", True), (1, "58", False), (2, "58", True), (2, "57", False)],
)
def test_a_period_whose_window_was_open_at_first_may_be_there(
    open_for: int, earlier: str, is_owed: bool, tmp_path: Path
) -> None:
    rows = [(f"2026-02-28T23:59:{earlier}.000Z", *ROWS[1][1:]), *ROWS]

    found = verdict(tmp_path, rows, LINES, open_for=open_for)

    assert any("never owed" in one for one in found.problems) is not is_owed


def test_a_period_whose_window_was_open_at_first_need_not_be_there(tmp_path: Path) -> None:
    assert verdict(tmp_path, ROWS, LINES, open_for=2).problems == []


@pytest.mark.parametrize("name", ["all", "slow", "queue", "spread"])
def test_no_run_of_a_service_may_be_left_uncertain(name: str) -> None:
    row = JudgedRow(UNTIL, UNTIL, 1, "done", "executed", "uncertain", "FAILED")

    assert judge_strictly(name, [row]) == [
        f"{name} 1772323205: was executed(uncertain), FAILED"
    ]  # fmt: skip


def test_only_the_schedule_that_skips_may_have_skipped() -> None:
    row = JudgedRow(UNTIL, UNTIL, 1, "done", "skipped", "overlap", "SKIPPED")

    assert judge_strictly("slow", [row]) == []
    assert judge_strictly("all", [row]) == ["all 1772323205: was skipped(overlap), SKIPPED"]


def test_where_a_process_died_is_found_before_the_last_words_of_another_thread() -> None:
    lines = ['{"event": "heard"}', '{"event": "died", "at": "before run"}', '{"event": "heard"}']

    assert where_it_died(lines) == "before run"
