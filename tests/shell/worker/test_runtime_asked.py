"""
The runtime and what people ask for: runs that are ended, launches that take their time.

The world begins on 2026-03-01 at 00:00:00 UTC, and every schedule is due each minute.
"""

import asyncio

from gnomon.ports import By, Ended
from tests.clauses import clause
from tests.shell.elsewhere import Elsewhere, Outside
from tests.shell.virtual_time import START_MS, run_virtually
from tests.shell.worker_world import World


@clause("ASK-9")
def test_a_run_that_is_to_be_ended_is_ended_by_its_worker() -> None:
    async def scenario() -> list[str]:
        world = World()
        await world.save("one", "held")
        running = asyncio.create_task(world.runtime.run())
        await world.pass_ms(10_000)
        [row] = await world.rows("one")
        await world.ledger.kill(row.key, by=By("anna"), now_ms=world.clock.now_ms())
        world.runtime.wake()
        await world.pass_ms(100)
        words = await world.words("one")
        await world.runtime.stop(0)
        await running
        return words

    assert run_virtually(scenario()) == ["done FAILED killed"]


@clause("ASK-9")
def test_without_a_call_the_next_turn_sees_it() -> None:
    async def scenario() -> list[str]:
        world = World()
        await world.save("one", "held")
        await world.runtime.turn()
        await world.pass_ms(1)
        [row] = await world.rows("one")
        await world.ledger.kill(row.key, by=By("anna"), now_ms=world.clock.now_ms())
        await world.pass_ms(1_000)
        await world.runtime.turn()
        await world.runtime.collect()
        await world.runtime.turn()
        return await world.words("one")

    assert run_virtually(scenario()) == ["done FAILED killed"]


@clause("ASK-9")
def test_a_claim_that_waits_for_another_run_to_end_is_given_up() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        world = World()
        await world.save("one", "stubborn", overlap_policy="replace")
        running = asyncio.create_task(world.runtime.run())
        await world.pass_ms(60_100)
        newest = (await world.rows("one"))[-1]
        await world.ledger.kill(newest.key, by=By("anna"), now_ms=world.clock.now_ms())
        world.runtime.wake()
        await world.pass_ms(1_000)
        words, began = await world.words("one"), list(world.began)
        world.go.set()
        await world.runtime.stop(0)
        await running
        return words, began

    assert run_virtually(scenario()) == (
        ["running STARTED -", "done SKIPPED killed"], ["one 00:00:00 1"],
    )  # fmt: skip


@clause("ASK-13")
def test_a_launch_that_takes_its_time_holds_up_no_other() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        world = Outside(Elsewhere(takes_ms=150_000))
        await world.save(overlap_policy="allow", lease="60s")
        await world.run_for(170_000)
        return world.launcher.said, await world.words()

    said, words = run_virtually(scenario())
    assert [line.split()[2] for line in said] == ["1", "1", "1"]
    assert words == ["running STARTED -", "claimed ENQUEUED -", "claimed ENQUEUED -"]


@clause("ASK-13")
def test_a_slow_launch_that_fails_is_tried_again() -> None:
    async def scenario() -> list[str]:
        launcher = Elsewhere(takes_ms=2_000)
        launcher.refuses = True
        world = Outside(launcher)
        await world.save(overlap_policy="skip", launch_backoff="5s", launches_max=2)
        await world.run_for(30_000)
        return [*(line.split()[2] for line in launcher.said), *await world.words()]

    assert run_virtually(scenario()) == ["1", "2", "done FAILED launch_failed"]


@clause("ASK-11")
def test_a_run_that_lives_elsewhere_is_let_go_and_ends_by_report() -> None:
    async def scenario() -> tuple[int, list[str], list[str]]:
        world = Outside(Elsewhere(detached_ms=600_000))
        await world.save(overlap_policy="skip")
        await world.runtime.turn()
        held = world.runtime.in_hand
        await world.runtime.turn()
        await world.runtime.turn()
        before = await world.words()
        [row] = await world.ledger.runs("one")
        end = Ended(row.key, row.fence, success=True, detail="")
        await world.ledger.report([end], now_ms=START_MS + 9_000)
        return held, before, await world.words()

    assert run_virtually(scenario()) == (0, ["running STARTED -"], ["done SUCCESS -"])


