"""The copy of what the server has: late at times, never silently wrong for long."""

import asyncio

from gnomon.ports.kubernetes import Denial, Denied, Get, Kind, MergePatch, NoAnswer
from gnomon.ports.kubernetes_object import text
from gnomon.shell.kubernetes.mirror import SILENT_MS, WATCH_S
from tests.apps.operator.operating import Operating, in_a_world
from tests.clauses import clause


def labelled(world: Operating, value: str) -> None:
    patch = {"metadata": {"labels": {"n": value}}}
    world.done(MergePatch(Kind.KRONJOB, "prod", "report", patch))


def uid_of(world: Operating) -> str:
    return text(world.kronjob(), "metadata", "uid")


@clause("OPERATOR-32")
def test_a_watch_that_falls_silent_is_given_up_and_everything_looked_up() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="@daily")
        one, way = world.operator()
        await world.until(30)
        way.is_silent = True
        labelled(world, "silent")
        await world.until(WATCH_S + SILENT_MS // 1000 - 5)
        (seen,) = one.kronjobs.of(uid_of(world))
        assert text(seen, "metadata", "labels", "n") == ""

        await world.until(WATCH_S + SILENT_MS // 1000 + 5)

        (seen,) = one.kronjobs.of(uid_of(world))
        assert text(seen, "metadata", "labels", "n") == "silent"
        assert one.kronjobs.lists == 2

    in_a_world(scenario)


@clause("OPERATOR-32")
def test_a_watch_that_ends_goes_on_where_it_ended() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="@daily")
        one, _ = world.operator()
        await world.until(5 * WATCH_S)
        labelled(world, "later")
        await world.until(5 * WATCH_S + 2)

        (seen,) = one.kronjobs.of(uid_of(world))
        assert text(seen, "metadata", "labels", "n") == "later"
        assert one.kronjobs.lists == 1

    in_a_world(scenario)


@clause("OPERATOR-32")
def test_a_version_that_is_too_old_is_looked_up_anew_and_what_went_meanwhile_is_gone() -> None:
    async def scenario(world: Operating) -> None:
        world.make("report", schedule="@daily")
        world.make("other", schedule="@daily")
        one, way = world.operator()
        await world.until(5)
        way.is_cut = True
        await world.until(WATCH_S + 5)
        world.delete(Kind.KRONJOB, "other")
        labelled(world, "newer")
        world.server.forget_history()
        way.is_cut = False
        await world.until(WATCH_S + 20)

        (seen,) = one.kronjobs.of(uid_of(world))
        assert text(seen, "metadata", "labels", "n") == "newer"
        assert len(one.kronjobs) == 1
        assert one.kronjobs.trouble == ""

    in_a_world(scenario)


@clause("OPERATOR-32")
def test_why_nothing_is_heard_is_said() -> None:
    async def scenario(world: Operating) -> None:
        one, way = world.operator()
        refused = Denied(Denial.FORBIDDEN, "jobs is forbidden", None)

        async def find(call: object) -> Denied:
            return refused

        way.find = find  # type: ignore[method-assign]
        await world.until(20)

        assert one.jobs.trouble == (
            "forbidden: jobs is forbidden; "
            "grant the rights of gnomon operator manifests, or name a --namespace"
        )
        assert not one.is_synced

    in_a_world(scenario)


@clause("OPERATOR-32")
def test_what_a_pass_was_told_late_does_not_bring_back_what_has_gone() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="@daily")
        one, _ = world.operator()
        await world.until(5)
        old = world.kronjob()
        world.delete(Kind.KRONJOB, "report")
        await world.until(10)

        one.kronjobs.fold(old)

        assert len(one.kronjobs) == 0

    in_a_world(scenario)


@clause("OPERATOR-32")
def test_what_a_pass_was_told_is_newer_than_a_watch_that_lags() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="@daily")
        one, way = world.operator()
        await world.until(5)
        way.is_silent = True
        labelled(world, "one")
        before = world.kronjob()
        labelled(world, "two")

        one.kronjobs.fold(world.kronjob())
        one.kronjobs.fold(before)

        (seen,) = one.kronjobs.of(uid_of(world))
        assert text(seen, "metadata", "labels", "n") == "two"

    in_a_world(scenario)


@clause("OPERATOR-32")
def test_an_object_without_a_version_is_never_taken_from_a_pass() -> None:
    async def scenario(world: Operating) -> None:
        one, _ = world.operator()
        await world.until(5)

        one.jobs.fold({"metadata": {"uid": "u", "resourceVersion": "new"}})

        assert len(one.jobs) == 0

    in_a_world(scenario)


@clause("OPERATOR-32")
def test_jobs_of_others_are_not_copied() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        one, _ = world.operator()
        await world.until(70)
        (job,) = world.job_names()
        assert len(one.jobs) == 1
        (seen,) = one.jobs.of(uid_of(world))
        assert seen["spec"] == {"suspend": False}

        patch = {"metadata": {"labels": {"gnomon.dev/kronjob": None}}}
        world.done(MergePatch(Kind.JOB, "prod", job, patch))
        await world.until(75)

        assert len(one.jobs) == 0
        assert world.outcomes() == ["00:01 executed"]
        assert world.done(Get(Kind.JOB, "prod", job))

    in_a_world(scenario)


def test_a_server_that_ends_watches_at_once_is_not_asked_without_end() -> None:
    async def scenario(world: Operating) -> None:
        one, way = world.operator()
        watches = 0

        async def watch(call: object):  # type: ignore[no-untyped-def]
            nonlocal watches
            watches += 1
            if watches > 1000:
                yield NoAnswer("never")

        way.watch = watch  # type: ignore[method-assign]
        await world.until(30)

        assert watches <= 64
        assert one.kronjobs.alive_ms is not None
        await asyncio.sleep(0)

    in_a_world(scenario)
