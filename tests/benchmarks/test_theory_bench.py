"""The benchmark of the theory, without a clock: cells, workload, verdicts, report."""

import io
import json

import pytest
from rich.console import Console

from benchmarks.harness.contender import Presence
from benchmarks.harness.machine import Machine
from benchmarks.harness.protocol import Timed
from benchmarks.harness.rounds import Measurement
from benchmarks.harness.verdict import Verdict
from benchmarks.theory.cells import FULL, QUICK, Area, Cell, Settings, cells_of
from benchmarks.theory.engines.gnomon import GnomonEngine
from benchmarks.theory.report import print_report, render_markdown
from benchmarks.theory.run import Result
from benchmarks.theory.targets import TARGETS, judge
from benchmarks.theory.workload import formula_steps, minutes


def measured(area: Area, label: str, engine: str, ns: float) -> Measurement:
    best = Timed(ns=ns, operations=1, facts={})
    return Measurement(cell=f"{area}: {label}", engine=engine, best=best, rounds=2)


def a_result() -> Result:
    return Result(
        taken_on="2026-03-01",
        extent="full",
        machine=Machine(cpu="a cpu", cores=2, system="an OS", python="CPython 3.11.7", load=0.5),
        presences=[
            Presence(name="gnomon", versions={"gnomon": "0.1.0"}),
            Presence(name="rtamt", versions={}, missing="no matching distribution"),
        ],
        measurements=[
            measured(Area.FORMULA, "1 task", "gnomon", 500),
            measured(Area.FORMULA, "1 task", "reelay", 2_000),
            measured(Area.TASKS, "10,000 tasks", "gnomon", 800),
            measured(Area.CHECK, "10,000 tasks", "gnomon", 10_000),
            Measurement(
                cell="formula: 1 task", engine="rtamt", best=None, missing="failed: AssertionError"
            ),
        ],
    )


@pytest.mark.parametrize("settings", [QUICK, FULL])
def test_no_two_cells_of_the_theory_share_a_name(settings: Settings) -> None:
    names = [cell.name for cell in cells_of(settings)]

    assert len(set(names)) == len(names)


def test_each_minute_every_task_is_due_starts_and_ends() -> None:
    steps = minutes(2, 7)

    assert [(step.kind, step.task) for step in steps] == [
        ("MinuteStart", ""), ("Due", "task-0"), ("Due", "task-1"),
        ("RunStart", "task-0"), ("RunStart", "task-1"),
        ("RunSuccess", "task-0"), ("RunSuccess", "task-1"),
    ]  # fmt: skip


def test_the_last_step_for_the_formula_is_a_start_that_is_not_owed() -> None:
    steps = formula_steps(6)

    assert [step.kind for step in steps] == [
        "MinuteStart", "Due", "RunStart", "RunSuccess", "MinuteStart", "RunStart",
    ]  # fmt: skip


@pytest.mark.parametrize("area", list(Area))
def test_the_engine_finds_what_is_there_in_every_area(area: Area) -> None:
    events = 6 if area is Area.FORMULA else 300
    job = GnomonEngine().job(Cell(area=area, tasks=1, events=events))

    job.run()

    assert job.operations > events


def test_targets_of_the_theory_are_judged_by_events_a_second() -> None:
    judged = {one.title: judge(one, a_result().figures) for one in TARGETS}
    in_process, from_lines = judged.values()

    assert (in_process.value, in_process.verdict) == (1_250_000, Verdict.MUST)
    assert (from_lines.value, from_lines.verdict) == (100_000, Verdict.SHORT)


def test_the_report_on_the_theory_names_ratios_and_failures() -> None:
    page = render_markdown(a_result())

    assert "| reelay | 1 task | 500,000 | 4.00 |" in page
    assert "| rtamt | formula: 1 task | failed: AssertionError |" in page
    assert "| rtamt | no matching distribution |" in page


def test_the_report_on_the_theory_can_be_printed_and_kept() -> None:
    screen = io.StringIO()
    print_report(a_result(), Console(file=screen, width=120))

    assert "1,250,000" in screen.getvalue()
    assert json.loads(json.dumps(a_result().to_json()))["benchmark"] == "theory"