@clause("ASK-11", "ASK-9")
def test_a_run_that_no_worker_holds_is_ended_through_the_launcher() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        world = Outside(Elsewhere())
        await world.save(overlap_policy="skip")
        running = asyncio.create_task(world.runtime.run())
        await asyncio.sleep(1)
        [row] = await world.ledger.runs("one")
        await world.ledger.kill(row.key, by=By("anna"), now_ms=world.clock.now_ms())
        world.launcher.can_end = False
        world.runtime.wake()
        await asyncio.sleep(0.1)
        still = await world.words()
        world.launcher.can_end = True
        world.runtime.wake()
        await asyncio.sleep(0.1)
        words = await world.words()
        await world.runtime.stop(0)
        await running
        return still, words

    assert run_virtually(scenario()) == (["running STARTED -"], ["done FAILED killed"])


@clause("ASK-11")
def test_a_run_that_no_worker_holds_is_replaced_through_the_launcher() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        world = Outside(Elsewhere())
        await world.save(overlap_policy="replace")
        await world.run_for(61_000)
        return [line.split()[0] for line in world.launcher.said], await world.words()

    assert run_virtually(scenario()) == (
        ["launch", "end", "launch"], ["done FAILED replaced", "running STARTED -"],
    )  # fmt: skip


@clause("ENGINE-6")
def test_a_run_that_may_be_running_is_replaced_through_the_launcher() -> None:
    async def scenario() -> tuple[list[str], list[str], int]:
        world = Outside(Elsewhere())
        await world.save(overlap_policy="replace", launch_backoff="90s")
        world.launcher.unanswered = 1
        await world.run_for(61_000)
        refused = world.runtime.telemetry.reports_refused
        return [line.split()[0] for line in world.launcher.said], await world.words(), refused

    assert run_virtually(scenario()) == (
        ["launch", "end", "launch"], ["done FAILED replaced", "running STARTED -"], 0,
    )  # fmt: skip


@clause("ENGINE-6")
def test_a_run_whose_launch_is_not_answered_while_another_comes_to_replace_it_is_ended() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        world = Outside(Elsewhere())
        await world.save(overlap_policy="replace", lease="10m", launch_backoff="10m")
        for _ in range(3):
            await world.runtime.turn()
        await asyncio.sleep(60)
        await world.runtime.turn()  # the second run is claimed, and waits for the end of the first
        await asyncio.sleep(60)
        world.launcher.unanswered = 1
        await world.runtime.turn()  # the third is claimed, and only then the second launched
        await asyncio.sleep(0.1)
        await world.runtime.turn()
        return [line.split()[0] for line in world.launcher.said], await world.words()

    said, words = run_virtually(scenario())
    assert said == ["launch", "end", "launch", "end", "launch"]
    assert words[0] == "done FAILED replaced"
    assert len(words) == 3


@clause("ENGINE-6")
def test_nothing_starts_beside_a_run_that_may_be_running_and_cannot_be_ended() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        world = Outside(Elsewhere())
        await world.save(overlap_policy="replace", launch_backoff="10m", launches_max=2)
        world.launcher.unanswered, world.launcher.can_end = 1, False
        await world.run_for(61_000)
        return [line.split()[0] for line in world.launcher.said], await world.words()

    assert run_virtually(scenario()) == (["launch", "end"], ["planned None -", "planned None -"])


@clause("ASK-11")
def test_a_run_elsewhere_that_ended_before_its_launch_was_written_is_not_lost() -> None:
    async def scenario() -> tuple[int, int, list[str], list[str]]:
        world = Outside(Elsewhere())
        await world.save(overlap_policy="skip")
        await world.runtime.turn()
        [row] = await world.ledger.runs("one")
        end = Ended(row.key, row.fence, success=True, detail="")
        await world.ledger.report([end], now_ms=START_MS + 1)
        await world.runtime.turn()
        await world.runtime.turn()
        counts = world.runtime.telemetry
        ended = [line for line in world.launcher.said if line.startswith("end")]
        return counts.leases_lost, counts.reports_refused, ended, await world.words()

    assert run_virtually(scenario()) == (0, 0, [], ["done SUCCESS -"])
