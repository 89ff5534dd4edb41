"""Jobs with `@reboot`: once for each boot, whatever becomes of krond, its files and the clock."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

import pytest

from gnomon.shell.store.queries import named
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.store.transaction import SqliteTransactions
from tests.apps.krond.stage import Stage, play
from tests.clauses import clause

NOON = "2026-03-01T12:00:00Z"
WARM = "@reboot name=warm command=true"
IDLE = "0 0 1 1 * name=idle command=true"
_Result = TypeVar("_Result")


class MortalLedger(SqliteLedger):
    """A ledger whose worker dies at one of its calls: before it is done, or after."""

    calls_left = 1_000_000
    dies_before = False

    @property
    def source(self) -> SqliteTransactions:
        return _Mortal(self)


class _Mortal(SqliteTransactions):
    """Counts the calls of a mortal ledger."""

    def __init__(self, ledger: MortalLedger) -> None:
        super().__init__(ledger.database, named("ledger.sql"))
        self._ledger = ledger

    async def hop(self, work: Callable[[], _Result]) -> _Result:
        ledger = self._ledger
        ledger.calls_left -= 1
        if ledger.calls_left < 0:
            raise asyncio.CancelledError
        if ledger.calls_left > 0:
            return work()
        if not ledger.dies_before:
            work()
        raise asyncio.CancelledError


async def live(stage: Stage, seconds: float) -> None:
    """A krond that is started, and killed after this long unless it has died before."""
    with contextlib.suppress(asyncio.CancelledError):
        await stage.start()
    await stage.pass_s(seconds)
    if stage.is_running:
        await stage.kill()


@clause("KROND-41")
def test_a_job_runs_once_for_each_boot() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        stage = Stage(f"{IDLE}\n{WARM}", NOON)
        await stage.start()
        await stage.pass_s(60)
        await stage.kill()
        await stage.start()  # the same boot
        await stage.pass_s(60)
        await stage.power_off()
        await stage.pass_s(600)
        await stage.start()
        await stage.pass_s(60)
        return stage.starts("warm"), await stage.told_of("warm")

    starts, told = play(scenario())
    assert starts == ["12:00", "12:12"]
    assert told == ["12:00 executed", "12:02 executed"]  # the instants of the boots


@clause("KROND-41")
def test_a_reload_runs_nothing_and_a_new_job_waits_for_the_next_boot() -> None:
    async def scenario() -> list[list[str]]:
        stage = Stage(IDLE, NOON)
        await stage.start()
        await stage.pass_s(60)
        assert await stage.reload(f"{IDLE}\n{WARM}") is None
        await stage.pass_s(60)
        assert await stage.reload(f"{IDLE}\n{WARM} env=A=1") is None
        await stage.pass_s(60)
        before = stage.starts("warm")
        await stage.kill()
        await stage.start()
        await stage.pass_s(60)
        same = stage.starts("warm")
        await stage.power_off()
        await stage.start()
        await stage.pass_s(60)
        return [before, same, stage.starts("warm")]

    assert play(scenario()) == [[], [], ["12:04"]]


@clause("KROND-41")
@pytest.mark.parametrize("by_s", [-86_400, -3_600, 3_600, 86_400])
def test_a_clock_that_is_set_makes_no_boot(by_s: int) -> None:
    async def scenario() -> int:
        stage = Stage(f"{IDLE}\n{WARM}", NOON)
        await stage.start()
        await stage.pass_s(60)
        stage.clock.offset_ms += by_s * 1000
        await stage.pass_s(60)
        await stage.kill()
        await stage.start()
        await stage.pass_s(90_000)
        return len(stage.starts("warm"))

    assert play(scenario()) == 1


@clause("KROND-41", "KROND-14")
def test_a_boot_with_a_clock_that_was_set_back_is_a_boot() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        stage = Stage(f"{IDLE}\n{WARM}", NOON)
        await stage.start()
        await stage.pass_s(60)
        await stage.power_off()
        stage.set_clock(NOON)  # the very instant of the boot before
        await stage.start()
        await stage.pass_s(60)
        keys = [row.key.rpartition(":")[2] for row in await stage.rows("warm")]
        return sorted(keys), stage.starts("warm")

    assert play(scenario()) == (["b1", "b2"], ["12:00", "12:00"])


@clause("KROND-42")
@pytest.mark.parametrize(
    ("held_s", "told"),
    [(120, "12:00 executed"), (299, "12:00 executed"), (302, "12:00 missed(deadline)")],
)
def test_the_boot_of_a_suspended_job_waits_and_follows_its_deadline(held_s: int, told: str) -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        held = WARM.replace("@reboot", "@reboot @policy(suspend=true)")
        stage = Stage(f"{IDLE}\n{held}", NOON)
        await stage.start()
        await stage.pass_s(held_s)
        before = stage.starts("warm")
        assert await stage.reload(f"{IDLE}\n{WARM}") is None
        await stage.pass_s(5)
        return before, await stage.told_of("warm")

    assert play(scenario()) == ([], [told])


@clause("KROND-41", "KROND-11")
def test_what_cannot_be_started_at_boot_is_tried_again_for_five_minutes() -> None:
    async def scenario(mended_s: int | None) -> list[str]:
        stage = Stage(f"{IDLE}\n@reboot name=warm command=missing", NOON)
        stage.outside.broken.add("missing")
        await stage.start()
        if mended_s is not None:
            await stage.pass_s(mended_s)
            stage.outside.broken.clear()
        await stage.pass_s(700)
        return await stage.told_of("warm")

    assert play(scenario(100)) == ["12:00 executed"]
    assert play(scenario(None)) == ["12:00 missed(launch_failed)"]


@clause("KROND-41", "KROND-2")
@pytest.mark.parametrize("dies_before", [True, False])
@pytest.mark.parametrize("other_boot", [True, False])
def test_a_krond_that_dies_at_any_call_leaves_one_run_for_each_boot(
    dies_before: bool, other_boot: bool
) -> None:
    async def scenario(calls: int) -> tuple[int, list[str], list[str]]:
        stage = Stage(f"{IDLE}\n{WARM}", NOON)
        ledger = stage.ledger = MortalLedger.open(":memory:")
        ledger.calls_left, ledger.dies_before = calls, dies_before
        await live(stage, 2)
        left, ledger.calls_left = ledger.calls_left, 1_000_000
        if other_boot:
            await stage.power_off()
        await live(stage, 2)
        await live(stage, 2)
        keys = sorted(row.key.rpartition(":")[2] for row in await stage.rows("warm"))
        return left, keys, [key.rpartition(":")[2] for key in stage.outside.keys]

    seen = set()
    for calls in range(1, 60):
        left, keys, ran = play(scenario(calls))
        assert len(ran) == len(set(ran)), calls  # at most once for each boot
        assert set(keys) >= set(ran), calls
        # The boot that krond lived in to its end has its row; the one before where it got so far.
        assert keys in ([["b2"], ["b1", "b2"]] if other_boot else [["b1"]]), calls
        seen.add((tuple(keys), tuple(ran)))
        if left > 0:
            break
    else:
        pytest.fail("it never lived through its start")
    # It died before its rows were made, and after that, with and without having started the job.
    assert len(seen) > 1 or not other_boot
