"""The live table of krond: countdowns and windows drawn from values, and what has gone wrong."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from gnomon.apps.krond.state import StateDirectory
from gnomon.apps.krond.status import DaemonStatus, JobStatus
from gnomon.cli.krond_view import countdown, job_rows, window_cells
from gnomon.cli.krond_watch import status_table, watch_status
from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.errors import DefinitionError
from gnomon.ports import RunRow
from gnomon.shell.clock import SystemClock
from tests.apps.krond.krontab.reading import job
from tests.clauses import clause

NOMINAL = 1_772_330_400  # 2026-03-01T02:00:00Z
NOW = NOMINAL + 1_500
ROW = RunRow(
    key="k", schedule_id="a", nominal=NOMINAL - 86_400, last_nominal=0, periods=1, fire_ms=0,
    state=State.DONE, outcome=Outcome.EXECUTED, reason=None, status=Status.SUCCESS, launches=1,
    fence=1, owner=None, lease_ms=None, run_id=None, detail="exit 0", revision=1, started_ms=1,
    ended_ms=(NOW - 90) * 1000, created_ms=0, updated_ms=0,
)  # fmt: skip


def job_status(line: str, **changes: object) -> JobStatus:
    found = job(f"0 2 * * * {line} command=true")
    decision = found.schedule.decider.decide(NOMINAL)
    at = decision.chosen_at
    status = JobStatus(
        name=found.name, file=found.file, schedule=found.schedule, suspended=False, next=decision,
        next_ms=None if at is None else int(at.timestamp()) * 1000, active=(), last=None,
    )  # fmt: skip
    return replace(status, **changes)  # type: ignore[arg-type]


def drawn(
    *jobs: JobStatus, rows_max: int = 10, pid: int | None = 7, problem: str | None = None
) -> list[str]:
    running = None if pid is None else {"pid": pid, "problem": problem}
    status = DaemonStatus(state=StateDirectory(Path("/s")), running=running, jobs=jobs)
    console = Console(file=StringIO(), width=160)
    with console.capture() as capture:
        console.print(status_table(status, now_ms=NOW * 1000, rows_max=rows_max))
    return [line.rstrip() for line in capture.get().splitlines()]


@clause("WATCH-1")
def test_a_window_is_drawn_with_the_present_and_the_chosen_second() -> None:
    decision = job("0 2 * * * @win(after,1h) name=backup command=true").schedule.decider.decide(
        NOMINAL
    )
    assert decision.chosen_at is not None
    offset = int(decision.chosen_at.timestamp()) - NOMINAL

    before, within, after = (window_cells(decision, at) for at in (NOMINAL - 9, NOW, NOW + 9_000))

    chosen = offset * 23 // 3_600
    assert before == f"{'-' * chosen}*{'-' * (23 - chosen)}"
    assert within.index(">") == 1_500 * 23 // 3_600
    assert within[chosen] == "*"
    assert after == f"{'=' * chosen}*{'=' * (23 - chosen)}"


@clause("WATCH-1")
@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (7, "0:07"), (754, "12:34"), (11_554, "3:12:34"), (3_605, "1:00:05"),
     (86_400, "1 d 0 h"), (442_800, "5 d 3 h"), (-3, "0:00")],
)  # fmt: skip
def test_a_countdown_is_as_fine_as_it_must_be(seconds: int, text: str) -> None:
    assert countdown(seconds) == text


@clause("WATCH-1")
def test_each_job_has_its_line_and_the_first_to_run_stands_first() -> None:
    active = replace(ROW, state=State.RUNNING, started_ms=(NOW - 65) * 1000, ended_ms=None)
    soon = job_status("name=soon", next_ms=(NOW + 75) * 1000, last=ROW)
    late = job_status("@tz(Europe/Paris) name=late", next_ms=(NOW + 7_200) * 1000, active=(active,))

    head, names, first, second = drawn(late, soon)

    assert head == "krond 7, 2 jobs, 1 active"
    assert names.split() == ["job", "next", "in", "window", "active", "last"]
    assert first.split() == [
        "soon", "2026-03-01", "02:26:15", "+00:00", "1:15", "succeeded,", "1:30", "ago",
    ]  # fmt: skip
    assert second.split() == [
        "late", "2026-03-01", "05:25:00", "+01:00", "2:00:00", "for", "1:05",
    ]  # fmt: skip


@clause("WATCH-1")
def test_of_several_runs_the_oldest_is_shown_and_the_others_counted() -> None:
    old, new = (
        replace(ROW, state=State.RUNNING, started_ms=(NOW - age) * 1000, run_id=None)
        for age in (65, 3)
    )

    (row,) = job_rows([job_status("name=a", active=(new, old))], now_ms=NOW * 1000)

    assert row[4] == "for 1:05, and 1 more"


@clause("WATCH-1")
def test_jobs_without_room_are_counted() -> None:
    assert drawn(*(job_status(f"name=j{i}") for i in range(5)), rows_max=2)[-1] == "and 3 more"


@clause("WATCH-1")
def test_jobs_of_one_name_are_told_apart_by_their_files() -> None:
    here, there = job_status("name=a"), job_status("name=a", name="a")

    rows = job_rows([here, there], now_ms=NOW * 1000)

    assert [row[0] for row in rows] == ["/etc/krond.d/site:a"] * 2


@clause("WATCH-2")
def test_what_does_not_run_says_so() -> None:
    held = job_status("name=a", suspended=True, next=None, next_ms=None)
    never = job_status("name=b", next=None, next_ms=None)
    barred = job_status("@only(hours=9) name=c")

    lines = drawn(held, never, barred)

    assert [line.split()[:2] for line in lines[2:]] == [
        ["a", "suspended"], ["b", "never"], ["c", "unschedulable"],
    ]  # fmt: skip


@clause("WATCH-2")
@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"status": Status.FAILED, "detail": "exit 2 (user 1 s)"}, "failed (exit 2), 1:30 ago"),
        ({"outcome": Outcome.MISSED, "status": Status.SKIPPED, "reason": Reason.DEADLINE},
         "missed (deadline), 1:30 ago"),
        ({"outcome": Outcome.MISSED, "status": Status.SKIPPED, "periods": 40, "ended_ms": None,
          "updated_ms": (NOW - 5) * 1000, "reason": Reason.DEADLINE},
         "missed 40 times (deadline), 0:05 ago"),
        ({"state": State.RUNNING, "status": Status.STARTED, "ended_ms": None, "detail": None,
          "updated_ms": (NOW - 5) * 1000}, "started, 0:05 ago"),
    ],
)  # fmt: skip
def test_what_became_of_it_last_is_said(changes: dict[str, object], text: str) -> None:
    row = replace(ROW, **changes)  # type: ignore[arg-type]

    assert drawn(job_status("name=a", last=row))[-1].endswith(text)


@clause("WATCH-2")
def test_a_krond_in_trouble_says_so() -> None:
    assert drawn(pid=None)[0] == "krond does not run"
    assert drawn(problem="x")[0].endswith("the last reload was refused: see krond status")


@clause("WATCH-3")
def test_it_needs_a_terminal(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="needs a terminal"):
        watch_status(StateDirectory(tmp_path), SystemClock(), Console(file=StringIO()))
