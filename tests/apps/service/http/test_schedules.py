"""Schedules over HTTP: the seed's routes, revisions, comparing, pausing, listing."""

import pytest

from gnomon.apps.service.http.forms import ScheduleForm
from gnomon.apps.service.schedule_input import ScheduleInput
from gnomon.ports.ledger_rows import Actor, Only
from tests.apps.service.http.service_stage import MINUTELY, NOON, Stage, play
from tests.clauses import clause

MISSING = "acme has no DAG report, so its runs fail until one is deployed"


@clause("HTTP-15")
def test_a_schedule_is_registered_with_the_fields_of_the_seed() -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.acme.post(
            "/schedules/upsert",
            json=MINUTELY | {
                "cron_expr": "30 2 * * *", "timezone": "Europe/Berlin", "jitter_ms": 500,
                "start_at": "2026-03-02T00:00:00Z", "end_at": "2026-04-01T00:00:00Z",
                "overlap_policy": "queue", "catchup_policy": "spread",
            },
        )  # fmt: skip

        assert (answer.status_code, answer.json()) == (
            200,
            {"schedule_id": "minutely", "next_run_at": "2026-03-02T01:30:00Z", "revision": 1,
             "changed": True, "warnings": [MISSING]},
        )  # fmt: skip

    play(story)


@clause("HTTP-15", "SERVICE-41")
def test_a_schedule_is_shown_with_its_next_five_runs() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY | {"cron_expr": "0 3 * * *"})
        found = (await stage.reader.get("/schedules/minutely")).json()

        assert found["preview"] == [
            "2026-03-02T03:00:00Z", "2026-03-03T03:00:00Z", "2026-03-04T03:00:00Z",
            "2026-03-05T03:00:00Z", "2026-03-06T03:00:00Z",
        ]  # fmt: skip
        assert (found["next_run_at"], found["paused"]) == ("2026-03-02T03:00:00Z", False)

    play(story)


@clause("HTTP-15")
def test_a_schedule_is_paused_and_goes_on_over_http() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        body = {"schedule_id": "minutely", "paused": True, "until": "2026-03-01T13:00:00Z",
                "reason": "holidays"}  # fmt: skip
        paused = (await stage.acme.post("/schedules/pause", json=body)).json()
        body = {"schedule_id": "minutely", "paused": False}
        resumed = (await stage.acme.post("/schedules/pause", json=body)).json()

        assert (paused["paused"], paused["paused_until"], paused["pause_reason"]) == (
            True, "2026-03-01T13:00:00.000Z", "holidays",
        )  # fmt: skip
        assert paused["next_run_at"] == "2026-03-01T13:00:00Z"
        assert (resumed["paused"], resumed["paused_until"]) == (False, None)

    play(story)


@clause("HTTP-15", "REGISTRAR-8")
def test_a_schedule_that_is_deleted_leaves_its_history() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        key = (await stage.acme.post("/schedules/minutely/trigger")).json()["idempotency_key"]
        deleted = await stage.acme.delete("/schedules/minutely")

        assert (deleted.status_code, deleted.content) == (204, b"")
        assert (await stage.acme.get("/schedules/minutely")).status_code == 404
        assert (await stage.acme.delete("/schedules/minutely")).status_code == 404
        runs = (await stage.acme.get("/schedules/minutely/runs")).json()["items"]
        assert (key, "deleted") in [(one["idempotency_key"], one["reason"]) for one in runs]
        assert (await stage.acme.get(f"/runs/{key}")).json()["outcome"] == "skipped"
        assert (await stage.globex.get("/schedules/minutely/runs")).status_code == 404

    play(story)


@clause("HTTP-15")
def test_code_and_http_are_given_the_same_answers() -> None:
    async def story(stage: Stage) -> None:
        actor, registrar = Actor("acme-writer", "acme"), stage.parts.registrar
        given = ScheduleInput(
            workflow_id="report", version=1, user_id="acme", schedule_id="hourly",
            cron_expr="0 * * * *",
        )  # fmt: skip
        upserted = await registrar.upsert_schedule(actor, given)
        answer = await stage.acme.post(
            "/schedules/upsert",
            json={"workflow_id": "report", "version": 1, "user_id": "acme",
                  "schedule_id": "hourly", "cron_expr": "0 * * * *"},
        )  # fmt: skip

        assert answer.json() == {
            "schedule_id": "hourly", "next_run_at": upserted.next_run_at, "revision": 1,
            "changed": False, "warnings": [MISSING],
        }  # fmt: skip
        assert upserted.warnings == [MISSING]
        found = await registrar.get_schedule(actor, "hourly")
        assert (await stage.acme.get("/schedules/hourly")).json()["preview"] == found.preview
        page = await registrar.list_schedules(actor, Only())
        assert [one.schedule_id for one in page.items] == ["hourly"]

    play(story)


