"""The benchmark of the time core, without a clock: its corpus, its verdicts, its report."""

import io
import json

import pytest
from rich.console import Console

from benchmarks.harness.contender import Presence
from benchmarks.harness.machine import Machine
from benchmarks.harness.protocol import Timed
from benchmarks.harness.rounds import Measurement
from benchmarks.harness.timing import Job
from benchmarks.harness.verdict import Verdict
from benchmarks.time_core.cells import FULL, QUICK, Area, Cell, Decision, Settings, cells_of
from benchmarks.time_core.corpus import (
    TYPICAL,
    draw_population,
    draw_texts,
    restricts_both_days,
)
from benchmarks.time_core.engines.gnomon import GnomonDatetimeEngine, GnomonEngine
from benchmarks.time_core.jobs import prepare
from benchmarks.time_core.report import print_report, render_markdown
from benchmarks.time_core.result import Result, count_agreements
from benchmarks.time_core.targets import TARGETS, judge


class ScalarEngine(GnomonEngine):
    """Gnomon as a library without a batch is asked."""

    def batch_job(self, cell: Cell) -> Job | None:
        return None


def measured(area: Area, label: str, engine: str, ns: float) -> Measurement:
    best = Timed(ns=ns, operations=1, facts={})
    return Measurement(cell=f"{area}: {label}", engine=engine, best=best, rounds=2)


def a_result() -> Result:
    return Result(
        taken_on="2026-03-01",
        extent="quick",
        settings=QUICK,
        machine=Machine(cpu="a cpu", cores=2, system="an OS", python="CPython 3.11.7", load=0.5),
        presences=[
            Presence(name="gnomon", versions={"gnomon": "0.1.0"}),
            Presence(name="celery", versions={}, missing="no matching distribution"),
        ],
        agreements=[count_agreements("cronsim", [("UTC", True), ("Europe/Berlin", False)])],
        measurements={
            Area.NEXT: [
                measured(Area.NEXT, "* * * * * UTC", "gnomon", 500),
                measured(Area.NEXT, "0 0 * * * UTC", "gnomon", 500),
                measured(Area.NEXT, "* * * * * UTC", "cronsim", 5_000),
                measured(Area.NEXT, "0 0 * * * UTC", "cronsim", 80_000),
            ],
            Area.DECIDE: [
                measured(Area.DECIDE, Decision.HASH, "gnomon", 400),
                measured(Area.DECIDE, Decision.INTEGER, "gnomon", 2_000),
            ],
        },
    )


def verdicts() -> dict[str, Verdict]:
    times = a_result().times
    return {target.title: judge(target, times).verdict for target in TARGETS}


@pytest.mark.parametrize("settings", [QUICK, FULL])
def test_no_two_cells_share_a_name(settings: Settings) -> None:
    names = [cell.name for cell in cells_of(settings)]
    assert len(names) == len(set(names))


def test_the_corpus_is_the_same_every_time() -> None:
    assert draw_texts(3, seed=10) == draw_texts(3, seed=10)
    assert list(draw_population(3, seed=18)) == list(draw_population(3, seed=18))


def test_random_expressions_never_restrict_both_day_fields() -> None:
    assert not any(restricts_both_days(text) for text in draw_texts(500, seed=1))


def test_one_typical_expression_restricts_both_day_fields() -> None:
    assert [text for text in TYPICAL if restricts_both_days(text)] == ["0 0 1 * 1"]


def test_both_engines_of_gnomon_answer_every_cell_of_next_alike() -> None:
    cells = [cell for cell in cells_of(QUICK) if cell.area is Area.NEXT]
    integers, datetimes = GnomonEngine(), GnomonDatetimeEngine()
    for cell in cells:
        found = prepare(integers, cell, QUICK).answers()
        assert found == prepare(datetimes, cell, QUICK).answers()
        assert len(found) == QUICK.instants


@pytest.mark.parametrize("decision", list(Decision))
def test_every_cell_of_decide_can_be_run_once(decision: Decision) -> None:
    cell = Cell(area=Area.DECIDE, label=decision.value)
    job: Job = prepare(GnomonEngine(), cell, QUICK)
    job.run()
    assert job.operations == 1826


def test_a_ratio_between_must_and_aim_is_reached() -> None:
    assert verdicts()["next, integers, to cronsim"] is Verdict.MUST  # 10 x 160, so 40


def test_a_cost_above_must_is_short() -> None:
    assert verdicts()["decision, integer path"] is Verdict.SHORT  # 5 hashes, at most 4.5


def test_a_batch_of_less_than_a_million_is_not_judged() -> None:
    batch = next(target for target in TARGETS if target.area is Area.BATCH)
    assert judge(batch, {(Area.BATCH, "gnomon"): {"100,000 mixed": 20.0}}).value is None
    assert judge(batch, {(Area.BATCH, "gnomon"): {"1,000,000 mixed": 20.0}}).verdict is Verdict.AIM


def test_what_was_not_measured_is_not_judged() -> None:
    assert verdicts()["next, integers, to croniter"] is Verdict.UNKNOWN


def test_the_page_shows_ratio_worst_cell_and_verdict() -> None:
    page = render_markdown(a_result())
    assert "| next, integers, to cronsim | 40.0 x faster | >= 25 | >= 60 | reached |" in page
    assert "| next, integers | 40.0 (10.0) | - | - | - | - | - |" in page
    assert "| next, integers | cronsim | 10.0 | `* * * * * UTC` | 0.50 |" in page


def test_the_page_names_the_engine_that_is_missing_and_why() -> None:
    assert "| celery | no matching distribution | - | - |" in render_markdown(a_result())


def test_the_terminal_shows_the_same_figures() -> None:
    written = io.StringIO()
    print_report(a_result(), Console(file=written, width=160))
    assert "40.0 (10.0)" in written.getvalue()


def test_the_result_as_json_holds_every_cell() -> None:
    cells = json.loads(json.dumps(a_result().to_json()))["cells"]
    assert cells[0] == {
        "area": "next",
        "cell": "next: * * * * * UTC",
        "engine": "gnomon",
        "ns": 500,
        "operations": 1,
        "rounds": 2,
    }
    assert len(cells) == 6


def test_agreement_is_counted_apart_for_utc_and_other_zones() -> None:
    found = count_agreements("peer", [("UTC", True), ("UTC", False), ("Europe/Berlin", True)])
    assert (found.utc_same, found.utc_all, found.zoned_same, found.zoned_all) == (1, 2, 1, 1)


def test_the_batch_answers_the_sample_of_the_peers_as_the_scalar_engine_does() -> None:
    cell = Cell(area=Area.BATCH, label="few", instants=(1_767_225_600,), count=QUICK.sample)
    batch, scalar = GnomonEngine(), ScalarEngine()
    assert prepare(batch, cell, QUICK).answers() == prepare(scalar, cell, QUICK).answers()
