"""The benchmark of the ledger, without a clock: cells, population, verdicts, report."""

import asyncio
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.harness.contender import Presence
from benchmarks.harness.machine import Machine
from benchmarks.harness.meter import Meter
from benchmarks.harness.protocol import Timed
from benchmarks.harness.rounds import Measurement
from benchmarks.harness.verdict import Verdict
from benchmarks.harness.worker import Unsupported
from benchmarks.ledger.cells import FULL, QUICK, Area, Cell, Settings, cells_of
from benchmarks.ledger.engine import lateness_facts, percentile
from benchmarks.ledger.engines.gnomon import GnomonEngine
from benchmarks.ledger.engines.gnomon_postgres import GnomonPostgresEngine
from benchmarks.ledger.engines.raw_postgres import RawPostgresEngine
from benchmarks.ledger.engines.raw_sqlite import RawSqliteEngine
from benchmarks.ledger.population import BEGINS_MS, file_of, fill
from benchmarks.ledger.report import print_report, render_markdown
from benchmarks.ledger.result import Result, over_rounds
from benchmarks.ledger.targets import TARGETS, judge
from gnomon.shell.store.sqlite import SqliteLedger

LATE = {"p50 ms": 12.0, "p99 ms": 25.0, "max ms": 30.0, "worst p99 ms": 60.0, "dropped": 0.0}


def measured(
    area: Area, label: str, engine: str, figure: float, facts: dict[str, float] | None = None
) -> Measurement:
    best = Timed(ns=figure, operations=1, facts=facts or {})
    return Measurement(cell=f"{area}: {label}", engine=engine, best=best, rounds=2)


def a_result() -> Result:
    return Result(
        taken_on="2026-03-01",
        extent="full",
        settings=FULL,
        machine=Machine(cpu="a cpu", cores=2, system="an OS", python="CPython 3.11.7", load=0.5),
        presences=[
            Presence(name="gnomon", versions={"gnomon": "0.1.0"}),
            Presence(name="huey", versions={}, missing="no matching distribution"),
        ],
        measurements={
            Area.FIRE: [
                measured(Area.FIRE, "1,000 due", "gnomon", 40_000, {"processor us": 38.0}),
                measured(Area.FIRE, "1,000 due", "sqlite3", 8_000, {"processor us": 7.0}),
                measured(Area.FIRE, "1,000 due", "apscheduler", 1_200_000, {"processor us": 740.0}),
                measured(
                    Area.FIRE, "1,000 due", "apscheduler-interval", 1_600_000, {"processor us": 9e2}
                ),
            ],
            Area.LATENESS: [measured(Area.LATENESS, "1,000 due", "gnomon", 25e6, LATE)],
            Area.IDLE: [
                measured(Area.IDLE, "10,000 stored", "gnomon", 20_000, {"file MB": 7.5}),
                measured(Area.IDLE, "1,000,000 stored", "gnomon", 24_000, {"file MB": 742.0}),
                Measurement(
                    cell="idle: 10,000 stored",
                    engine="huey",
                    best=None,
                    missing="failed: OperationalError: database is locked",
                ),
            ],
            Area.MEMORY: [
                measured(Area.MEMORY, "10,000 stored", "gnomon", 60e6),
                measured(Area.MEMORY, "1,000,000 stored", "gnomon", 100e6),
            ],
        },
    )


def small_cell(area: Area, *, is_cold: bool = False) -> Cell:
    return Cell(area=area, label="a few", stored=10, due=10, is_cold=is_cold)


@pytest.mark.parametrize("settings", [QUICK, FULL])
def test_no_two_cells_share_a_name(settings: Settings) -> None:
    names = [cell.name for cell in cells_of(settings)]
    assert len(names) == len(set(names))


def test_every_target_is_about_a_cell_of_the_full_run() -> None:
    names = {cell.name for cell in cells_of(FULL)}
    wanted = {f"{target.area}: {label}" for target in TARGETS for label in (target.cell, target.to)}
    assert {name for name in wanted if not name.endswith(": ")} <= names


def test_targets_are_judged_by_rate_time_growth_and_size() -> None:
    judged = [target for target in TARGETS if target.engine == "gnomon"]
    found = [judge(target, a_result().figures) for target in judged]
    assert [round(one.value or 0, 2) for one in found] == [0.2, 30, 40, 25, 1.2, 40]
    assert [one.verdict for one in found] == [
        Verdict.MUST,
        Verdict.SHORT,
        Verdict.MUST,
        Verdict.AIM,
        Verdict.AIM,
        Verdict.SHORT,
    ]


def test_two_workers_are_judged_beside_one() -> None:
    (target,) = [target for target in TARGETS if target.area is Area.WORKERS]
    figures = {(Area.WORKERS, target.engine): {target.to: 90.0, target.cell: 50.0}}

    assert judge(target, figures).value == 1.8


def test_a_target_without_figures_is_not_judged() -> None:
    assert {judge(target, {}).verdict for target in TARGETS} == {Verdict.UNKNOWN}


def test_a_percentile_is_a_value_that_occurred() -> None:
    values = [float(number) for number in range(1, 201)]
    assert percentile(values, 0.5) == 100
    assert percentile(values, 0.99) == 198
    assert percentile([7.0], 0.99) == 7


def test_callbacks_that_never_began_are_told_as_dropped() -> None:
    facts = lateness_facts([1_000_000, 3_000_000], due=3)
    assert facts == {"p50 ms": 1.0, "p99 ms": 3.0, "max ms": 3.0, "dropped": 1}


