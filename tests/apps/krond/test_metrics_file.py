"""The file of metrics: whole pages, written when something changed, touched when not."""

import asyncio
import os
from pathlib import Path

import pytest

from gnomon.apps.krond.counts import KrondFacts, Tally
from gnomon.apps.krond.job import Job
from gnomon.apps.krond.metrics_file import MetricsFile
from gnomon.shell.observe.counts import Telemetry
from gnomon.shell.observe.notify.rule import Occasion
from tests.apps.krond.krontab.reading import job
from tests.clauses import clause
from tests.shell.observe.notify.happenings import happened
from tests.shell.virtual_time import VirtualClock, run_virtually

HOURLY = job("0 * * * * name=hourly command=true")


def metrics_file(path: Path, clock: VirtualClock, tally: Tally, jobs: list[Job]) -> MetricsFile:
    return MetricsFile(
        path, clock, tally, jobs=lambda: list(jobs),
        facts=lambda: KrondFacts(
            version="0.1", started_ms=0, loaded_ms=0, is_valid=True, active=0,
            telemetry=Telemetry(),
        ),
    )  # fmt: skip


@clause("METRICS-5")
def test_a_page_is_written_when_a_figure_has_changed_and_touched_when_not(tmp_path: Path) -> None:
    path, tally, pages = tmp_path / "krond.prom", Tally(), list[tuple[int, bool]]()

    async def scenario() -> None:
        file = metrics_file(path, VirtualClock(), tally, [HOURLY])
        for _ in range(3):
            file.update()
            pages.append((path.stat().st_ino, path.stat().st_mtime > 10))
            os.utime(path, (1, 1))
        tally.tell(happened(Occasion.SUCCESS, ""))
        file.update()
        pages.append((path.stat().st_ino, path.stat().st_mtime > 10))

    run_virtually(scenario())

    first, second, third, fourth = pages
    assert first == second == third
    assert fourth[0] != first[0]
    assert all(touched for _, touched in pages)
    assert path.stat().st_mode & 0o777 == 0o644
    assert [one.name for one in tmp_path.iterdir()] == ["krond.prom"]


@clause("METRICS-4", "METRICS-5")
def test_the_next_second_is_found_again_when_it_has_passed(tmp_path: Path) -> None:
    path, found = tmp_path / "krond.prom", list[str]()

    async def scenario() -> None:
        file = metrics_file(path, VirtualClock(), Tally(), [HOURLY])
        working = asyncio.create_task(file.work())
        for _ in range(3):
            await asyncio.sleep(3_000)
            lines = path.read_text().splitlines()
            found.extend(line for line in lines if line.startswith("krond_job_next"))
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)

    run_virtually(scenario())

    assert [line.split()[-1] for line in found] == [
        "1.7723268e+09",
        "1.7723304e+09",
        "1.772334e+09",
    ]


@clause("METRICS-5")
def test_a_file_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        file = metrics_file(tmp_path / "no" / "krond.prom", VirtualClock(), Tally(), [HOURLY])
        working = asyncio.create_task(file.work())
        await asyncio.sleep(100)
        assert not working.done()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)

    run_virtually(scenario())


@clause("METRICS-5")
def test_nothing_is_left_beside_a_file_that_cannot_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "krond.prom"
    path.mkdir()

    async def scenario() -> None:
        with pytest.raises(OSError, match="directory"):
            metrics_file(path, VirtualClock(), Tally(), [HOURLY]).update()

    run_virtually(scenario())

    assert [one.name for one in tmp_path.iterdir()] == ["krond.prom"]
