"""
The runtime and a further try that is not to begin, while an earlier one may be running.

The world begins on 2026-03-01 at 00:00:00 UTC, and the schedule is due each minute. Overlap is
allowed at first: the run of 00:00 goes on elsewhere, and the launch of 00:01 is not answered. Then
the schedule is to replace: at 00:01:30 the second try of 00:01 is claimed, and waits for the end of
00:00, which takes its time.
"""

import asyncio
from collections.abc import Callable, Coroutine

import pytest

from gnomon.ports import Claim, Failed, Launched, Strained
from tests.clauses import clause
from tests.shell.elsewhere import Elsewhere, Outside
from tests.shell.virtual_time import run_virtually

Found = tuple[list[str], list[str]]
"""What the launcher was told, and what the ledger says."""


async def until(second: float) -> None:
    """Go on until so many seconds of the world have passed."""
    await asyncio.sleep(second - asyncio.get_running_loop().time())


async def found(world: Outside) -> Found:
    """With minutes instead of keys."""
    rows = (await world.ledger.runs("one"))[::-1]
    minutes = {row.key[:6]: f"00:0{number}" for number, row in enumerate(rows)}
    said = [line.split() for line in world.launcher.said]
    return [f"{verb} {minutes[key]} {how}" for verb, key, how in said], await world.words()


def seen(
    act: Callable[[Outside], Coroutine[None, None, None]], *, at: int, refused: bool = False
) -> Found:
    """What there is to see when so many seconds have passed; `act` begins at 00:01:40."""

    async def scenario() -> Found:
        world = Outside(Elsewhere())
        policy = {"launch_backoff": "30s", "lease": "10m", "launches_max": 5}
        await world.save(overlap_policy="allow", **policy)
        running = asyncio.create_task(world.runtime.run())
        await until(30)
        world.launcher.unanswered = 0 if refused else 1
        world.launcher.takes_ms, world.launcher.refuses = (1 if refused else 0), refused
        await until(70)
        world.launcher.takes_ms, world.launcher.ends_ms = 0, 40_000
        await world.save(overlap_policy="replace", **policy)
        await until(100)
        assert (await world.words())[1] == "claimed ENQUEUED -"
        await act(world)
        await until(at)
        result = await found(world)
        await world.runtime.stop(0)
        await running
        return result

    return run_virtually(scenario())


async def nothing_more(world: Outside) -> None:
    """Leave the world to itself."""


async def killed(world: Outside) -> None:
    world.launcher.ends_ms = 0
    await world.kill()
    world.runtime.wake()


@clause("RUN-8", "ASK-14")
def test_a_further_try_is_replaced_after_its_earlier_try_was_ended() -> None:
    before, _ = seen(nothing_more, at=159)
    said, words = seen(nothing_more, at=170)

    assert before == [
        "launch 00:00 1", "launch 00:01 1", "end 00:00 replaced", "end 00:00 replaced",
        "end 00:01 replaced",
    ]  # fmt: skip
    assert said == [*before, "launch 00:02 1"]
    assert words == ["done FAILED replaced", "done FAILED replaced", "running STARTED -"]


@clause("RUN-8")
def test_a_further_try_that_certainly_never_began_is_superseded() -> None:
    _, words = seen(nothing_more, at=170, refused=True)

    assert words == ["done FAILED replaced", "done SKIPPED superseded", "running STARTED -"]


@clause("RUN-8", "ENGINE-6")
def test_a_further_try_whose_earlier_try_cannot_be_ended_is_not_replaced() -> None:
    async def act(world: Outside) -> None:
        world.launcher.can_end = False

    said, words = seen(act, at=170)

    assert "launch 00:02 1" not in said
    assert words == ["running STARTED -", "planned None -", "planned None -"]


@clause("RUN-8", "ENGINE-6")
def test_what_could_not_be_ended_is_ended_by_who_comes_next() -> None:
    async def act(world: Outside) -> None:
        world.launcher.can_end = False
        await until(170)
        world.launcher.can_end, world.launcher.ends_ms = True, 0

    said, words = seen(act, at=195)

    assert said[-3:] == ["end 00:00 replaced", "end 00:01 replaced", "launch 00:03 1"]
    assert words == [
        "done FAILED replaced", "done FAILED replaced", "done SKIPPED superseded",
        "running STARTED -",
    ]  # fmt: skip


