"""Runs over HTTP: what became of periods and why, runs by hand, backfills, ending."""

import pytest

from tests.apps.service.http.service_stage import MINUTELY, Stage, play
from tests.clauses import clause


@clause("HTTP-20", "REGISTRAR-5")
def test_the_same_key_asks_for_one_run() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        headers = {"idempotency-key": "deploy-7"}
        first = await stage.acme.post("/schedules/minutely/trigger", headers=headers)
        second = await stage.acme.post("/schedules/minutely/trigger", headers=headers)
        other = await stage.acme.post("/schedules/minutely/trigger")

        assert (first.status_code, first.json()["kind"]) == (202, "manual")
        assert first.json()["idempotency_key"] == "manual:minutely:deploy-7"
        assert second.json() == first.json()
        assert other.json()["idempotency_key"] != first.json()["idempotency_key"]
        runs = (await stage.reader.get("/schedules/minutely/runs")).json()["items"]
        assert len(runs) == 2

    play(story)


@clause("HTTP-20")
@pytest.mark.parametrize("key", ["a b", "a/b", "x" * 201, "a:b", "ü".encode().decode("latin-1")])
def test_an_odd_key_is_refused(key: str) -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        headers = {b"idempotency-key": key.encode("latin-1")}
        answer = await stage.acme.post("/schedules/minutely/trigger", headers=headers)

        assert answer.status_code == 422
        assert (await stage.acme.get("/schedules/minutely/runs")).json()["items"] == []

    play(story)


@clause("REGISTRAR-5")
def test_the_next_period_is_left_out_and_no_other() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY | {"cron_expr": "0 3 * * *"})
        first = (await stage.acme.post("/schedules/minutely/skip-next")).json()
        found = (await stage.acme.get("/schedules/minutely")).json()
        path = "/schedules/minutely/explain?run_at=2026-03-02T03:00:00Z"
        why = (await stage.acme.get(path)).json()["sentences"]

        assert first == {"schedule_id": "minutely", "run_at": "2026-03-02T03:00:00Z"}
        assert found["next_run_at"] == "2026-03-03T03:00:00Z"
        assert why == ["It lies ahead, and a caller asked to leave it out."]

    play(story)


@clause("REGISTRAR-5")
def test_a_schedule_without_a_period_ahead_has_none_to_leave_out() -> None:
    async def story(stage: Stage) -> None:
        body = {"workflow_id": "report", "version": 1, "user_id": "acme", "schedule_id": "past",
                "once": "2026-04-01T00:00:00Z"}  # fmt: skip
        await stage.acme.post("/schedules/upsert", json=body)
        over = body | {"once": "2026-02-01T00:00:00Z"}
        assert (await stage.acme.post("/schedules/upsert", json=over)).status_code == 200

        assert (await stage.acme.post("/schedules/past/skip-next")).status_code == 409

    play(story)


@clause("REGISTRAR-6")
def test_a_backfill_is_counted_before_it_is_run_and_runs_nothing_twice() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        body = {"start": "2026-03-01T10:00:00Z", "end": "2026-03-01T10:02:30Z"}
        path = "/schedules/minutely/backfill"
        tried = (await stage.acme.post(path, json=body)).json()
        nothing = (await stage.acme.get("/schedules/minutely/runs")).json()["items"]
        done = (await stage.acme.post(path, json=body | {"dry_run": False})).json()
        again = (await stage.acme.post(path, json=body | {"dry_run": False})).json()
        after = (await stage.acme.post(path, json=body)).json()
        runs = (await stage.acme.get("/schedules/minutely/runs")).json()["items"]

        assert (tried["count"], tried["new"], tried["dry_run"], nothing) == (3, 3, True, [])
        assert (tried["first"], tried["last"]) == ("2026-03-01T10:00:00Z", "2026-03-01T10:02:00Z")
        assert (done["new"], again["new"], after["new"]) == (3, 0, 0)
        assert [(one["run_at"], one["kind"]) for one in runs] == [
            ("2026-03-01T10:02:00Z", "backfill"), ("2026-03-01T10:01:00Z", "backfill"),
            ("2026-03-01T10:00:00Z", "backfill"),
        ]  # fmt: skip

    play(story)


@clause("REGISTRAR-6")
@pytest.mark.parametrize(
    ("start", "end", "reason"),
    [
        ("2026-03-01T10:00:00Z", "2026-03-01T09:00:00Z", "must not lie before start"),
        ("2026-03-01T10:00:00Z", "2026-03-01T12:00:01Z", "must not lie ahead"),
        ("2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z", "would be more than 10000 runs"),
    ],
)
def test_a_backfill_is_of_the_past_and_bounded(start: str, end: str, reason: str) -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        body = {"start": start, "end": end, "dry_run": False}
        answer = await stage.acme.post("/schedules/minutely/backfill", json=body)

        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "end"
        assert reason in answer.json()["errors"][0]["reason"]

    play(story)


@clause("REGISTRAR-7")
def test_a_run_that_waits_is_ended_at_once_and_one_that_is_over_is_not() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        run = (await stage.acme.post("/schedules/minutely/trigger")).json()
        path = f"/runs/{run['idempotency_key']}/kill"
        killed = await stage.acme.post(path, json={"reason": "wrong one"})
        again = await stage.acme.post(path)

        assert (killed.status_code, killed.json()["outcome"], killed.json()["reason"]) == (
            202, "skipped", "killed",
        )  # fmt: skip
        assert again.status_code == 409
        assert (await stage.acme.post("/runs/nothing/kill")).status_code == 404

    play(story)


@clause("HTTP-19", "REGISTRAR-8")
def test_runs_come_in_pages_newest_first() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        body = {"start": "2026-03-01T10:00:00Z", "end": "2026-03-01T10:04:00Z", "dry_run": False}
        await stage.acme.post("/schedules/minutely/backfill", json=body)
        for name in ("one", "two", "three"):  # three rows of one instant
            headers = {"idempotency-key": name}
            await stage.acme.post("/schedules/minutely/trigger", headers=headers)
        whole = (await stage.acme.get("/schedules/minutely/runs")).json()["items"]
        pages, after = [], ""
        while after is not None:
            query = {"limit": "2", **({"after": after} if after else {})}
            page = (await stage.acme.get("/schedules/minutely/runs", params=query)).json()
            pages += page["items"]
            after = page["next"]

        assert len(whole) == 8
        assert [one["idempotency_key"] for one in pages] == [
            one["idempotency_key"] for one in whole
        ]

    play(story)


@clause("HTTP-19")
@pytest.mark.parametrize("cursor", ["x", "~", "5", "~k", "5~", "9" * 30 + "~k", "²~k"])
def test_a_cursor_that_the_service_did_not_give_is_refused(cursor: str) -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        answer = await stage.acme.get("/schedules/minutely/runs", params={"after": cursor})

        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "after")

    play(story)


@clause("HTTP-19", "SERVICE-40")
def test_why_an_instant_did_not_run_is_answered_over_http() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY | {"cron_expr": "0 3 * * *"})
        path = "/schedules/minutely/explain?run_at=2026-03-01T04:00:00%2B01:00"
        found = (await stage.reader.get(path)).json()

        assert found["run_at"] == "2026-03-01T03:00:00Z"
        assert found["sentences"] == [
            "The schedule was registered at 2026-03-01T12:00:00.000Z; nothing before that is owed."
        ]
        assert found["facts"]["overlap_policy"] == "skip"

    play(story)
