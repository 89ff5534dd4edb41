"""Two users of one service: what belongs to one is not there for the other."""

import pytest

from tests.apps.service.http.service_stage import MINUTELY, Stage, play
from tests.clauses import clause

DAG = {
    "workflow_id": "report", "version": 1, "nodes": [{"id": "a", "type": "action", "uses": "mail"}],
    "triggers": [{"type": "schedule_based", "cron_expr": "0 3 * * *"}],
}  # fmt: skip
BACKFILL = {"start": "2026-03-01T10:00:00Z", "end": "2026-03-01T10:01:00Z", "dry_run": False}

SEEN: list[tuple[str, str, dict[str, object] | None]] = [
    ("GET", "/schedules/minutely", None),
    ("GET", "/schedules/minutely/runs", None),
    ("GET", "/schedules/minutely/revisions", None),
    ("GET", "/schedules/minutely/explain?run_at=2026-03-01T12:00:00Z", None),
    ("GET", "/runs/{key}", None),
    ("GET", "/runs/{key}/nodes", None),
    ("GET", "/runs/{key}/nodes/a/log", None),
    ("GET", "/dags/report", None),
    ("GET", "/dags/report?user_id=acme", None),
    ("GET", "/dags/report/versions", None),
]
CHANGED: list[tuple[str, str, dict[str, object] | None]] = [
    ("POST", "/schedules/pause", {"schedule_id": "minutely", "paused": True}),
    ("DELETE", "/schedules/minutely", None),
    ("POST", "/schedules/minutely/trigger", None),
    ("POST", "/schedules/minutely/skip-next", None),
    ("POST", "/schedules/minutely/backfill", BACKFILL),
    ("POST", "/runs/{key}/kill", None),
]


async def _acme(stage: Stage) -> str:
    """Everything that acme has; the key of its run."""
    await stage.acme.post("/schedules/upsert", json=MINUTELY)
    assert (await stage.acme.post("/dags", json=DAG)).status_code == 201
    run = await stage.acme.post("/schedules/minutely/trigger")
    key: str = run.json()["idempotency_key"]
    return key


async def _state(stage: Stage) -> list[object]:
    """What an administrator, who sees everything, sees of the service."""
    paths = ["/schedules", "/schedules/minutely/runs", "/audit", "/dags"]
    return [(await stage.admin.get(path)).json() for path in paths]


@clause("AUTH-8", "REGISTRAR-1")
@pytest.mark.parametrize(("method", "path", "body"), SEEN + CHANGED)
def test_what_belongs_to_another_is_not_there(method: str, path: str, body: object) -> None:
    async def story(stage: Stage) -> None:
        key = await _acme(stage)
        before = await _state(stage)
        answer = await stage.globex.request(method, path.format(key=key), json=body)

        assert answer.status_code == 404
        assert "acme" in path or "acme" not in answer.text
        assert await _state(stage) == before

    play(story)


@clause("AUTH-8", "REGISTRAR-1")
@pytest.mark.parametrize("path", ["/schedules/upsert", "/schedules/diff"])
def test_an_id_that_another_has_is_taken(path: str) -> None:
    async def story(stage: Stage) -> None:
        await _acme(stage)
        before = await _state(stage)
        answer = await stage.globex.post(path, json=MINUTELY | {"user_id": "globex"})

        assert answer.status_code == 409
        assert "acme" not in answer.text
        assert await _state(stage) == before

    play(story)


@clause("AUTH-8", "REGISTRAR-1")
def test_an_id_stays_taken_when_its_schedule_is_deleted() -> None:
    async def story(stage: Stage) -> None:
        await _acme(stage)
        await stage.acme.delete("/schedules/minutely")
        body = MINUTELY | {"user_id": "globex"}

        assert (await stage.globex.post("/schedules/upsert", json=body)).status_code == 409
        assert (await stage.acme.post("/schedules/upsert", json=MINUTELY)).status_code == 200

    play(story)


