"""
The runtime and runs that a user asked to end: no worker holds them, or they have not begun.

The world begins on 2026-03-01 at 00:00:00 UTC, and every schedule is due each minute.
"""

import asyncio

from gnomon.ports import Claim, Failed, Launched, Strained
from tests.clauses import clause
from tests.shell.elsewhere import Elsewhere, Outside
from tests.shell.virtual_time import run_virtually

Told = tuple[list[str], list[str]]
"""What the launcher was told, and what the ledger says."""


async def told(world: Outside) -> Told:
    verbs = [" ".join(line.split()[::2]) for line in world.launcher.said]
    return verbs, await world.words()


async def told_of_a_kill(world: Outside, *, after_s: float, wait_s: float, place: int = -1) -> Told:
    """Kill the newest run after a while, on virtual time, and say what has come of it by then."""
    running = asyncio.create_task(world.runtime.run())
    await asyncio.sleep(after_s)
    await world.kill(place)
    await asyncio.sleep(wait_s)
    found = await told(world)
    await world.runtime.stop(0)
    await running
    return found


@clause("ASK-15", "ASK-10")
def test_a_run_that_waits_and_may_be_running_is_ended_through_the_launcher() -> None:
    async def scenario() -> Told:
        world = Outside(Elsewhere())
        await world.save(overlap_policy="skip", launch_backoff="10s")
        world.launcher.unanswered = 1
        return await told_of_a_kill(world, after_s=5, wait_s=25)

    assert run_virtually(scenario()) == (["launch 1", "end killed"], ["done FAILED killed"])


@clause("ASK-15", "ASK-10")
def test_a_run_that_is_to_be_ended_and_is_not_answered_is_not_launched_again() -> None:
    async def scenario() -> Told:
        world = Outside(Elsewhere())
        await world.save(overlap_policy="skip", launch_backoff="1s")
        world.launcher.unanswered = 1
        await world.runtime.turn()
        await world.kill()  # before the worker reports that the launch had no answer
        await world.run_for(20_000)
        return await told(world)

    assert run_virtually(scenario()) == (["launch 1", "end killed"], ["done FAILED killed"])


@clause("ASK-16")
def test_a_run_that_the_launcher_cannot_end_is_asked_for_again_and_given_up() -> None:
    async def scenario() -> tuple[bool, set[str], list[str]]:
        world = Outside(Elsewhere())
        await world.save(overlap_policy="skip", launch_backoff="10s", lease="20s")
        world.launcher.unanswered, world.launcher.can_end = 1, False
        said, words = await told_of_a_kill(world, after_s=5, wait_s=250)
        return said.count("end killed") > 5, set(said), words

    asked_often, said, words = run_virtually(scenario())
    assert asked_often
    assert said == {"launch 1", "end killed"}
    assert words == [
        "done FAILED uncertain", "done SKIPPED overlap", "done SKIPPED overlap",
        "done SKIPPED overlap", "running STARTED -",
    ]  # fmt: skip


@clause("ASK-16", "RUN-17")
def test_what_cannot_be_ended_is_tried_once_a_second_while_claims_are_held_back() -> None:
    class Full(Elsewhere):
        async def launch(self, claim: Claim) -> Launched | Failed | Strained | None:
            if self.unanswered:
                return await super().launch(claim)
            return Strained(claim.key, claim.fence, "Too many open files")

    async def scenario() -> int:
        world = Outside(Full())
        await world.save(overlap_policy="allow", launch_backoff="10m", lease="10m")
        world.launcher.unanswered, world.launcher.can_end = 1, False
        said, _ = await told_of_a_kill(world, after_s=65, wait_s=60, place=0)
        return said.count("end killed")

    assert 1 <= run_virtually(scenario()) <= 60


@clause("ASK-15", "ASK-10")
def test_a_run_whose_launcher_failed_is_ended_when_its_lease_is_over() -> None:
    class Broken(Elsewhere):
        async def launch(self, claim: object) -> None:
            self.said.append("launch x 1")
            raise OSError("no route")

    async def scenario() -> Told:
        world = Outside(Broken())
        await world.save(overlap_policy="skip", lease="20s", uncertain="restart")
        return await told_of_a_kill(world, after_s=5, wait_s=50)

    assert run_virtually(scenario()) == (["launch 1", "end killed"], ["done FAILED killed"])


@clause("ASK-17")
def test_a_claim_that_was_killed_while_it_waited_for_room_is_not_launched() -> None:
    async def scenario() -> Told:
        world = Outside(Elsewhere())
        world.launcher.ends_ms = 500
        await world.save(overlap_policy="replace")
        # The second run waits for the end of the first.
        return await told_of_a_kill(world, after_s=60.2, wait_s=5)

    assert run_virtually(scenario()) == (
        ["launch 1", "end replaced"], ["done FAILED replaced", "done SKIPPED killed"],
    )  # fmt: skip


@clause("ASK-17")
def test_a_claim_that_waited_for_room_and_that_no_user_killed_is_launched_at_once() -> None:
    async def scenario() -> Told:
        world = Outside(Elsewhere())
        world.launcher.ends_ms = 500
        await world.save(overlap_policy="replace")
        await world.run_for(60_600)
        return await told(world)

    assert run_virtually(scenario()) == (
        ["launch 1", "end replaced", "launch 1"], ["done FAILED replaced", "running STARTED -"],
    )  # fmt: skip