@clause("RUN-8")
def test_a_further_try_that_gives_way_can_be_replaced_by_two() -> None:
    async def act(world: Outside) -> None:
        world.launcher.ends_ms = 70_000
        await until(175)
        world.launcher.ends_ms = 1_000  # the run of 00:03 comes while 00:02 has 00:01 ended

    _, words = seen(act, at=195)

    assert words == [
        "done FAILED replaced", "done FAILED replaced", "done SKIPPED superseded",
        "running STARTED -",
    ]  # fmt: skip


@clause("RUN-8", "RUN-9")
def test_a_further_try_that_gives_way_is_given_back_when_its_worker_stops() -> None:
    async def act(world: Outside) -> None:
        await until(135)  # the run of 00:02 has come, and 00:01 is being ended until 00:02:40
        await world.runtime.stop(0)

    said, words = seen(act, at=136)

    assert said[-1] == "end 00:01 replaced"
    assert words == ["done FAILED replaced", "planned None -", "planned None -"]


@clause("RUN-8")
def test_a_further_try_that_gives_way_is_waited_for_at_the_end() -> None:
    async def act(world: Outside) -> None:
        await until(135)
        await world.kill()  # the run of 00:02, for which 00:01 gives way
        world.runtime.wake()
        await until(136)
        assert (await world.words())[1:] == ["claimed ENQUEUED -", "done SKIPPED killed"]
        await world.runtime.finish()

    _, words = seen(act, at=170)

    assert words == ["done FAILED replaced", "done FAILED replaced", "done SKIPPED killed"]


@clause("ASK-9", "ASK-15")
def test_a_further_try_that_is_killed_is_ended_through_the_launcher_at_once() -> None:
    said, words = seen(killed, at=101)

    assert said[2:] == ["end 00:00 replaced", "end 00:01 killed"]
    assert words == ["running STARTED -", "done FAILED killed"]


@clause("ASK-15")
def test_a_further_try_that_is_killed_and_cannot_be_ended_is_not_said_to_be_killed() -> None:
    async def act(world: Outside) -> None:
        world.launcher.can_end = False
        await killed(world)

    said, words = seen(act, at=110)

    assert said[2:] == ["end 00:00 replaced", "end 00:01 killed"]
    assert words == ["running STARTED -", "planned None -"]


@clause("ASK-9")
def test_a_further_try_that_is_killed_and_certainly_never_began_is_skipped() -> None:
    said, words = seen(killed, at=101, refused=True)

    assert said[2:] == ["end 00:00 replaced"]
    assert words == ["running STARTED -", "done SKIPPED killed"]


@clause("ASK-16")
def test_a_further_try_that_is_killed_and_whose_schedule_is_deleted_is_uncertain() -> None:
    async def act(world: Outside) -> None:
        await world.kill()
        await world.ledger.delete("one", now_ms=world.clock.now_ms())
        world.runtime.wake()

    said, words = seen(act, at=101)

    assert said[2:] == ["end 00:00 replaced"]
    assert words == ["running STARTED -", "done FAILED uncertain"]


class Breaking(Elsewhere):
    """A launcher that fails at its first launch and does not say whether that had worked."""

    async def launch(self, claim: Claim) -> Launched | Failed | Strained | None:
        answer = await super().launch(claim)
        if len(self.said) == 1:
            raise OSError("no route")
        return answer


@clause("RUN-8", "ASK-15")
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_run_whose_launcher_failed_is_ended_before_another_takes_its_place(
    is_killed: bool,
) -> None:
    async def scenario() -> Found:
        world = Outside(Breaking())
        more = {"uncertain": "relaunch_same_key", "launch_backoff": "10s", "lease": "90s"}
        await world.save(overlap_policy="replace", **more)
        running = asyncio.create_task(world.runtime.run())
        await until(10)
        if is_killed:
            await world.kill()
        await until(100)
        result = await found(world)
        await world.runtime.stop(0)
        await running
        return result

    said, words = run_virtually(scenario())
    first = ["end 00:00 killed"] if is_killed else ["launch 00:00 2", "end 00:00 replaced"]
    assert said == ["launch 00:00 1", *first, "launch 00:01 3"]
    assert words == [f"done FAILED {'killed' if is_killed else 'replaced'}", "running STARTED -"]