@clause("AUTH-8", "REGISTRAR-1")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/schedules/upsert", MINUTELY | {"schedule_id": "mine"}),
        ("/schedules/diff", MINUTELY | {"schedule_id": "mine"}),
        ("/dags?user_id=acme", DAG),
        ("/run-launcher/start",
         {"workflow_id": "report", "version": 1, "user_id": "acme", "idempotency_key": "k",
          "scheduled_for": "2026-03-01T12:00:00Z"}),
    ],
)  # fmt: skip
def test_a_user_cannot_act_for_another_user(path: str, body: dict[str, object]) -> None:
    async def story(stage: Stage) -> None:
        await _acme(stage)
        before = await _state(stage)
        answer = await stage.globex.post(path, json=body)

        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "user_id"
        assert await _state(stage) == before

    play(story)


@clause("AUTH-8")
@pytest.mark.parametrize(
    "path",
    ["/schedules", "/schedules?user_id=acme", "/schedules?text=minutely", "/audit", "/dags",
     "/audit?schedule_id=minutely"],
)  # fmt: skip
def test_lists_leave_out_what_belongs_to_others(path: str) -> None:
    async def story(stage: Stage) -> None:
        await _acme(stage)

        assert (await stage.acme.get(path)).json()["items"] != []
        assert (await stage.globex.get(path)).json()["items"] == []

    play(story)


@clause("AUTH-8")
def test_pausing_many_leaves_others_alone() -> None:
    async def story(stage: Stage) -> None:
        await _acme(stage)
        for body in ({"paused": True, "dry_run": False},
                     {"paused": True, "dry_run": False, "user_id": "acme"}):  # fmt: skip
            answer = await stage.globex.post("/schedules/pause-many", json=body)
            assert answer.json()["schedule_ids"] == []

        assert (await stage.acme.get("/schedules/minutely")).json()["paused"] is False

    play(story)


@clause("AUTH-8")
def test_events_and_the_status_page_show_ones_own_only() -> None:
    async def story(stage: Stage) -> None:
        await _acme(stage)
        headers = {"last-event-id": "0"}

        own = await stage.acme.get("/events?follow=false", headers=headers)
        other = await stage.globex.get("/events?follow=false", headers=headers)
        assert "minutely" in own.text
        assert other.text == ""
        assert "minutely" in (await stage.acme.get("/")).text
        assert "minutely" not in (await stage.globex.get("/")).text

    play(story)


@clause("AUTH-9")
def test_an_administrator_sees_and_changes_everything() -> None:
    async def story(stage: Stage) -> None:
        key = await _acme(stage)
        for method, path, body in SEEN[:5] + CHANGED[:1]:
            answer = await stage.admin.request(method, path.format(key=key), json=body)
            assert answer.status_code == 200, path
        body = MINUTELY | {"user_id": "globex"}
        assert (await stage.admin.post("/schedules/upsert", json=body)).status_code == 409

    play(story)


@clause("AUTH-7")
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        *CHANGED,
        ("POST", "/schedules/upsert", MINUTELY | {"cron_expr": "0 3 * * *"}),
        ("POST", "/schedules/pause-many", {"paused": True, "dry_run": False}),
        ("POST", "/dags", DAG | {"version": 2}),
        ("POST", "/run-launcher/start",
         {"workflow_id": "report", "version": 1, "user_id": "acme", "idempotency_key": "k",
          "scheduled_for": "2026-03-01T12:00:00Z"}),
    ],
)  # fmt: skip
def test_a_caller_that_may_only_read_changes_nothing(method: str, path: str, body: object) -> None:
    async def story(stage: Stage) -> None:
        key = await _acme(stage)
        before = await _state(stage)
        answer = await stage.reader.request(method, path.format(key=key), json=body)

        assert answer.status_code == 403
        assert await _state(stage) == before

    play(story)


@clause("AUTH-16")
@pytest.mark.parametrize(
    ("method", "path"),
    [(method, path) for method, path, _ in SEEN + CHANGED]
    + [("POST", "/schedules/upsert"), ("GET", "/schedules"), ("GET", "/audit"), ("GET", "/"),
       ("GET", "/metrics"), ("GET", "/events"), ("GET", "/openapi.json"), ("POST", "/dags"),
       ("POST", "/schedules/pause-many"), ("POST", "/schedules/preview"),
       ("POST", "/run-launcher/start")],
)  # fmt: skip
def test_a_caller_without_a_token_gets_nothing(method: str, path: str) -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.anybody.request(method, path)

        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].split()[1].startswith('realm="gnomon"')

    play(story)
