"""The registrar from code, on both stores: what a program can ask, and what belongs to whom."""

import pytest

from gnomon.apps.service.schedule_input import ScheduleInput, read_input
from gnomon.errors import ConflictError, DefinitionError, NotFoundError
from gnomon.ports.ledger_rows import Actor, Only
from tests.apps.service.hand import Hand, Play
from tests.apps.service.stage import ANNA, REPORT
from tests.clauses import clause

BORIS, ROOT = Actor("boris@example", "boris"), Actor("root@example")


def given(name: str = "nightly", **more: object) -> ScheduleInput:
    return read_input(REPORT | {"schedule_id": name, "trigger_id": name} | more)


@clause("REGISTRAR-1")
def test_what_belongs_to_another_user_is_not_there(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        registrar = hand.registrar
        await registrar.upsert_schedule(ANNA, given())
        await hand.look("00:00:00")
        [row] = await hand.rows()

        for call in (
            registrar.get_schedule(BORIS, "nightly"),
            registrar.delete_schedule(BORIS, "nightly"),
            registrar.pause_schedule(BORIS, "nightly", True),
            registrar.trigger(BORIS, "nightly"),
            registrar.skip_next(BORIS, "nightly"),
            registrar.backfill(BORIS, "nightly", start="2026-01-01T00:00:00Z",
                               end="2026-01-01T01:00:00Z"),
            registrar.runs(BORIS, "nightly"),
            registrar.run(BORIS, row.key),
            registrar.kill_run(BORIS, row.key),
            registrar.explain(BORIS, "nightly", "2026-03-01T00:00:00Z"),
            registrar.revisions(BORIS, "nightly"),
        ):  # fmt: skip
            with pytest.raises(NotFoundError):
                await call
        with pytest.raises(ConflictError):
            await registrar.upsert_schedule(BORIS, given(user_id="boris"))
        with pytest.raises(DefinitionError):
            await registrar.upsert_schedule(BORIS, given("other"))
        assert (await registrar.list_schedules(BORIS, Only())).items == []
        assert (await registrar.audit_log(BORIS)).items == []
        assert (await registrar.get_schedule(ROOT, "nightly")).user_id == "anna"

    play(scenario)


@clause("REGISTRAR-2", "REGISTRAR-10")
def test_many_are_paused_at_once_after_a_look_at_which(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        registrar = hand.registrar
        for name in ("a1", "a2", "b1"):
            await registrar.upsert_schedule(ANNA, given(name))
        only = Only(text="a")

        assert await registrar.pause_many(ANNA, only, True, reason="", dry_run=True) == ["a1", "a2"]
        assert (await registrar.list_schedules(ANNA, Only(paused=True))).items == []
        await registrar.pause_many(ANNA, only, True, until="2026-03-01T01:00:00Z", reason="move")

        page = await registrar.list_schedules(ANNA, Only(paused=True), limit=1)
        rest = await registrar.list_schedules(ANNA, Only(paused=True), after=page.next or "")
        views = [*page.items, *rest.items]
        assert [(view.schedule_id, view.pause_reason) for view in views] == [
            ("a1", "move"), ("a2", "move"),
        ]  # fmt: skip
        assert views[0].paused_until == "2026-03-01T01:00:00.000Z"
        log = (await registrar.audit_log(ANNA)).items
        assert [(line.action, line.subject) for line in log[:2]] == [("pause", "anna@example")] * 2

    play(scenario)


@clause("REGISTRAR-3", "REGISTRAR-4", "REGISTRAR-9")
def test_an_edit_can_be_seen_before_it_is_made(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        registrar = hand.registrar
        await registrar.upsert_schedule(ANNA, given(cron_expr="0 3 * * *"))
        diff = await registrar.preview_upsert(ANNA, given(cron_expr="30 3 * * *"), count=2)

        assert diff.before == ["2026-03-01T03:00:00Z", "2026-03-02T03:00:00Z"]
        assert diff.after == ["2026-03-01T03:30:00Z", "2026-03-02T03:30:00Z"]
        # Of the time that both lists reach, so that nothing counts as gone that was cut off.
        assert (diff.added, diff.removed) == (diff.after[:1], diff.before)
        assert (await registrar.get_schedule(ANNA, "nightly")).revision == 1
        with pytest.raises(ConflictError):
            await registrar.upsert_schedule(ANNA, given(version=2), if_revision=7)
        await registrar.upsert_schedule(ANNA, given(version=2), if_revision=1)
        revisions = await registrar.revisions(ANNA, "nightly")
        assert [one.revision for one in revisions] == [2, 1]

    play(scenario)


@clause("REGISTRAR-6", "REGISTRAR-8")
def test_a_backfill_is_counted_and_then_run(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        registrar = hand.registrar
        await registrar.upsert_schedule(ANNA, given(cron_expr="0 3 * * *"))
        start, end = "2026-02-01T00:00:00Z", "2026-02-04T00:00:00Z"

        counted = await registrar.backfill(
            ANNA, "nightly", start=start, end=end, name="b", dry_run=True
        )
        assert (counted.count, counted.new, await hand.rows()) == (3, 3, [])
        await registrar.backfill(ANNA, "nightly", start=start, end=end, name="b")
        again = await registrar.backfill(ANNA, "nightly", start=start, end=end, name="b")
        assert (again.count, again.new) == (3, 0)
        for second in range(1, 4):
            await hand.look(f"00:00:0{second}")
            await hand.end()

        first = await registrar.runs(ANNA, "nightly", limit=2)
        rest = await registrar.runs(ANNA, "nightly", limit=2, after=first.next)
        assert [run.run_at[:10] for run in (*first.items, *rest.items)] == [
            "2026-02-03", "2026-02-02", "2026-02-01",
        ]  # fmt: skip
        assert {run.status for run in first.items} == {"SUCCESS"}

    play(scenario)


@clause("REGISTRAR-7")
def test_a_run_that_is_over_cannot_be_ended(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        registrar = hand.registrar
        await registrar.upsert_schedule(ANNA, given())
        await hand.look("00:00:00")
        [row] = await hand.rows()

        asked = await registrar.kill_run(ANNA, row.key, reason="wrong data")
        assert asked.kill_asked_by == "anna@example"
        hand.worker.wake()
        await hand.look("00:00:01")
        assert await hand.words() == ["00:00:00 FAILED killed"]
        with pytest.raises(ConflictError):
            await registrar.kill_run(ANNA, row.key)

    play(scenario)


@clause("REGISTRAR-1", "REGISTRAR-4")
def test_deploying_has_exactly_the_schedules_of_a_dag(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        registrar = hand.registrar
        await registrar.upsert_schedule(ANNA, given("own", cron_expr="0 5 * * *"))
        plain = [read_input(REPORT | {"trigger_id": name}) for name in ("a", "b")]
        first = await registrar.deploy(ANNA, plain, workflow_id="report", user_id="anna")
        second = await registrar.deploy(ANNA, plain[:1], workflow_id="report", user_id="anna")

        assert second.deleted == (first.upserted[1].schedule_id,)
        assert not second.upserted[0].changed
        left = await registrar.list_schedules(ANNA, Only())
        assert sorted(view.trigger_id for view in left.items) == ["a", "own"]

    play(scenario)
