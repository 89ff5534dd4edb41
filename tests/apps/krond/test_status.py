"""How jobs stand, read from a ledger whose krond does not run."""

import asyncio
from pathlib import Path

import pytest

from gnomon.apps.krond.state import StateDirectory
from gnomon.apps.krond.status import JobStatus, read_status
from gnomon.cli.krond_view import job_rows
from gnomon.shell.store.sqlite import SqliteLedger
from tests.apps.krond.krontab.reading import job
from tests.clauses import clause

NOON = 1_772_366_400_000  # 2026-03-01T12:00:00Z


def standing(line: str, folder: Path) -> JobStatus:
    """A job that was installed at noon, as it stands then."""
    state = StateDirectory(folder / "state")
    state.prepare()

    async def scenario() -> JobStatus:
        ledger = SqliteLedger.open(state.ledger)
        found = job(f"{line} name=a command=true")
        await ledger.install([found.schedule], suspended=set(), now_ms=NOON, after_ms=0)
        await ledger.close()
        (status,) = (await read_status(state)).jobs
        return status

    return asyncio.run(scenario())


@clause("KROND-34")
@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("* * * * * @only(hours=3)", "2026-03-02T03:00:00Z"),
        ("*/5 * * * * @avoid(hours=10-23)", "2026-03-02T00:00:00Z"),
        ("0 * * * * @win(after,30m) @only(dow=wed;hours=9)", "2026-03-04T09:"),
        ("0 0 * * *", "2026-03-02T00:00:00Z"),
    ],
)
def test_the_next_period_that_can_run_is_shown(tmp_path: Path, line: str, at: str) -> None:
    status = standing(line, tmp_path)

    assert status.next is not None
    chosen = status.next.to_json()["chosenTime"]
    assert isinstance(chosen, str)
    assert chosen.startswith(at)


@clause("KROND-34")
def test_a_job_of_which_nothing_can_run_for_long_is_unschedulable(tmp_path: Path) -> None:
    status = standing("* * * * * @only(date=2027-12-24)", tmp_path)

    (row,) = job_rows([status], now_ms=NOON)
    assert row[1] == "unschedulable"


@clause("KROND-34")
def test_a_krond_that_does_not_run_counts_nothing_down(tmp_path: Path) -> None:
    status = standing("0 0 * * *", tmp_path)

    (stopped,) = job_rows([status], now_ms=NOON, running=False)
    (running,) = job_rows([status], now_ms=NOON, running=True)

    assert stopped[2] == "-"
    assert running[2] == "12:00:00"


@clause("KRONTAB-52", "KROND-25")
def test_a_job_at_boot_is_at_boot_and_no_clock_was_ahead_of_it(tmp_path: Path) -> None:
    status = standing("@reboot", tmp_path)

    (row,) = job_rows([status], now_ms=NOON)
    assert row[:3] == ("a", "at boot", "")
    assert (status.next, status.next_ms, status.at_boot) == (None, None, True)
    assert status.handled_ahead(NOON - 3_600_000) is None
