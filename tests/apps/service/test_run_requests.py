"""Runs that are started directly, once on each store: they are runs like others."""

from random import Random

import pytest

from gnomon.apps.service.run_requests import Started
from gnomon.core.engine import plan
from gnomon.core.ledger.lifecycle import State
from gnomon.errors import DefinitionError, NotFoundError
from gnomon.ports.ledger_rows import Actor
from tests.apps.service.hand import Hand, Play
from tests.apps.service.stage import ANNA
from tests.clauses import clause

PLANNED = "2026-02-27T08:00:00Z"


async def start(hand: Hand, key: str, *, version: int = 1, actor: Actor = ANNA) -> Started:
    return await hand.registrar.start(actor, "report", version, "anna", PLANNED, key)


@clause("START-1", "START-2")
def test_a_run_that_is_started_directly_is_found_logged_and_told_like_any_other(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        first = await start(hand, "mine")
        again = await start(hand, "mine")
        await hand.look()
        key = first.idempotency_key
        run = await hand.registrar.run(ANNA, key)
        logged = await hand.registrar.audit_log(ANNA)

        assert (first.started, again) == (True, first)
        assert [call.meta.idempotency_key for call in hand.executor.calls] == [key]
        assert hand.executor.calls[0].meta.scheduled_for == 1_772_179_200
        assert (run.status, run.run_at, run.kind) == ("STARTED", PLANNED, "manual")
        assert [one.action for one in logged.items] == ["trigger", "upsert"]
        assert await hand.say(key, "SUCCESS") == "accepted"
        assert (await hand.registrar.run(ANNA, key)).status == "SUCCESS"

    play(scenario)


@clause("START-3")
def test_a_version_that_is_not_there_starts_nothing_and_says_why(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        answer = await start(hand, "mine", version=9)

        assert answer == Started(
            started=False, idempotency_key="",
            reason="DAG report has no version 9; deploy it first",
        )  # fmt: skip
        assert (await hand.registrar.audit_log(ANNA)).items == []

    play(scenario)


@clause("START-1")
def test_a_user_cannot_start_something_for_another_user(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        with pytest.raises(DefinitionError, match="user_id: is not the sender's"):
            await start(hand, "mine", actor=Actor("boris@example", "boris"))
        key = (await start(hand, "mine")).idempotency_key
        with pytest.raises(NotFoundError):
            await hand.registrar.run(Actor("boris@example", "boris"), key)

    play(scenario)


@clause("START-2")
@pytest.mark.parametrize("key", ["a:b", "ünïcode", "x" * 500, "/../", " "])
def test_any_key_names_one_run(key: str, play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        first, again = await start(hand, key), await start(hand, key)
        other = await start(hand, key + "1")

        assert first == again
        assert len(first.idempotency_key) <= 500
        assert other.idempotency_key != first.idempotency_key

    play(scenario)


@clause("START-4")
@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_in_between_each_start_is_one_run_that_ends(seed: int, play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        random, minute, keys = Random(seed), 0, set[str]()
        for _ in range(20):
            move = random.choice(["start", "start", "look", "die", "vanish", "later", "end"])
            if move == "start":
                keys.add((await start(hand, random.choice("abcd"))).idempotency_key)
            elif move == "look":
                await hand.look()
            elif move == "die":  # it has claimed, and nothing more
                now_ms = hand.clock.now_ms()
                changes = plan(await hand.ledger.load(now_ms=now_ms, limit=10), now_ms=now_ms)
                await hand.ledger.commit(changes, owner="dead", confirmed=False, now_ms=now_ms)
            elif move == "vanish":
                await hand.drop().recover()
            elif move == "later":
                minute += random.choice([1, 10])
                hand.move_to(f"{minute // 60:02d}:{minute % 60:02d}:00")
            elif hand.executor.effects:
                await hand.say(random.choice(hand.executor.effects), "SUCCESS")
        await hand.drop().recover()
        await hand.go_to("20:00:00")
        for key in keys:
            await hand.say(key, "SUCCESS")

        rows = [await hand.ledger.run(key) for key in sorted(keys)]
        assert all(row is not None and row.state is State.DONE for row in rows), seed
        assert sorted(hand.executor.effects) == sorted(keys)

    play(scenario)
