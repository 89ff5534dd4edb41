"""Deploying DAGs: a version is kept, and its schedules are what its triggers say."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from gnomon.apps.service.dag_deployment import Deployed, Deployer
from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.registrar import Registrar
from gnomon.apps.service.schedule_id import derived_id
from gnomon.apps.service.schedule_input import read_input, target_of
from gnomon.apps.service.settings import Settings
from gnomon.core.dag.value import Json
from gnomon.errors import ConflictError, DefinitionError, NotFoundError, StoreError
from gnomon.ports.ledger_rows import Actor
from gnomon.shell.store.dag import SqliteDagStore
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.core.dag.dags import dag_text
from tests.shell.steered_clock import SteeredClock

NOW_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
ANNA = Actor("anna@example.org", "anna")
BERT = Actor("bert@example.org", "bert")
ADMIN = Actor("root@example.org")


def night(trigger_id: str = "night", **fields: Json) -> Json:
    given: dict[str, Json] = {"cron_expr": "30 2 * * *", "timezone": "Europe/Riga", **fields}
    return {"id": trigger_id, "type": "schedule_based", **given}


class Stage:
    """A service that deploys, over a real file."""

    def __init__(self, folder: Path) -> None:
        clock, settings = SteeredClock(NOW_MS), Settings()
        self.ledger = SqliteLedger.open(folder / "ledger.sqlite3")
        self.dags = SqliteDagStore(self.ledger.database)
        self.registrar = Registrar(
            self.ledger, clock, settings, EventFeed(clock), self.dags,
            unique=lambda: "unique", wake=lambda: None,
        )  # fmt: skip
        self.deployer = Deployer(self.dags, self.registrar, clock, settings)

    async def deploy(
        self, actor: Actor = ANNA, user_id: str | None = None, **fields: Json
    ) -> Deployed:
        return await self.deployer.deploy(actor, dag_text(**fields), user_id=user_id)

    async def schedules(self) -> dict[str, tuple[str, int]]:
        """The trigger and version of each schedule that there is."""
        found = {}
        for row in await self.ledger.schedules():
            target = target_of(row.schedule)
            assert target is not None
            found[row.schedule.schedule_id] = target.trigger_id, target.version
        return found


@pytest.fixture
def play(tmp_path: Path) -> Callable[[Callable[[Stage], Awaitable[None]]], None]:
    def play_it(scenario: Callable[[Stage], Awaitable[None]]) -> None:
        async def whole() -> None:
            stage = Stage(tmp_path)
            try:
                await scenario(stage)
            finally:
                await stage.ledger.close()

        asyncio.run(whole())

    return play_it


Play = Callable[[Callable[[Stage], Awaitable[None]]], None]
NIGHT, NOON = (derived_id("report", "anna", one) for one in ("night", "noon"))


@clause("DEPLOY-1")
def test_deploying_has_one_schedule_for_each_trigger(play: Play) -> None:
    async def scenario(stage: Stage) -> None:
        event: Json = {"id": "mail", "type": "event_based", "from": "anybody"}
        manual: Json = {"id": "hand", "type": "manual"}
        noon = night("noon", cron_expr="0 12 * * *")
        done = await stage.deploy(triggers=[night(), noon, event, manual])

        assert (done.created, done.workflow_id, done.version) == (True, "report", 1)
        assert sorted(done.schedules) == sorted([NIGHT, NOON])
        assert await stage.schedules() == {NIGHT: ("night", 1), NOON: ("noon", 1)}
        view = await stage.registrar.get_schedule(ANNA, NIGHT)
        assert view.next_run_at == "2026-03-01T00:30:00Z"

    play(scenario)


@clause("DEPLOY-1")
def test_deploying_again_changes_nothing(play: Play) -> None:
    async def scenario(stage: Stage) -> None:
        first = await stage.deploy(triggers=[night()])
        again = await stage.deploy(triggers=[night()])

        assert (first.created, again.created) == (True, False)
        assert again.schedules == first.schedules
        assert [row.revision for row in await stage.ledger.schedules()] == [1]

    play(scenario)


@clause("DEPLOY-2")
def test_a_new_version_moves_its_schedules_and_deletes_those_of_triggers_that_are_gone(
    play: Play,
) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.deploy(triggers=[night(), night("noon")])
        done = await stage.deploy(version=2, triggers=[night()])

        assert done.deleted == [NOON]
        assert await stage.schedules() == {NIGHT: ("night", 2)}
        back = await stage.deploy(version=1, triggers=[night(), night("noon")])
        assert back.deleted == []
        assert await stage.schedules() == {NIGHT: ("night", 1), NOON: ("noon", 1)}

    play(scenario)


@clause("DEPLOY-2")
def test_a_dag_without_triggers_leaves_no_schedules_but_those_made_by_hand(play: Play) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.deploy(triggers=[night()])
        own = {"workflow_id": "report", "version": 1, "user_id": "anna", "cron_expr": "@daily"}
        given = read_input({**own, "schedule_id": "mine"})
        await stage.registrar.upsert_schedule(ANNA, given)
        done = await stage.deploy(version=2)

        assert (done.schedules, done.deleted) == ([], [NIGHT])
        assert list(await stage.schedules()) == ["mine"]

    play(scenario)


@clause("DEPLOY-3")
def test_a_pause_stays(play: Play) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.deploy(triggers=[night()])
        await stage.registrar.pause_schedule(ANNA, NIGHT, True, reason="tea")
        await stage.deploy(version=2, triggers=[night(cron_expr="0 3 * * *")])

        view = await stage.registrar.get_schedule(ANNA, NIGHT)
        assert (view.paused, view.version) == (True, 2)

    play(scenario)


@clause("DEPLOY-4")
@pytest.mark.parametrize(
    ("trigger", "message"),
    [
        (night("b", cron_expr="61 * * * *"), "triggers[1].cron_expr: "),
        (night("b", timezone="Mars/Base"), "triggers[1].timezone: "),
        (night("b", jitter_ms=-1), "triggers[1].jitter_ms: "),
        (night("b", overlap_policy="maybe"), "triggers[1].overlap_policy: "),
        (night("b", cron="* * * * *"), "triggers[1].cron: is not a known field"),
        (night("b", user_id="bert"), "triggers[1].user_id: is not for a trigger to say"),
        (night("b", schedule_id="x"), "triggers[1].schedule_id: is not for a trigger to say"),
        (night("b", jitter_ms="5"), "triggers[1].jitter_ms: must be a whole number"),
    ],
)
def test_a_trigger_that_cannot_be_meant_refuses_everything(
    play: Play, trigger: Json, message: str
) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.deploy(triggers=[night()])
        with pytest.raises(DefinitionError) as caught:
            await stage.deploy(version=2, triggers=[night(cron_expr="0 3 * * *"), trigger])

        assert str(caught.value).startswith(message)
        assert await stage.schedules() == {NIGHT: ("night", 1)}
        assert await stage.dags.load("anna", "report", 2) is None

    play(scenario)


@clause("DEPLOY-4")
def test_schedules_that_cannot_be_written_stay_as_they_were(play: Play) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.deploy(triggers=[night(), night("noon")])
        stage.ledger.database.write(
            lambda connection: connection.execute(
                "CREATE TRIGGER trouble BEFORE UPDATE ON schedules WHEN NEW.deleted_at IS NOT NULL "
                "BEGIN SELECT RAISE(ABORT, 'trouble'); END"
            )
        )
        with pytest.raises(StoreError, match="trouble"):
            await stage.deploy(version=2, triggers=[night()])

        assert await stage.schedules() == {NIGHT: ("night", 1), NOON: ("noon", 1)}
        stage.ledger.database.write(lambda connection: connection.execute("DROP TRIGGER trouble"))
        done = await stage.deploy(version=2, triggers=[night()])
        assert (done.created, done.deleted) == (False, [NOON])
        assert await stage.schedules() == {NIGHT: ("night", 2)}

    play(scenario)


@clause("DEPLOY-5")
def test_a_version_with_other_content_is_refused_and_a_free_number_named(play: Play) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.deploy(version=4)
        await stage.deploy(version=1, triggers=[night()])
        with pytest.raises(ConflictError) as caught:
            await stage.deploy(version=1, triggers=[night(cron_expr="0 3 * * *")])

        assert str(caught.value) == (
            "version: is version 1 of report with other content, and a version never changes, "
            "got 1; deploy it as version 5"
        )
        view = await stage.registrar.get_schedule(ANNA, NIGHT)
        assert view.cron_expr == "30 2 * * *"

    play(scenario)


@clause("DEPLOY-6")
def test_dags_are_deployed_for_the_sender_or_by_an_administrator(play: Play) -> None:
    async def scenario(stage: Stage) -> None:
        with pytest.raises(DefinitionError, match="user_id: must be given"):
            await stage.deploy(ADMIN)
        with pytest.raises(DefinitionError, match="user_id: is another user"):
            await stage.deploy(BERT, user_id="anna")
        of_anna = await stage.deploy(ADMIN, user_id="anna", triggers=[night()])
        of_bert = await stage.deploy(BERT, description="bert's", triggers=[night()])

        assert (of_anna.user_id, of_bert.user_id) == ("anna", "bert")
        assert set(await stage.schedules()) == {NIGHT, derived_id("report", "bert", "night")}

    play(scenario)


@clause("DEPLOY-6")
def test_what_another_user_has_deployed_is_not_there(play: Play) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.deploy()
        await stage.deploy(version=2, name="newer")
        await stage.deploy(workflow_id="other")

        view = await stage.deployer.get(ANNA, "report", 1)
        assert (view.version, view.created_at) == (1, "2026-03-01T00:00:00Z")
        assert view.dag == json.loads(dag_text())
        assert (await stage.deployer.get(ANNA, "report")).version == 2
        for call in (
            stage.deployer.get(BERT, "report"),
            stage.deployer.get(BERT, "report", 1, user_id="anna"),
            stage.deployer.versions(BERT, "report"),
            stage.deployer.get(ANNA, "report", 3),
        ):
            with pytest.raises(NotFoundError):
                await call
        assert (await stage.deployer.list(BERT)).items == []
        assert len((await stage.deployer.list(ADMIN)).items) == 2

    play(scenario)


@clause("DEPLOY-6")
def test_lists_are_read_a_page_at_a_time(play: Play) -> None:
    async def scenario(stage: Stage) -> None:
        for number in range(1, 6):
            await stage.deploy(version=number)
            await stage.deploy(workflow_id=f"w{number}")
        first = await stage.deployer.versions(ANNA, "report", limit=2)
        rest = await stage.deployer.versions(ANNA, "report", before=int(first.next or 0))
        names = []
        page = await stage.deployer.list(ANNA, limit=4)
        names += [one.workflow_id for one in page.items]
        page = await stage.deployer.list(ANNA, after=page.next, limit=4)
        names += [one.workflow_id for one in page.items]

        assert [one.version for one in first.items] == [5, 4]
        assert ([one.version for one in rest.items], rest.next) == ([3, 2, 1], None)
        assert (names, page.next) == (["report", "w1", "w2", "w3", "w4", "w5"], None)
        with pytest.raises(DefinitionError, match="after: is no place in the list"):
            await stage.deployer.list(ANNA, after="nonsense")

    play(scenario)
