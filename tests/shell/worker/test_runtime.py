"""
The runtime as a loop: how it rests, what it does when the ledger fails, how it stops.

Time is virtual. The world begins on 2026-03-01 at 00:00:00 UTC.
"""

import asyncio
import logging

import pytest

from gnomon.errors import DamagedStoreError, StoreError, StoreGoneError
from gnomon.shell.worker.runtime import BACKOFF_MAX_MS, REST_MAX_MS
from tests.clauses import clause
from tests.shell.virtual_time import run_virtually
from tests.shell.worker_world import World


async def live(world: World, length_ms: int, *, grace_ms: int = 0) -> None:
    """Run for a while and stop."""
    running = asyncio.ensure_future(world.runtime.run())
    await world.pass_ms(length_ms)
    await world.runtime.stop(grace_ms)
    await running


@clause("RUN-10")
def test_what_is_due_runs_at_its_minute() -> None:
    async def scenario() -> tuple[list[str], int]:
        world = World()
        await world.save("one")
        await live(world, 130_000)
        return world.began, world.runtime.telemetry.lag.max_ms

    began, lag_ms = run_virtually(scenario())
    assert began == ["one 00:00:00 1", "one 00:01:00 1", "one 00:02:00 1"]
    assert lag_ms == 0


@clause("RUN-10")
def test_no_rest_is_longer_than_half_a_minute() -> None:
    async def scenario() -> int:
        world = World()
        await live(world, 3_600_000)
        return max(world.clock.sleeps)

    assert run_virtually(scenario()) == REST_MAX_MS == 30_000


@clause("RUN-10")
def test_a_schedule_that_is_saved_is_seen_at_once_when_the_runtime_is_woken() -> None:
    async def scenario() -> tuple[list[str], int]:
        world = World()
        running = asyncio.ensure_future(world.runtime.run())
        await world.pass_ms(60_000)
        await world.save("one")
        world.runtime.wake()
        await world.pass_ms(10)
        began = list(world.began)
        await world.runtime.stop(0)
        await running
        return began, world.runtime.telemetry.turns

    began, turns = run_virtually(scenario())
    assert began == ["one 00:01:00 1"]
    assert turns < 10


