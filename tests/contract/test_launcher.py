"""What every launcher promises, asked of each of them."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path

import pytest

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports import Ended, Failed, Launched, Launcher
from gnomon.shell.clock import SystemClock
from gnomon.shell.launcher.process import ProcessLauncher
from tests.clauses import clause
from tests.shell.launcher.claims import a_claim
from tests.stand_ins.function_launcher import Context, FunctionLauncher

Scenario = Callable[["Kind"], Coroutine[object, object, None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A launcher, with targets that do the same under each."""

    launcher: Launcher
    good: object
    bad: object
    endless: object
    unknown: object
    failure: str


async def _good(context: Context) -> None:
    assert context.period == "2026-03-01T00:00:00Z"


async def _bad(context: Context) -> None:
    raise ValueError(context.schedule_id)


async def _endless(context: Context) -> None:
    await asyncio.Event().wait()


def functions() -> Kind:
    known = {"good": _good, "bad": _bad, "endless": _endless}
    return Kind(
        launcher=FunctionLauncher(known, SystemClock()),
        good={"function": "good"}, bad={"function": "bad"}, endless={"function": "endless"},
        unknown={"function": "other"}, failure="ValueError: billing",
    )  # fmt: skip


def processes(directory: Path, *, pidfds: bool) -> Kind:
    return Kind(
        launcher=ProcessLauncher(SystemClock(), directory=directory, pidfds=pidfds),
        good={"command": ["true"]}, bad={"shell": "exit 3"}, endless={"command": ["sleep", "1000"]},
        unknown={"command": ["no-such-program"]}, failure="exit 3",
    )  # fmt: skip


@pytest.fixture(params=["function", "process", "process without pidfds"])
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Scenario], None]:
    """Runs a scenario with a launcher, and ends whatever the scenario left."""

    async def whole(scenario: Scenario) -> None:
        pidfds = request.param == "process"
        kind = functions() if request.param == "function" else processes(tmp_path, pidfds=pidfds)
        try:
            await scenario(kind)
        finally:
            await kind.launcher.drain(grace_ms=0)

    return lambda scenario: asyncio.run(whole(scenario))


async def start(kind: Kind, target: object, *, name: str = "billing", fence: int = 1) -> str:
    claim = a_claim(target, name=name, fence=fence)
    launched = await kind.launcher.launch(claim)
    assert isinstance(launched, Launched)
    await kind.launcher.release(claim.key)
    return claim.key


Play = Callable[[Scenario], None]


@clause("LAUNCH-1")
def test_a_run_that_ends_well_is_reported_with_its_fencing_number(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        key = await start(kind, kind.good, fence=7)

        [end] = await kind.launcher.ended()
        assert isinstance(end, Ended)

        assert (end.key, end.fence, end.success, end.reason) == (key, 7, True, None)

    play(scenario)


@clause("LAUNCH-1", "LAUNCH-4")
def test_a_run_that_fails_says_why_in_one_line(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        key = await start(kind, kind.bad)

        (end,) = await kind.launcher.ended()
        assert end[:5] == Ended(key, 1, False, kind.failure)[:5]

    play(scenario)


@clause("LAUNCH-2")
@pytest.mark.parametrize("target", [None, "text", {}, {"function": 3}, {"command": []}])
def test_a_target_that_makes_no_sense_is_a_permanent_failure(play: Play, target: object) -> None:
    async def scenario(kind: Kind) -> None:
        failed = await kind.launcher.launch(a_claim(target))

        assert isinstance(failed, Failed)
        assert failed.permanent

    play(scenario)


@clause("LAUNCH-2")
def test_what_is_not_there_is_a_permanent_failure(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        failed = await kind.launcher.launch(a_claim(kind.unknown))

        assert isinstance(failed, Failed)
        assert failed.permanent

    play(scenario)


@clause("LAUNCH-3")
def test_a_run_can_be_ended_and_says_for_which_reason(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        key = await start(kind, kind.endless)

        over = await kind.launcher.end(key, Reason.REPLACED)

        [end] = await kind.launcher.ended()
        assert isinstance(end, Ended)
        assert over
        assert (end.key, end.success, end.reason) == (key, False, Reason.REPLACED)

    play(scenario)


@clause("LAUNCH-3")
def test_a_run_can_be_ended_before_it_has_begun(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        claim = a_claim(kind.endless)
        await kind.launcher.launch(claim)

        over = await kind.launcher.end(claim.key, Reason.UNCERTAIN)

        assert over
        assert [end.key for end in await kind.launcher.ended()] == [claim.key]

    play(scenario)


@clause("LAUNCH-3", "ASK-18")
def test_a_launcher_does_not_say_that_what_it_does_not_have_is_over(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        assert await kind.launcher.end("nothing", Reason.REPLACED) is None

    play(scenario)


@clause("LAUNCH-3")
def test_a_drain_ends_what_does_not_end_by_itself(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        keys = {await start(kind, kind.endless, name=name) for name in ("one", "two")}

        await kind.launcher.drain(grace_ms=0)

        assert {end.key for end in await kind.launcher.ended()} == keys

    play(scenario)


@clause("LAUNCH-3")
def test_a_drain_waits_for_runs_that_end_by_themselves(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        await start(kind, kind.good)

        await kind.launcher.drain(grace_ms=600_000)

        [end] = await kind.launcher.ended()
        assert isinstance(end, Ended)
        assert end.success

    play(scenario)


@clause("LAUNCH-1")
def test_a_key_that_is_in_flight_is_not_started_a_second_time(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        await start(kind, kind.endless, fence=1)

        failed = await kind.launcher.launch(a_claim(kind.endless, fence=2))

        assert isinstance(failed, Failed)
        assert not failed.permanent

    play(scenario)


@clause("LAUNCH-1")
def test_giving_up_waiting_for_ends_loses_none(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        waiting = asyncio.ensure_future(kind.launcher.ended())
        key = await start(kind, kind.endless)
        waiting.cancel()
        await kind.launcher.end(key, Reason.REPLACED)

        assert [end.key for end in await kind.launcher.ended()] == [key]

    play(scenario)


@clause("LAUNCH-8")
@pytest.mark.parametrize("run_id", ["", "x", "1:2", "1:2:3:4:5", "99999999:1:ab:0:0", "-4:1:a:0:0"])
def test_a_run_that_the_launcher_does_not_know_is_not_adopted(play: Play, run_id: str) -> None:
    async def scenario(kind: Kind) -> None:
        assert not await kind.launcher.adopt("key", run_id)

    play(scenario)