@clause("REGISTRAR-4")
def test_an_equal_upsert_changes_nothing_and_a_pause_stays() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        body = {"schedule_id": "minutely", "paused": True}
        await stage.acme.post("/schedules/pause", json=body)

        again = (await stage.acme.post("/schedules/upsert", json=MINUTELY)).json()
        other = MINUTELY | {"cron_expr": "*/2 * * * *"}
        changed = (await stage.acme.post("/schedules/upsert", json=other)).json()

        assert (again["revision"], again["changed"]) == (1, False)
        assert (changed["revision"], changed["changed"]) == (2, True)
        assert (await stage.acme.get("/schedules/minutely")).json()["paused"] is True

    play(story)


@clause("HTTP-16", "REGISTRAR-4")
def test_the_newer_revision_of_another_caller_is_not_overwritten() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        seen = (await stage.acme.get("/schedules/minutely")).headers["etag"]
        first = MINUTELY | {"cron_expr": "*/2 * * * *"}
        headers = {"if-match": seen}
        assert (
            await stage.acme.post("/schedules/upsert", json=first, headers=headers)
        ).status_code == 200

        second = MINUTELY | {"cron_expr": "*/3 * * * *"}
        late = await stage.acme.post("/schedules/upsert", json=second, headers=headers)

        assert (seen, late.status_code) == ('"1"', 409)
        found = (await stage.acme.get("/schedules/minutely")).json()
        assert (found["cron_expr"], found["revision"]) == ("*/2 * * * *", 2)

    play(story)


@clause("HTTP-16")
@pytest.mark.parametrize("text", ["x", '"x"', "-1", '"1", "2"', "1" * 40])
def test_an_odd_revision_is_refused(text: str) -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.acme.post(
            "/schedules/upsert", json=MINUTELY, headers={"if-match": text}
        )

        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "if-match"
        assert (await stage.acme.get("/schedules/minutely")).status_code == 404

    play(story)


@clause("REGISTRAR-3")
def test_a_change_is_compared_before_it_is_made() -> None:
    async def story(stage: Stage) -> None:
        daily = MINUTELY | {"cron_expr": "0 3 * * *"}
        await stage.acme.post("/schedules/upsert", json=daily)
        diff = (
            await stage.reader.post(
                "/schedules/diff", json=daily | {"cron_expr": "0 3,15 * * 1", "jitter_ms": 5}
            )
        ).json()

        assert diff["fields"] == {
            "cron_expr": ["0 3 * * *", "0 3,15 * * 1"], "jitter_ms": [0, 5],
        }  # fmt: skip
        assert diff["added"] == ["2026-03-02T15:00:00Z", "2026-03-09T15:00:00Z"]
        assert diff["removed"][:2] == ["2026-03-03T03:00:00Z", "2026-03-04T03:00:00Z"]
        assert (await stage.acme.get("/schedules/minutely")).json()["revision"] == 1

    play(story)


@clause("REGISTRAR-3")
def test_a_new_schedule_is_compared_with_nothing() -> None:
    async def story(stage: Stage) -> None:
        once = {"workflow_id": "report", "version": 1, "user_id": "acme",
                "once": "2026-03-01T18:00:00Z"}  # fmt: skip
        diff = (await stage.acme.post("/schedules/diff", json=once)).json()

        assert (diff["changed"], diff["before"], diff["removed"]) == (True, [], [])
        assert diff["added"] == ["2026-03-01T18:00:00Z"]
        assert (await stage.acme.get("/schedules")).json()["items"] == []

    play(story)


@clause("HTTP-17")
def test_a_recurrence_is_previewed_without_being_registered() -> None:
    async def story(stage: Stage) -> None:
        body = {"cron_expr": "30 2 * * *", "timezone": "Europe/Berlin", "count": 2,
                "after": "2027-03-27T12:00:00Z"}  # fmt: skip
        answer = await stage.reader.post("/schedules/preview", json=body)

        assert answer.json() == {
            "description": "At 02:30 every day", "timezone": "Europe/Berlin",
            "next": ["2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"],
        }  # fmt: skip

    play(story)


@clause("HTTP-17")
def test_a_recurrence_that_ends_has_fewer_instants() -> None:
    async def story(stage: Stage) -> None:
        body = {"every": "1h", "anchor": "2026-03-01T00:00:00Z", "end_at": "2026-03-01T14:00:00Z"}
        answer = await stage.reader.post("/schedules/preview", json=body)

        assert answer.json()["next"] == ["2026-03-01T13:00:00Z", "2026-03-01T14:00:00Z"]

    play(story)


