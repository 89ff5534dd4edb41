"""Parameters: kept with the schedule and with the trigger, and handed to each run as they were."""

import json

import pytest

from gnomon.apps.service.parameters import PARAMS_MAX
from gnomon.apps.service.schedule_input import read_input
from gnomon.errors import DefinitionError
from gnomon.ports.executor import Refused
from tests.apps.service.hand import Hand, Play
from tests.apps.service.stage import ANNA, REPORT
from tests.clauses import clause


def given(hand: Hand) -> list[object]:
    """What each run was given, in the order in which the executor was asked."""
    return [json.loads(call.meta.params) for call in hand.executor.calls]


@clause("SERVICE-64")
def test_every_run_is_given_what_its_schedule_says(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        params = {"region": "north", "days": [1, 2], "deep": {"a": None, "b": 1.5}}
        await hand.upsert(params=params, overlap_policy="allow")
        await hand.look("00:01:00")
        await hand.upsert(params={"region": "south"}, overlap_policy="allow")
        await hand.look("00:02:00")
        await hand.upsert(overlap_policy="allow")
        await hand.look("00:03:00")

        view = await hand.registrar.get_schedule(ANNA, "nightly")
        assert given(hand)[-3:] == [params, {"region": "south"}, {}]
        assert view.params == {}
        assert (await hand.registrar.revisions(ANNA, "nightly"))[1].definition["params"] == (
            '{"region": "south"}'
        )

    play(scenario)


@clause("SERVICE-64")
def test_a_trigger_gives_more_and_goes_before_the_schedule(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.upsert(params={"region": "north", "days": 7}, overlap_policy="allow",
                          cron_expr="0 0 1 1 *")  # fmt: skip
        asked = [{"days": 1}, None, {}, {"more": True}]
        for number, params in enumerate(asked):
            run = await hand.registrar.trigger(ANNA, "nightly", token=f"t{number}", params=params)
            again = await hand.registrar.trigger(
                ANNA, "nightly", token=f"t{number}", params={"other": 1}
            )
            assert run.params == again.params
        await hand.upsert(params={"region": "changed"}, cron_expr="0 0 1 1 *",
                          overlap_policy="allow")  # fmt: skip
        await hand.look("00:01:00")

        by_key = {call.meta.idempotency_key[-2:]: json.loads(call.meta.params)
                  for call in hand.executor.calls}  # fmt: skip
        assert by_key == {
            "t0": {"region": "north", "days": 1}, "t1": {"region": "changed"},
            "t2": {"region": "north", "days": 7},
            "t3": {"region": "north", "days": 7, "more": True},
        }  # fmt: skip

    play(scenario)


@clause("SERVICE-64")
def test_a_further_try_is_given_the_same_also_by_another_worker(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.upsert(cron_expr="0 0 1 1 *")
        await hand.registrar.trigger(ANNA, "nightly", token="t", params={"day": "monday"})
        hand.executor.answers = [Refused("not now", permanent=False), RuntimeError("lost")]
        await hand.look("00:00:10")
        hand.drop()
        await hand.look("00:00:20")
        hand.drop()
        await hand.look("00:05:00")

        assert len(hand.executor.calls) >= 3
        assert given(hand) == [{"day": "monday"}] * len(hand.executor.calls)

    play(scenario)


@clause("SERVICE-64")
@pytest.mark.parametrize(
    "params",
    [[], "x", 5, True, {"a": "x" * PARAMS_MAX}, {"a": "\0"}],
    ids=["list", "text", "number", "truth", "long", "nul"],
)
def test_what_cannot_be_kept_is_refused_by_name(play: Play, params: object) -> None:
    async def scenario(hand: Hand) -> None:
        with pytest.raises(DefinitionError) as caught:
            read_input(REPORT | {"params": params})
        assert caught.value.where == "params"
        await hand.upsert()
        if isinstance(params, dict):
            with pytest.raises(DefinitionError) as caught:
                await hand.registrar.trigger(ANNA, "nightly", params=params)
            assert caught.value.where == "params"

    play(scenario)
