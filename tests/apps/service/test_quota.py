"""
How many schedules a user may have.

Calls that come at once never make more, and a call saves all of its schedules or none.
"""

import asyncio
import json

import pytest

from gnomon.apps.service.dag_deployment import Deployer
from gnomon.apps.service.schedule_input import ScheduleInput, read_input
from gnomon.apps.service.settings import Settings
from gnomon.errors import ConflictError
from gnomon.ports.ledger_rows import Actor, Only
from tests.apps.service.hand import Hand, Play
from tests.apps.service.stage import ANNA, REPORT
from tests.clauses import clause

BORIS = Actor("boris", "boris")
FEW = Settings(schedules_per_user=3)


def given(name: str, /, **more: object) -> ScheduleInput:
    return read_input(REPORT | {"schedule_id": name, "trigger_id": name} | more)


async def names(hand: Hand, actor: Actor = ANNA) -> list[str]:
    found = await hand.registrar.list_schedules(actor, Only())
    return [one.schedule_id for one in found.items]


@clause("SERVICE-65")
def test_a_user_has_no_more_schedules_than_are_allowed(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        for name in "abc":
            await hand.registrar.upsert_schedule(ANNA, given(name))
        with pytest.raises(ConflictError) as caught:
            await hand.registrar.upsert_schedule(ANNA, given("d"))
        await hand.registrar.upsert_schedule(ANNA, given("c", cron_expr="0 4 * * *"))
        await hand.registrar.upsert_schedule(BORIS, given("x", user_id="boris"))
        await hand.registrar.delete_schedule(ANNA, "a")
        await hand.registrar.upsert_schedule(ANNA, given("d"))

        assert str(caught.value) == (
            "user_id: may have 3 schedules, and would have 4, got 'anna'; delete some, or have "
            "SCHEDULES_PER_USER raised"
        )
        assert await names(hand) == ["b", "c", "d"]
        assert await names(hand, BORIS) == ["x"]

    play(scenario, settings=FEW)


@clause("SERVICE-65")
def test_of_many_who_ask_at_once_as_many_as_there_is_room_for_succeed(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        done = await asyncio.gather(
            *(hand.registrar.upsert_schedule(ANNA, given(f"s{n}")) for n in range(8)),
            return_exceptions=True,
        )

        assert [type(one) for one in done if isinstance(one, BaseException)] == [ConflictError] * 5
        assert len(await names(hand)) == 3

    play(scenario, settings=FEW)


@clause("SERVICE-65")
def test_a_dag_with_too_many_triggers_registers_none_of_them(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        deployer = Deployer(hand.dags, hand.registrar, hand.clock, FEW)
        trigger = {"type": "schedule_based", "cron_expr": "0 3 * * *"}
        node = {"id": "a", "type": "action", "uses": "mail"}
        dag = {"workflow_id": "many", "version": 1, "nodes": [node],
               "triggers": [trigger | {"id": f"t{n}"} for n in range(4)]}  # fmt: skip
        with pytest.raises(ConflictError):
            await deployer.deploy(ANNA, json.dumps(dag))

        assert await names(hand) == []

    play(scenario, settings=FEW)