async def _register(stage: Stage) -> None:
    for name, dag in (("a-1", "billing"), ("a-2", "billing"), ("b-1", "mail")):
        body = MINUTELY | {"schedule_id": name, "workflow_id": dag}
        assert (await stage.acme.post("/schedules/upsert", json=body)).status_code == 200


@clause("REGISTRAR-2")
@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", ["a-1", "a-2", "b-1"]),
        ("?workflow_id=billing", ["a-1", "a-2"]),
        ("?paused=true", ["a-2"]),
        ("?paused=false", ["a-1", "b-1"]),
        ("?text=-1", ["a-1", "b-1"]),
        ("?text=%25", []),
        ("?text=_", []),
        ("?user_id=acme&workflow_id=mail", ["b-1"]),
        ("?user_id=globex", []),
    ],
)
def test_schedules_are_listed_by_what_is_said_about_them(query: str, ids: list[str]) -> None:
    async def story(stage: Stage) -> None:
        await _register(stage)
        await stage.acme.post("/schedules/pause", json={"schedule_id": "a-2", "paused": True})
        page = (await stage.reader.get(f"/schedules{query}")).json()

        assert ([one["schedule_id"] for one in page["items"]], page["next"]) == (ids, None)

    play(story)


@clause("REGISTRAR-2")
def test_a_list_comes_in_pages() -> None:
    async def story(stage: Stage) -> None:
        await _register(stage)
        first = (await stage.reader.get("/schedules?limit=2")).json()
        second = (await stage.reader.get(f"/schedules?limit=2&after={first['next']}")).json()

        assert [one["schedule_id"] for one in first["items"]] == ["a-1", "a-2"]
        assert [one["schedule_id"] for one in second["items"]] == ["b-1"]
        assert (first["next"], second["next"]) == ("a-2", None)

    play(story)


@clause("HTTP-18")
def test_many_are_paused_only_when_it_is_meant() -> None:
    async def story(stage: Stage) -> None:
        await _register(stage)
        body = {"paused": True, "workflow_id": "billing"}
        tried = (await stage.acme.post("/schedules/pause-many", json=body)).json()
        none = (await stage.acme.get("/schedules?paused=true")).json()["items"]
        body |= {"dry_run": False, "reason": "incident"}
        done = (await stage.acme.post("/schedules/pause-many", json=body)).json()
        again = (await stage.acme.post("/schedules/pause-many", json=body)).json()
        paused = (await stage.acme.get("/schedules?paused=true")).json()["items"]

        assert tried == {"schedule_ids": ["a-1", "a-2"], "dry_run": True}
        assert none == []
        assert done == {"schedule_ids": ["a-1", "a-2"], "dry_run": False}
        assert again["schedule_ids"] == []
        assert [(one["schedule_id"], one["pause_reason"]) for one in paused] == [
            ("a-1", "incident"), ("a-2", "incident"),
        ]  # fmt: skip

    play(story)


@clause("REGISTRAR-9")
def test_every_definition_that_a_schedule_had_is_kept() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        stage.clock.at_ms = (NOON + 90) * 1000
        await stage.acme.post("/schedules/upsert", json=MINUTELY | {"cron_expr": "0 3 * * *"})
        found = (await stage.reader.get("/schedules/minutely/revisions")).json()

        assert [(one["revision"], one["definition"]["cron_expr"]) for one in found] == [
            (2, "0 3 * * *"), (1, "* * * * *"),
        ]  # fmt: skip
        assert found[0]["effective_at"] == "2026-03-01T12:01:30.000Z"

    play(story)


@clause("REGISTRAR-10")
def test_the_log_says_who_changed_what() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        body = {"schedule_id": "minutely", "paused": True, "reason": "holidays"}
        await stage.admin.post("/schedules/pause", json=body)
        await stage.acme.post("/schedules/minutely/trigger", json={"reason": "by hand"})
        await stage.acme.post("/schedules/minutely/skip-next")
        await stage.acme.delete("/schedules/minutely")
        page = (await stage.reader.get("/audit?limit=4")).json()
        rest = (await stage.reader.get(f"/audit?after={page['next']}")).json()

        assert [(one["action"], one["subject"]) for one in page["items"] + rest["items"]] == [
            ("delete", "acme-writer"), ("skip_next", "acme-writer"), ("trigger", "acme-writer"),
            ("pause", "administrator"), ("upsert", "acme-writer"),
        ]  # fmt: skip
        assert page["items"][3]["detail"] == {"reason": "holidays"}
        assert (await stage.globex.get("/audit")).json()["items"] == []

    play(story)


@clause("HTTP-15")
def test_the_form_has_exactly_the_fields_that_the_service_knows() -> None:
    assert list(ScheduleForm.model_fields) == list(ScheduleInput.__dataclass_fields__)
