"""
One turn of the runtime: what it does, in which order, and what it leaves alone.

The world begins on 2026-03-01 at 00:00:00 UTC, and every schedule is due each minute.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from gnomon.core.engine import Change
from gnomon.core.ledger.lifecycle import Reason, State
from gnomon.core.ledger.period import period_key
from gnomon.core.schedule_record import read_schedule
from gnomon.errors import StoreError
from gnomon.ports import Claim, Committed, Ended, Failed, Launched
from gnomon.shell.launcher.process import ProcessLauncher
from gnomon.shell.worker.runtime import Runtime
from tests.clauses import clause
from tests.shell.faulty_ledger import FaultyLedger
from tests.shell.steered_clock import SteeredClock
from tests.shell.virtual_time import START_MS, VirtualClock, run_virtually
from tests.shell.worker_world import World, every_minute


class CountingClock(VirtualClock):
    readings = 0

    def now_ms(self) -> int:
        self.readings += 1
        return super().now_ms()


@clause("RUN-1")
def test_a_turn_reads_the_wall_clock_once() -> None:
    async def scenario() -> int:
        world = World()
        await world.save("one")
        clock = CountingClock()
        await Runtime(world.ledger, world.launcher, clock, "worker-1").turn()
        return clock.readings

    assert run_virtually(scenario()) == 1


@clause("RUN-1")
def test_a_turn_says_when_there_is_more_to_do() -> None:
    async def scenario() -> int | None:
        world = World()
        await world.save("one")
        return await world.runtime.turn()

    assert run_virtually(scenario()) == START_MS + 60_000


@clause("RUN-1")
def test_a_turn_that_is_full_asks_for_another_at_once() -> None:
    async def scenario() -> tuple[int | None, int]:
        world = World(batch=2)
        for name in ("one", "two", "three"):
            await world.save(name)
        return await world.runtime.turn(), world.runtime.telemetry.launches

    assert run_virtually(scenario()) == (START_MS, 2)


@clause("RUN-2")
@pytest.mark.parametrize("done", [False, True])
def test_a_commit_without_an_answer_starts_nothing(done: bool) -> None:
    async def scenario() -> list[str]:
        world = World()
        await world.save("one")
        world.ledger.fail("commit", done=done)
        with pytest.raises(StoreError):
            await world.runtime.turn()
        await world.pass_ms(1)
        return world.began

    assert run_virtually(scenario()) == []


@clause("RUN-2")
def test_of_two_workers_one_wins_the_claim() -> None:
    async def scenario() -> list[str]:
        world = World()
        await world.save("one")
        await asyncio.gather(world.runtime.turn(), world.another("worker-2").turn())
        await world.pass_ms(1)
        return world.began

    assert run_virtually(scenario()) == ["one 00:00:00 1"]


@clause("RUN-5")
def test_a_quick_run_is_written_as_a_whole_by_the_next_turn() -> None:
    async def scenario() -> tuple[list[str], int]:
        world = World()
        await world.save("one")
        await world.runtime.turn()
        await world.runtime.collect()
        await world.runtime.turn()
        return await world.words("one"), world.ledger.calls.count("report")

    assert run_virtually(scenario()) == (["done SUCCESS -"], 1)


@clause("RUN-5")
def test_a_long_run_is_written_as_launched_one_turn_later() -> None:
    async def scenario() -> list[list[str]]:
        world, words = World(), []
        await world.save("one", "held")
        for _ in range(3):
            await world.runtime.turn()
            words.append(await world.words("one"))
        return words

    claimed, running = ["claimed ENQUEUED -"], ["running STARTED -"]
    assert run_virtually(scenario()) == [claimed, claimed, running]


@clause("RUN-5")
@pytest.mark.parametrize("done", [False, True])
def test_the_end_of_a_run_is_kept_while_the_ledger_fails(done: bool) -> None:
    async def scenario() -> list[str]:
        world = World()
        await world.save("one")
        await world.runtime.turn()
        await world.runtime.collect()
        world.ledger.fail("report", times=3, done=done)
        for _ in range(3):
            with pytest.raises(StoreError):
                await world.runtime.turn()
        await world.runtime.turn()
        return await world.words("one")

    assert run_virtually(scenario()) == ["done SUCCESS -"]


@clause("RUN-5")
def test_a_launch_whose_answer_was_lost_does_not_end_its_run() -> None:
    async def scenario() -> tuple[list[str], int]:
        world = World()
        await world.save("one", "held")
        await world.runtime.turn()
        await world.runtime.turn()  # a launch is held back for a turn
        world.ledger.fail("report", done=True)
        with pytest.raises(StoreError):
            await world.runtime.turn()
        await world.runtime.turn()
        await world.pass_ms(1)
        return await world.words("one"), world.runtime.telemetry.leases_lost

    assert run_virtually(scenario()) == (["running STARTED -"], 0)


@clause("RUN-7")
def test_a_run_whose_lease_was_lost_is_ended_and_its_report_refused() -> None:
    async def scenario() -> tuple[list[str | None], int, int]:
        world = World()
        await world.save("one", "held", uncertain="abandon")
        for _ in range(3):
            await world.runtime.turn()
        await world.ledger.recover(owner="worker-2", adopted=[], now_ms=world.clock.now_ms())
        await world.another("worker-2").turn()
        await world.pass_ms(30_000)
        await world.runtime.turn()
        await world.runtime.collect()
        await world.runtime.turn()
        telemetry = world.runtime.telemetry
        details = [row.detail for row in await world.rows("one")]
        return details, telemetry.leases_lost, telemetry.reports_refused

    assert run_virtually(scenario()) == ([None], 1, 1)


@clause("RUN-37")
def test_a_run_that_ended_elsewhere_before_its_lease_is_renewed_is_not_told_as_lost() -> None:
    async def scenario() -> tuple[list[str], int, int]:
        world = World()
        await world.save("one", "held", lease="30s")
        for _ in range(3):
            await world.runtime.turn()
        (row,) = await world.rows("one")
        await world.ledger.report([Ended(row.key, 1, True, "")], now_ms=world.clock.now_ms())
        await world.pass_ms(10_000)
        await world.runtime.turn()
        held, lost = world.runtime.in_hand, world.runtime.telemetry.leases_lost
        return await world.words("one"), held, lost

    assert run_virtually(scenario()) == (["done SUCCESS -"], 0, 0)


@clause("RUN-1")
def test_a_start_is_written_with_its_own_time_when_the_ledger_took_long() -> None:
    async def scenario() -> int | None:
        world = World()
        await world.save("one", "held")
        world.ledger.commit_ms = 4_500
        for _ in range(3):
            await world.runtime.turn()
        (row,) = await world.rows("one")
        return row.started_ms

    assert run_virtually(scenario()) == START_MS + 4_500


class LateAnswers(FaultyLedger):
    """Its commits are done at once, and known ten seconds later."""

    async def commit(
        self, changes: Sequence[Change], *, owner: str, confirmed: bool, now_ms: int
    ) -> Committed:
        held = await super().commit(changes, owner=owner, confirmed=confirmed, now_ms=now_ms)
        await asyncio.sleep(10 if owner == "worker-1" else 0)
        return held


@clause("RUN-2", "RUN-7")
@pytest.mark.parametrize(("lease", "began"), [("3s", ["2"]), ("30s", ["1"])])
def test_who_was_kept_waiting_starts_nothing_that_others_have_taken(
    lease: str, began: list[str]
) -> None:
    async def scenario() -> tuple[list[str], int]:
        world = World()
        ledger = world.ledger = LateAnswers.make()
        world.runtime = world.another("worker-1")
        await world.save("one", "held", uncertain="restart", lease=lease)
        waiting = asyncio.ensure_future(world.runtime.turn())
        await world.pass_ms(5_000)
        await world.apart("worker-2").turn()
        await waiting
        await world.pass_ms(0)
        assert ledger.calls.count("commit") <= 2
        return [line[-1] for line in world.began], world.runtime.telemetry.leases_lost

    lost = 1 if lease == "3s" else 0
    assert run_virtually(scenario()) == (began, lost)


@clause("RUN-3")
def test_a_process_begins_when_its_launch_is_in_the_ledger(tmp_path: Path) -> None:
    effect = tmp_path / "effect"

    async def scenario() -> tuple[State, bool, list[str]]:
        clock, ledger = SteeredClock(START_MS), FaultyLedger.make()
        launcher = ProcessLauncher(clock)
        runtime = Runtime(ledger, launcher, clock, "worker-1")
        record = every_minute("one", {"shell": f"echo ran >> {effect}"})
        await ledger.save(read_schedule(record), now_ms=START_MS)
        ledger.fail("report")
        with pytest.raises(StoreError):
            await runtime.turn()
        [before] = await ledger.runs("one")
        began = effect.exists()
        await runtime.turn()
        await runtime.collect()
        await runtime.turn()
        return before.state, began, [str(row.status) for row in await ledger.runs("one")]

    assert asyncio.run(scenario()) == (State.CLAIMED, False, ["SUCCESS"])
    assert effect.read_text() == "ran\n"


@clause("RUN-3")
def test_a_launch_whose_answer_was_lost_is_released_once(tmp_path: Path) -> None:
    effect = tmp_path / "effect"

    async def scenario() -> None:
        clock, ledger = SteeredClock(START_MS), FaultyLedger.make()
        runtime = Runtime(ledger, ProcessLauncher(clock), clock, "worker-1")
        record = every_minute("one", {"shell": f"echo ran >> {effect}"})
        await ledger.save(read_schedule(record), now_ms=START_MS)
        ledger.fail("report", done=True)
        with pytest.raises(StoreError):
            await runtime.turn()
        await runtime.turn()
        await runtime.collect()

    asyncio.run(scenario())

    assert effect.read_text() == "ran\n"


@clause("RUN-3")
def test_a_process_whose_launch_is_refused_never_begins(tmp_path: Path) -> None:
    effect = tmp_path / "effect"

    async def scenario() -> int:
        clock, ledger = SteeredClock(START_MS), FaultyLedger.make()
        runtime = Runtime(ledger, ProcessLauncher(clock), clock, "worker-1")
        record = every_minute("one", {"shell": f"echo ran >> {effect}"}, launches_max=1)
        await ledger.save(read_schedule(record), now_ms=START_MS)
        ledger.fail("report")
        with pytest.raises(StoreError):
            await runtime.turn()
        gone = Failed(period_key("one", START_MS // 1000), 1, "taken away", permanent=True)
        await ledger.report([gone], now_ms=START_MS)
        await runtime.turn()
        await runtime.collect()
        return runtime.telemetry.reports_refused

    assert asyncio.run(scenario()) == 1
    assert not effect.exists()


@clause("RUN-13")
def test_a_run_that_outlived_its_worker_is_taken_over(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        clock, ledger = SteeredClock(START_MS), FaultyLedger.make()
        record = every_minute("one", {"command": ["sleep", "1000"]})
        await ledger.save(read_schedule(record), now_ms=START_MS)
        former = ProcessLauncher(clock)
        await Runtime(ledger, former, clock, "worker-1").turn()
        [row] = await ledger.runs("one")
        launcher = ProcessLauncher(clock)
        runtime = Runtime(ledger, launcher, clock, "worker-2")
        await runtime.recover()
        words = [str((await ledger.runs("one"))[0].owner)]
        await launcher.end(row.key, Reason.REPLACED)
        await runtime.collect()
        await runtime.turn()
        await former.ended()
        return words + [f"{row.state} {row.detail}" for row in await ledger.runs("one")]

    assert asyncio.run(scenario()) == ["worker-2", "done exit unknown"]


@clause("RUN-13")
def test_a_run_that_is_gone_is_left_to_the_rule_for_uncertain_ones() -> None:
    async def scenario() -> list[str]:
        world = World()
        await world.save("one", "held", uncertain="restart")
        await world.runtime.turn()
        await world.pass_ms(1)
        await world.runtime.turn()
        key = period_key("one", START_MS // 1000)
        await world.launcher.end(key, Reason.UNCERTAIN)
        after = world.another("worker-2")
        await after.recover()
        await after.turn()
        await world.pass_ms(1)
        return world.began

    assert run_virtually(scenario()) == ["one 00:00:00 1", "one 00:00:00 2"]


@clause("RUN-2")
def test_a_launcher_that_breaks_does_not_stop_the_others() -> None:
    async def scenario() -> tuple[list[str], int]:
        world = World()
        for name in ("bad", "good"):
            await world.save(name)
        launch = world.launcher.launch

        async def breaks(claim: Claim) -> Launched | Failed:
            if claim.schedule.schedule_id == "bad":
                raise RuntimeError("out of order")
            return await launch(claim)

        world.launcher.launch = breaks  # type: ignore[method-assign]
        await world.runtime.turn()
        await world.pass_ms(1)
        return world.began, world.runtime.telemetry.launches

    assert run_virtually(scenario()) == (["good 00:00:00 1"], 1)
