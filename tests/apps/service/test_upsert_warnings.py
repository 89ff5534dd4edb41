"""What is probably not meant: refused where it could never run, told where it may."""

from datetime import UTC, datetime

import pytest

from gnomon.apps.service.schedule_input import ScheduleInput, read_input
from gnomon.errors import DefinitionError
from gnomon.ports.ledger_rows import Actor
from tests.apps.service.hand import Hand, Play
from tests.apps.service.stage import ANNA, REPORT, START_MS, at
from tests.clauses import clause

OVER = "no period lies ahead, so it does not run again"
LOSES = (
    "of missed periods, those that find a run in flight are skipped, because overlap_policy is "
    "skip; write overlap_policy queue to have them run one after the other"
)


def given(name: str = "nightly", /, **more: object) -> ScheduleInput:
    return read_input(REPORT | {"schedule_id": name, "trigger_id": name} | more)


def text(seconds: int) -> str:
    return datetime.fromtimestamp(START_MS // 1000 + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@clause("SERVICE-7")
@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"cron_expr": None, "once": "2026-02-28T23:59:59Z"}, "once"),
        ({"end_at": "2026-02-28T23:59:59Z"}, "end_at"),
        ({"cron_expr": None, "every": "1h", "end_at": "2026-02-28T23:59:59Z"}, "end_at"),
        ({"cron_expr": "0 3 * * *", "end_at": "2026-03-01T02:59:59Z"}, "end_at"),
    ],
)
def test_a_new_schedule_that_could_never_run_is_refused(
    play: Play, fields: dict[str, object], where: str
) -> None:
    async def scenario(hand: Hand) -> None:
        for ask in (hand.registrar.upsert_schedule, hand.registrar.preview_upsert):
            with pytest.raises(DefinitionError) as caught:
                await ask(ANNA, given(**fields))
            assert (caught.value.where, caught.value.reason, caught.value.hint) == (
                where, "has passed, so that the schedule would never run",
                "write an instant after 2026-03-01T00:00:00Z",
            )  # fmt: skip
        assert await hand.ledger.get("nightly") is None

    play(scenario)


@clause("SERVICE-7")
def test_a_schedule_that_is_there_can_be_brought_to_its_end(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.registrar.upsert_schedule(ANNA, given())
        ended = await hand.registrar.upsert_schedule(ANNA, given(end_at="2026-02-01T00:00:00Z"))
        again = await hand.registrar.upsert_schedule(ANNA, given(end_at="2026-02-01T00:00:00Z"))

        assert (ended.next_run_at, ended.warnings) == (None, [OVER])
        assert (again.changed, again.warnings) == (False, [OVER])

    play(scenario)


@clause("SERVICE-7")
def test_what_is_registered_anew_runs_and_what_is_refused_would_not_have(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        accepted = 0
        for number, now_ms in enumerate((0, 1, 999)):
            for seconds in (-1, 0, 1, 2):
                for kind in ("once", "end_at"):
                    moment_ms = at("00:00:00") + 60_000 * (8 * number + seconds + 2) + now_ms
                    hand.hands.move_to(max(moment_ms, hand.clock.now_ms()))
                    now_ms_there = hand.clock.now_ms()
                    instant = text((now_ms_there - START_MS) // 1000 + seconds)
                    name = f"{kind}-{number}-{seconds + 1}"
                    cron = None if kind == "once" else "* * * * * *"
                    fields = {"cron_expr": cron, kind: instant, "overlap_policy": "allow"}
                    try:
                        done = await hand.registrar.upsert_schedule(ANNA, given(name, **fields))
                    except DefinitionError:
                        assert seconds < 0 or (seconds == 0 and now_ms_there % 1000)
                        continue
                    accepted += 1
                    assert done.next_run_at is not None
                    hand.hands.move_to(now_ms_there + 4_000)
                    await hand.look()
                    assert "STARTED" in str(await hand.words(name))
        assert accepted > 10

    play(scenario)


@clause("SERVICE-8")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, []),
        (
            {"workflow_id": "reprot"},
            ["anna has no DAG reprot, so its runs fail until one is deployed; did you mean "
             "report?"],
        ),
        (
            {"workflow_id": "xyz"},
            ["anna has no DAG xyz, so its runs fail until one is deployed"],
        ),
        (
            {"version": 7},
            ["DAG report has no version 7, so its runs fail until that is deployed; the "
             "newest version is 1"],
        ),
        ({"catchup_policy": "fire_immediately"}, [LOSES]),
        ({"catchup_policy": "fire_immediately", "overlap_policy": "queue"}, []),
        ({"catchup_policy": "latest"}, []),
    ],
)  # fmt: skip
def test_the_answer_warns_of_what_is_probably_not_meant(
    play: Play, fields: dict[str, object], said: list[str]
) -> None:
    async def scenario(hand: Hand) -> None:
        compared = await hand.registrar.preview_upsert(ANNA, given(**fields))
        done = await hand.registrar.upsert_schedule(ANNA, given(**fields))
        again = await hand.registrar.upsert_schedule(ANNA, given(**fields))

        assert compared.warnings == done.warnings == again.warnings == said

    play(scenario)


@clause("SERVICE-8")
def test_a_dag_of_another_user_is_not_the_one_that_is_meant(play: Play) -> None:
    async def scenario(hand: Hand) -> None:

        one = given(user_id="boris", workflow_id="reprot")
        done = await hand.registrar.upsert_schedule(Actor("boris", "boris"), one)

        assert done.warnings == ["boris has no DAG reprot, so its runs fail until one is deployed"]

    play(scenario)