def test_the_worst_round_and_every_drop_are_told_beside_the_best_round() -> None:
    rounds = [
        Timed(ns=late * 1e6, operations=1, facts={"p99 ms": late, "dropped": drops})
        for late, drops in ((30.0, 0.0), (20.0, 0.0), (70.0, 2.0))
    ]
    best = Measurement(cell="lateness: 1,000 due", engine="gnomon", best=rounds[1], rounds=3)
    told = over_rounds(best, rounds).best
    assert told is not None
    assert told.facts == {"p99 ms": 20.0, "worst p99 ms": 70.0, "dropped": 2.0}


def test_the_least_processor_time_may_be_of_another_round() -> None:
    rounds = [
        Timed(ns=ns, operations=1, facts={"processor us": used})
        for ns, used in ((100, 9.0), (200, 7.0))
    ]
    best = Measurement(cell="fire: 1,000 due", engine="gnomon", best=rounds[0], rounds=2)
    told = over_rounds(best, rounds).best
    assert told is not None
    assert told.facts == {"processor us": 7.0}


def test_a_meter_stands_still_between_its_runs() -> None:
    meter = Meter()
    with meter.running():
        pass
    once = meter.read()
    assert meter.read() == once
    meter.add(5)
    assert meter.read() == once + 5


def test_a_population_has_the_wanted_size_and_is_what_the_ledger_would_have_saved(
    tmp_path: Path,
) -> None:
    path = file_of(tmp_path, 1500)
    fill(path, 1500)

    async def look() -> tuple[list[str], int | None, int]:
        ledger = SqliteLedger.open(path)
        rows = await ledger.schedules(limit=1000)
        wake_ms = await ledger.next_wake_ms()
        due = await ledger.load(now_ms=BEGINS_MS + 30_000, limit=10_000)
        await ledger.close()
        return [row.schedule.schedule_id for row in rows[:2]], wake_ms, len(due)

    first, wake_ms, due = asyncio.run(look())
    assert first == ["daily-0000-000", "daily-0000-001"]
    assert wake_ms == BEGINS_MS + 30_000
    assert due == 700
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM schedules").fetchone() == (1500,)


@pytest.mark.parametrize("is_cold", [False, True])
def test_gnomon_fires_everything_that_is_due_in_every_pass(tmp_path: Path, is_cold: bool) -> None:
    with closing(GnomonEngine(tmp_path)) as engine:
        job = engine.job(small_cell(Area.FIRE, is_cold=is_cold))
        job.run()
        job.run()
    assert job.clock() > 0
    assert "processor us" in job.facts


def test_gnomon_looks_at_an_idle_ledger_and_works_through_a_full_one(tmp_path: Path) -> None:
    fill(file_of(tmp_path, 10), 10)
    with closing(GnomonEngine(tmp_path)) as engine:
        engine.job(small_cell(Area.IDLE)).run()
        memory = engine.job(small_cell(Area.MEMORY))
        memory.run()
    assert memory.clock() > 1_000_000


def test_the_bare_database_fires_and_looks_and_does_nothing_else(tmp_path: Path) -> None:
    with closing(RawSqliteEngine(tmp_path)) as engine:
        for area in (Area.FIRE, Area.IDLE):
            engine.job(small_cell(area)).run()
        with pytest.raises(Unsupported):
            engine.job(small_cell(Area.MEMORY))


@pytest.mark.parametrize("kind", [GnomonPostgresEngine, RawPostgresEngine])
def test_engines_on_postgresql_fire_everything_and_look_at_an_idle_ledger(
    kind: type[GnomonPostgresEngine] | type[RawPostgresEngine], tmp_path: Path
) -> None:
    engine = kind(tmp_path)
    fire = engine.job(Cell(area=Area.FIRE, label="few", stored=20, due=20))
    fire.run()
    fire.run()
    engine.job(Cell(area=Area.IDLE, label="some", stored=2_000)).run()

    assert fire.clock() > 0
    engine.close()


def test_workers_of_their_own_share_what_is_due_and_launch_nothing_twice(tmp_path: Path) -> None:
    cell = Cell(area=Area.WORKERS, label="two", stored=50, due=50, workers=2)
    engine = GnomonPostgresEngine(tmp_path)
    try:
        job = engine.job(cell)
        job.run()
        job.run()
        assert job.clock() > 0
    finally:
        engine.close()


def test_the_report_shows_verdicts_rates_and_what_is_missing() -> None:
    page = render_markdown(a_result())
    assert (
        "| full fire, to the bare statements | 0.20 x its rate | >= 0.15 | >= 0.3 | reached |"
        in page
    )
    assert "| sqlite3 | 1,000 due | 125,000 | 0.20 | 7.00 | 0.18 |" in page
    assert "| gnomon | 1,000 due | 12 | 25 | 30 | 60 | 0 |" in page
    assert "| huey | no matching distribution |" in page
    assert "database is locked" in page


def test_the_report_fits_a_terminal() -> None:
    screen = io.StringIO()
    print_report(a_result(), Console(file=screen, width=120))
    assert "Full fire" in screen.getvalue()


def test_the_result_can_be_written_as_json() -> None:
    page = json.loads(json.dumps(a_result().to_json()))
    assert page["benchmark"] == "ledger"
    assert page["targets"][0]["verdict"] == "reached"
    assert page["cells"][0]["figure"] == 40_000
