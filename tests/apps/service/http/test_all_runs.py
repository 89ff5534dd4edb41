"""Runs of all schedules over HTTP: by what became of them, by when, and only one's own."""

import pytest

from gnomon.core.engine import plan
from gnomon.ports import Ended
from tests.apps.service.http.service_stage import MINUTELY, Stage, play
from tests.clauses import clause


async def _minutes(stage: Stage) -> None:
    """Three minutes of two schedules; those of the second fail."""
    for name in ("good", "bad"):
        body = MINUTELY | {"schedule_id": name, "workflow_id": name}
        await stage.acme.post("/schedules/upsert", json=body)
    body = MINUTELY | {"schedule_id": "theirs", "user_id": "globex"}
    await stage.globex.post("/schedules/upsert", json=body)
    for _ in range(3):
        stage.clock.at_ms += 60_000
        now_ms = stage.clock.now_ms()
        changes = plan(await stage.ledger.load(now_ms=now_ms, limit=10), now_ms=now_ms)
        done = await stage.ledger.commit(changes, owner="worker", confirmed=False, now_ms=now_ms)
        ends = [
            Ended(one.key, one.fence, one.schedule.schedule_id != "bad", "exit 1")
            for one in done.claims
        ]
        await stage.ledger.report(ends, now_ms=now_ms + 5_000)


async def found(stage: Stage, query: str) -> list[str]:
    answer = await stage.acme.get(f"/runs{query}")
    assert answer.status_code == 200, answer.text
    return [f"{one['schedule_id']} {one['run_at'][14:16]}" for one in answer.json()["items"]]


@clause("HTTP-40")
def test_all_that_failed_since_a_while_ago_is_found() -> None:
    async def story(stage: Stage) -> None:
        await _minutes(stage)
        whole = await found(stage, "")

        assert await found(stage, "?status=FAILED") == ["bad 03", "bad 02", "bad 01"]
        assert await found(stage, "?status=FAILED&since=1m") == ["bad 03", "bad 02"]
        assert await found(stage, "?status=FAILED&since=2026-03-01T12:02:00Z") == [
            "bad 03", "bad 02",
        ]  # fmt: skip
        assert await found(stage, "?status=FAILED&until=2026-03-01T12:02:00Z") == ["bad 01"]
        assert await found(stage, "?workflow_id=good&reason=overlap") == []
        assert sorted(set(whole)) == sorted(whole)
        assert len(whole) == 8
        assert await found(stage, "?user_id=globex") == []
        stage.clock.at_ms += 2 * 86_400_000
        assert await found(stage, "") == []
        assert len(await found(stage, "?since=2026-03-01T00:00:00Z")) == 8

    play(story)


@clause("HTTP-40", "AUTH-8")
def test_runs_of_others_are_not_found() -> None:
    async def story(stage: Stage) -> None:
        await _minutes(stage)
        of_globex = (await stage.globex.get("/runs")).json()["items"]
        of_all = (await stage.admin.get("/runs")).json()["items"]

        assert {one["schedule_id"] for one in of_globex} == {"theirs"}
        assert {one["schedule_id"] for one in of_all} == {"good", "bad", "theirs"}
        assert (await stage.anybody.get("/runs")).status_code == 401

    play(story)


@clause("HTTP-40")
@pytest.mark.parametrize("limit", [1, 2, 4])
def test_pages_of_all_runs_are_the_whole(limit: int) -> None:
    async def story(stage: Stage) -> None:
        await _minutes(stage)
        await stage.acme.post("/schedules/good/trigger", headers={"idempotency-key": "k"})
        whole, after, parts = await found(stage, ""), "", list[str]()
        while after is not None:
            query = f"?limit={limit}" + (f"&after={after}" if after else "")
            page = (await stage.acme.get(f"/runs{query}")).json()
            parts += [f"{one['schedule_id']} {one['run_at'][14:16]}" for one in page["items"]]
            after = page["next"]

        assert parts == whole
        assert len(whole) == 9

    play(story)


@clause("HTTP-40")
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("since=yesterday", "since"), ("until=x", "until"), ("after=x", "after"),
        ("since=1h&until=2h", "until"), ("after=open~x~k", "after"), ("status=failed", "status"),
        ("after=over~-5~k", "after"), ("state=waiting", "state"), ("limt=5", "limt"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_for_is_refused_by_name(query: str, field: str) -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.acme.get(f"/runs?{query}")

        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == field

    play(story)