@clause("RUN-4")
def test_a_ledger_that_fails_is_tried_again_and_less_and_less_often(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> tuple[list[str], int]:
        world = World()
        await world.save("one", catchup_policy="latest")
        world.ledger.fail("load", times=12)
        await live(world, 200_000)
        return world.began, world.runtime.telemetry.ledger_errors

    with caplog.at_level(logging.INFO, logger="gnomon.runtime"):
        began, errors = run_virtually(scenario())

    waits = [
        record.fields["wait_ms"]
        for record in caplog.records
        if hasattr(record, "fields") and "wait_ms" in record.fields
    ]
    assert waits == [100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000]
    assert waits[-1] == BACKOFF_MAX_MS
    assert errors == 12
    assert any("the ledger answers again" in record.getMessage() for record in caplog.records)
    assert began == ["one 00:02:00 1", "one 00:03:00 1"]


@clause("RUN-4")
def test_who_hears_from_the_ledger_ends_the_waiting_for_it() -> None:
    async def scenario() -> list[tuple[int, int]]:
        world = World()
        world.ledger.fail("load", times=30)
        running = asyncio.ensure_future(world.runtime.run())
        found = []
        for length_ms, calls in [(30_000, 0), (200, 1), (9_000, 0), (200, 50)]:
            for _ in range(calls):
                world.runtime.try_again()
            before = world.ledger.calls.count("load")
            await world.pass_ms(length_ms)
            found.append((length_ms, world.ledger.calls.count("load") - before))
        await world.runtime.stop(0)
        await running
        return found

    # After half a minute it waits for 25 s; called, it tries at once, and then waits for 30.
    assert run_virtually(scenario()) == [(30_000, 9), (200, 1), (9_000, 0), (200, 1)]


@clause("RUN-4")
def test_a_caller_that_calls_again_and_again_does_not_keep_it_busy() -> None:
    async def scenario() -> int:
        world = World()
        world.ledger.fail("load", times=1_000)
        running = asyncio.ensure_future(world.runtime.run())
        for _ in range(1_000):
            await world.pass_ms(10)
            world.runtime.wake()
        await world.runtime.stop(0)
        await running
        return world.runtime.telemetry.ledger_errors

    assert 90 <= run_virtually(scenario()) <= 110


@clause("RUN-4", "RUN-5")
@pytest.mark.parametrize("call", ["load", "commit", "report"])
@pytest.mark.parametrize("done", [False, True])
def test_a_failure_of_any_call_loses_and_doubles_nothing(call: str, done: bool) -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        world = World()
        await world.save("one", uncertain="restart", lease="3s")
        world.ledger.fail(call, done=done)
        await live(world, 50_000)
        return [line[:12] for line in world.began], await world.words("one")

    assert run_virtually(scenario()) == (["one 00:00:00"], ["done SUCCESS -"])


@clause("RUN-6")
def test_a_long_run_keeps_its_lease() -> None:
    async def scenario() -> tuple[list[str], int]:
        world = World()
        await world.save("one", "held", uncertain="restart", lease="9s")
        running = asyncio.ensure_future(world.runtime.run())
        await world.pass_ms(50_000)
        began, renewals = list(world.began), world.ledger.calls.count("renew")
        await world.runtime.stop(0)
        await running
        return began, renewals

    began, renewals = run_virtually(scenario())
    assert began == ["one 00:00:00 1"]
    assert renewals == 16  # every three seconds


@clause("RUN-6", "LEDGER-8")
def test_a_run_is_not_taken_from_its_worker_because_its_lease_was_made_shorter() -> None:
    async def scenario() -> tuple[list[str], int]:
        world = World()
        often = {"overlap_policy": "skip", "uncertain": "restart"}
        await world.save("one", "held", lease="10m", **often)
        other = world.apart("worker-2")
        workers = [asyncio.ensure_future(one.run()) for one in (world.runtime, other)]
        await world.pass_ms(10_000)
        await world.save("one", "held", lease="15s", **often)
        await world.pass_ms(900_000)
        began = list(world.began)
        for one in (world.runtime, other):
            await one.stop(0)
        await asyncio.gather(*workers)
        return began, world.runtime.telemetry.leases_lost + other.telemetry.leases_lost

    assert run_virtually(scenario()) == (["one 00:00:00 1"], 0)


@clause("RUN-6", "RUN-11")
@pytest.mark.parametrize("step_ms", [3_600_000, -3_600_000])
def test_a_run_survives_that_the_clock_is_set(step_ms: int) -> None:
    async def scenario() -> tuple[list[str], int, int]:
        world = World()
        await world.save("one", "held", uncertain="restart", overlap_policy="skip")
        running = asyncio.ensure_future(world.runtime.run())
        await world.pass_ms(10_000)
        world.clock.offset_ms += step_ms
        world.runtime.wake()  # before a third of the lease has really passed
        await world.pass_ms(90_000)
        telemetry, began = world.runtime.telemetry, list(world.began)
        await world.runtime.stop(0)
        await running
        return began, telemetry.clock_jumps, telemetry.leases_lost

    assert run_virtually(scenario()) == (["one 00:00:00 1"], 1, 0)


@clause("RUN-6")
def test_leases_are_renewed_while_the_wall_clock_repeats_an_hour() -> None:
    async def scenario() -> tuple[int, int]:
        world = World()
        await world.save("one", "held", lease="9s")
        running = asyncio.ensure_future(world.runtime.run())
        await world.pass_ms(10_000)
        world.clock.offset_ms -= 3_600_000
        before, turns = world.ledger.calls.count("renew"), world.runtime.telemetry.turns
        await world.pass_ms(30_000)
        renewals = world.ledger.calls.count("renew") - before
        turns = world.runtime.telemetry.turns - turns
        await world.runtime.stop(0)
        await running
        return renewals, turns

    renewals, turns = run_virtually(scenario())
    assert renewals == 10  # every three seconds
    assert turns < 15


@clause("RUN-9")
def test_a_stopping_runtime_waits_for_its_runs() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        world = World()
        await world.save("one", "held", overlap_policy="allow", lease="9s")
        running = asyncio.ensure_future(world.runtime.run())
        await world.pass_ms(10_000)
        stopping = asyncio.ensure_future(world.runtime.stop(3_600_000))
        await world.pass_ms(120_000)
        world.go.set()
        await stopping
        await running
        return world.began, await world.words("one")

    assert run_virtually(scenario()) == (["one 00:00:00 1"], ["done SUCCESS -"])


@clause("RUN-9")
def test_a_stopping_runtime_ends_what_outlasts_its_patience() -> None:
    async def scenario() -> list[str]:
        world = World()
        await world.save("one", "held")
        await live(world, 10_000, grace_ms=5_000)
        return await world.words("one")

    assert run_virtually(scenario()) == ["done FAILED stopped"]


@clause("RUN-9")
def test_a_stopping_runtime_does_not_start_what_waits_for_the_end_of_another_run() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        world = World()
        await world.save("one", "stubborn", overlap_policy="replace")
        running = asyncio.ensure_future(world.runtime.run())
        await world.pass_ms(60_001)  # the second period waits for the first to end
        stopping = asyncio.ensure_future(world.runtime.stop(1_000))
        await world.pass_ms(100)
        world.go.set()
        await stopping
        await running
        return world.began, await world.words("one")

    began, words = run_virtually(scenario())
    assert began == ["one 00:00:00 1"]
    assert words == ["done SUCCESS -", "planned None -"]


@clause("RUN-9")
def test_a_runtime_that_is_to_finish_lets_its_runs_end_and_claims_no_more() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        world = World()
        await world.save("one", "held", overlap_policy="allow")
        running = asyncio.ensure_future(world.runtime.run())
        await world.pass_ms(10_000)
        finishing = asyncio.ensure_future(world.runtime.finish())
        await world.pass_ms(300_000)
        world.go.set()
        await finishing
        await running
        return world.began, await world.words("one")

    assert run_virtually(scenario()) == (["one 00:00:00 1"], ["done SUCCESS -"])


@clause("RUN-9")
def test_a_runtime_that_is_to_finish_can_still_be_stopped() -> None:
    async def scenario() -> list[str]:
        world = World()
        await world.save("one", "held")
        running = asyncio.ensure_future(world.runtime.run())
        await world.pass_ms(10_000)
        finishing = asyncio.ensure_future(world.runtime.finish())
        await world.pass_ms(60_000)
        await world.runtime.stop(2_000)
        await finishing
        await running
        return await world.words("one")

    assert run_virtually(scenario()) == ["done FAILED stopped"]


@clause("RUN-9")
def test_a_stopping_runtime_does_not_wait_for_ever_for_its_ledger() -> None:
    async def scenario() -> list[str]:
        world = World()
        await world.save("one", "held", lease="1h")
        running = asyncio.ensure_future(world.runtime.run())
        await world.pass_ms(10_000)
        world.ledger.fail("report", times=1_000)
        await world.runtime.stop(0)
        await running
        return await world.words("one")

    assert run_virtually(scenario()) == ["running STARTED -"]


@clause("RUN-9")
def test_stopping_what_does_not_run_is_done_at_once() -> None:
    async def scenario() -> None:
        await World().runtime.stop(0)

    run_virtually(scenario())


@clause("RUN-9")
def test_a_runtime_whose_launcher_breaks_says_so() -> None:
    async def scenario() -> None:
        world = World()

        async def breaks() -> list[object]:
            raise RuntimeError("out of order")

        world.launcher.ended = breaks  # type: ignore[method-assign, assignment]
        await world.runtime.run()

    with pytest.raises(RuntimeError, match="out of order"):
        run_virtually(scenario())


@clause("RUN-16")
@pytest.mark.parametrize("call", ["load", "commit", "report"])
@pytest.mark.parametrize("failure", [DamagedStoreError, StoreGoneError])
def test_a_ledger_that_is_of_no_use_any_more_ends_the_runtime(
    call: str, failure: type[StoreError]
) -> None:
    async def scenario() -> list[str]:
        world = World()
        await world.save("one", "held")
        running = asyncio.ensure_future(world.runtime.run())
        await world.pass_ms(70_000)
        world.ledger.failure = failure("is of no use", where="test")
        world.ledger.fail(call)
        world.go.set()
        world.runtime.wake()
        await world.pass_ms(120_000)
        assert running.done()
        with pytest.raises(failure):
            await running
        return world.began

    assert run_virtually(scenario()) == ["one 00:00:00 1"]
