"""What waits to be written about runs: in any order, at most one report for each run."""

import asyncio

import pytest

from gnomon.ports import Ended, Launched, Observer, Report
from gnomon.shell.worker.reports import Reports
from tests.clauses import clause

LAUNCHED = Launched("k", 1, "run 7", started_ms=5)


class Writer:
    """A ledger of which only `report` is there."""

    def __init__(self) -> None:
        self.written: list[Report] = []

    async def report(self, reports: list[Report], *, now_ms: int) -> list[bool]:
        self.written += reports
        return [True] * len(reports)


def written(*said: Report) -> list[Report]:
    reports, writer = Reports(10, Observer()), Writer()
    for one in said:
        if isinstance(one, Launched):
            reports.add_launch(one)
        else:
            assert isinstance(one, Ended)
            reports.add_end(one)

    async def write_all() -> None:
        while len(reports):
            await reports.write(writer, now_ms=9)  # type: ignore[arg-type]

    asyncio.run(write_all())
    return writer.written


@clause("RUN-5", "LEDGER-25")
@pytest.mark.parametrize("end_first", [False, True])
def test_an_end_takes_what_it_does_not_say_from_its_launch(end_first: bool) -> None:
    end = Ended("k", 1, True, "exit 0")
    said = (end, LAUNCHED) if end_first else (LAUNCHED, end)

    assert written(*said) == [end._replace(run_id="run 7", started_ms=5)]


@clause("RUN-5")
@pytest.mark.parametrize("end_first", [False, True])
def test_an_end_that_says_it_all_stays_as_it_is(end_first: bool) -> None:
    end = Ended("k", 1, True, "exit 0", None, "run 8", 4)
    said = (end, LAUNCHED) if end_first else (LAUNCHED, end)

    assert written(*said) == [end]


@clause("RUN-5")
def test_an_end_takes_nothing_from_the_launch_of_another_try() -> None:
    end = Ended("k", 2, True, "exit 0")

    assert written(end, LAUNCHED) == [end, LAUNCHED]
