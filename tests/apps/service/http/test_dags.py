"""DAGs over HTTP: deploying, looking, starting, and what executors call back with."""

import json

import pytest

from gnomon.core.engine import plan
from gnomon.ports.dag import DagRun, NodeRow, NodeState
from gnomon.ports.executor import FeedbackStatus
from gnomon.shell.executor.signature import Purpose, signed
from tests.apps.service.http.service_stage import KEYS, MINUTELY, NOON, Stage, play, with_parts
from tests.clauses import clause

DAG = {
    "workflow_id": "report", "version": 1,
    "nodes": [{"id": "a", "type": "action", "uses": "mail"}],
    "triggers": [{"type": "schedule_based", "cron_expr": "0 3 * * *", "timezone": "UTC"}],
}  # fmt: skip
START = {
    "workflow_id": "report", "version": 1, "user_id": "acme", "idempotency_key": "k",
    "scheduled_for": "2026-03-01T12:00:00Z",
}  # fmt: skip


@clause("HTTP-25")
def test_deploying_a_dag_registers_its_schedules() -> None:
    async def story(stage: Stage) -> None:
        first = await stage.acme.post("/dags", json=DAG)
        again = await stage.acme.post("/dags", json=DAG)
        schedules = (await stage.acme.get("/schedules")).json()["items"]

        assert (first.status_code, again.status_code) == (201, 200)
        assert (first.json()["created"], again.json()["created"]) == (True, False)
        assert first.json()["schedules"] == [one["schedule_id"] for one in schedules]
        assert [(one["workflow_id"], one["cron_expr"]) for one in schedules] == [
            ("report", "0 3 * * *")
        ]

    play(story)


@clause("HTTP-25")
def test_a_version_never_changes() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/dags", json=DAG)
        other = await stage.acme.post("/dags", json=DAG | {"name": "another"})
        next_one = await stage.acme.post("/dags", json=DAG | {"version": 2, "triggers": []})

        assert other.status_code == 409
        assert next_one.status_code == 201
        assert len(next_one.json()["deleted"]) == 1
        assert (await stage.acme.get("/schedules")).json()["items"] == []

    play(story)


@clause("HTTP-25")
def test_dags_are_shown_by_version() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/dags", json=DAG)
        await stage.acme.post("/dags", json=DAG | {"version": 2, "name": "second"})
        newest = (await stage.reader.get("/dags/report")).json()
        first = (await stage.reader.get("/dags/report?version=1")).json()
        versions = (await stage.reader.get("/dags/report/versions?limit=1")).json()
        listed = (await stage.reader.get("/dags")).json()["items"]

        assert (newest["version"], newest["dag"]["name"]) == (2, "second")
        assert (first["version"], first["dag"]["workflow_id"]) == (1, "report")
        assert ([one["version"] for one in versions["items"]], versions["next"]) == ([2], "2")
        assert [(one["workflow_id"], one["version"]) for one in listed] == [("report", 2)]
        assert (await stage.reader.get("/dags/report?version=3")).status_code == 404

    play(story)


@clause("HTTP-15", "START-1", "START-2", "START-3")
def test_a_dag_is_started_under_a_key_and_seen_as_a_run() -> None:
    async def story(stage: Stage) -> None:
        missing = (await stage.acme.post("/run-launcher/start", json=START)).json()
        await stage.acme.post("/dags", json=DAG)
        started = (await stage.acme.post("/run-launcher/start", json=START)).json()
        again = (await stage.acme.post("/run-launcher/start", json=START)).json()

        assert missing == {
            "started": False, "idempotency_key": "",
            "reason": "DAG report has no version 1; deploy it first",
        }  # fmt: skip
        key = started["idempotency_key"]
        assert started == {"started": True, "idempotency_key": key, "reason": ""}
        assert again == started
        run = (await stage.reader.get(f"/runs/{key}")).json()
        assert (run["state"], run["run_at"]) == ("planned", "2026-03-01T12:00:00Z")
        logged = (await stage.reader.get("/audit")).json()["items"]
        assert [one["action"] for one in logged].count("trigger") == 1

    play(story)


@clause("HTTP-39")
def test_a_dag_is_removed_with_what_came_along() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/dags", json=DAG)
        await stage.acme.post("/dags", json=DAG | {"version": 2, "name": "second"})
        await stage.acme.post("/run-launcher/start", json=START)
        for client in (stage.reader, stage.globex, stage.admin):
            assert (await client.delete("/dags/report")).status_code in (403, 404, 422)
        of_version = await stage.acme.delete("/dags/report?version=2")
        done = await stage.acme.delete("/dags/report")
        gone = await stage.acme.delete("/dags/report")
        started = (await stage.acme.post("/run-launcher/start", json=START)).json()

        assert of_version.status_code == 409
        assert "is the version that its triggers start" in of_version.json()["detail"]
        assert (done.status_code, gone.status_code) == (200, 404)
        found = done.json()
        assert (found["user_id"], found["workflow_id"], found["versions"]) == ("acme", "report", 2)
        assert sorted(one.split(".")[0] for one in found["deleted"]) == ["report", "start"]
        assert (await stage.acme.get("/schedules")).json()["items"] == []
        assert (await stage.acme.get("/dags")).json()["items"] == []
        assert not started["started"]
        logged = (await stage.reader.get("/audit")).json()["items"]
        assert [one["action"] for one in logged].count("delete") == 2

    play(story)


@clause("HTTP-39", "WSTORE-6")
def test_a_version_that_was_removed_is_deployed_again_with_the_same_content_only() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/dags", json=DAG)
        await stage.acme.delete("/dags/report")
        other = await stage.acme.post("/dags", json=DAG | {"name": "another"})
        same = await stage.acme.post("/dags", json=DAG)

        assert (other.status_code, same.status_code) == (409, 201)
        assert "deploy it as version 2" in other.json()["detail"]

    play(story)


@clause("HTTP-39")
def test_what_would_start_a_removed_dag_stands_against_its_removal() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/dags", json=DAG | {"triggers": []})
        for name in "abcde":
            await stage.acme.post("/schedules/upsert", json=MINUTELY | {"schedule_id": name})
        refused = await stage.acme.delete("/dags/report")
        for name in "abcde":
            await stage.acme.delete(f"/schedules/{name}")
        done = await stage.acme.delete("/dags/report?version=1")

        assert refused.status_code == 409
        assert "is started by a, b, c and 2 more" in refused.json()["detail"]
        assert done.json()["versions"] == 1

    play(story)


@clause("HTTP-39")
def test_a_dag_with_a_run_in_flight_is_not_removed() -> None:
    async def story(stage: Stage) -> None:
        dag = DAG["nodes"], [{"type": "schedule_based", "cron_expr": "* * * * *"}]
        body = DAG | {"nodes": dag[0], "triggers": dag[1]}
        found = (await stage.acme.post("/dags", json=body)).json()
        stage.clock.at_ms += 60_000
        now_ms = stage.clock.now_ms()
        changes = plan(await stage.ledger.load(now_ms=now_ms, limit=10), now_ms=now_ms)
        await stage.ledger.commit(changes, owner="worker", confirmed=False, now_ms=now_ms)
        refused = await stage.acme.delete("/dags/report")

        assert refused.status_code == 409
        assert f"has runs in flight of {found['schedules'][0]}" in refused.json()["detail"]

    play(story)


@clause("HTTP-25", "HTTP-2")
def test_whose_dag_is_deployed_is_said_in_the_address_and_the_error_says_so() -> None:
    async def story(stage: Stage) -> None:
        ownerless = (await stage.admin.post("/dags", json=DAG)).json()
        in_body = (await stage.admin.post("/dags", json=DAG | {"user_id": "acme"})).json()
        done = await stage.admin.post("/dags?user_id=acme", json=DAG)

        assert ownerless["errors"] == [
            {"field": "user_id", "got": "None",
             "reason": "must be given, because the sender acts for every user",
             "hint": "write ?user_id=ID behind the path, with the id of the user whose DAG "
                     "it is"},
        ]  # fmt: skip
        assert in_body["errors"][0]["hint"] == "write it into the address: ?user_id=..."
        assert done.status_code == 201

    play(story)


async def _call_back(
    stage: Stage, body: object, *, now_ms: int | None = None, signature: str | None = None
) -> tuple[int, dict[str, object]]:
    data = json.dumps(body).encode()
    at_ms = stage.clock.now_ms() if now_ms is None else now_ms
    headers = signed(KEYS, Purpose.CALLBACK, data, now_ms=at_ms)
    if signature is not None:
        headers["Gnomon-Signature"] = signature
    answer = await stage.anybody.post(
        "/executor/callbacks", content=data,
        headers={"content-type": "application/json", **headers},
    )  # fmt: skip
    return answer.status_code, answer.json()


@clause("HTTP-21", "AUTH-16")
def test_a_callback_that_is_not_signed_is_not_heard() -> None:
    async def story(stage: Stage) -> None:
        body = {"idempotency_key": "k", "status": "SUCCESS"}
        bare = await stage.acme.post("/executor/callbacks", json=body)
        status, _ = await _call_back(stage, body, signature="00" * 32)
        late, _ = await _call_back(stage, body, now_ms=(NOON - 301) * 1000)

        assert (bare.status_code, status, late) == (401, 401, 401)

    play(story)


@clause("HTTP-21")
@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"status": "SUCCESS"}, 422, "idempotency_key"),
        ({"idempotency_key": "k", "status": "DONE"}, 422, "status"),
        ({"idempotency_key": "k", "status": "SUCCESS", "at": "x"}, 422, "at"),
        ({"idempotency_key": "k", "status": "SUCCESS", "more": 1}, 422, "more"),
        ([], 422, "callback"),
        ({"idempotency_key": "k", "status": "SUCCESS"}, 404, None),
    ],
)
def test_a_callback_that_cannot_be_meant_is_refused(
    body: object, status: int, field: str | None
) -> None:
    async def story(stage: Stage) -> None:
        found, answer = await _call_back(stage, body)

        assert found == status
        errors = answer.get("errors")
        assert (errors[0]["field"] if isinstance(errors, list) else None) == field

    play(story)


@clause("HTTP-21")
def test_without_an_executor_that_calls_back_there_are_no_callbacks() -> None:
    async def story(stage: Stage) -> None:
        from tests.apps.service.http.asking import client_of

        async with client_of(with_parts(stage, callback_keys=None)) as client:
            body = {"idempotency_key": "k", "status": "SUCCESS"}
            assert (await client.post("/executor/callbacks", json=body)).status_code == 404

    play(story)


@clause("HTTP-21")
def test_the_nodes_of_a_run_and_what_they_printed_are_shown() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        key = (await stage.acme.post("/schedules/minutely/trigger")).json()["idempotency_key"]
        now_ms = stage.clock.now_ms()
        await stage.parts.dag_runs.begin(
            DagRun(key, "r-1", "report", 1, "acme", 1, FeedbackStatus.STARTED, "", now_ms)
        )
        node = NodeRow("a", NodeState.SUCCESS, 1, None, "exit 0", "hello\n", now_ms, now_ms + 5)
        await stage.parts.dag_runs.write(key, [node], fence=1)
        nodes = (await stage.reader.get(f"/runs/{key}/nodes")).json()
        log = await stage.reader.get(f"/runs/{key}/nodes/a/log")

        assert nodes == [
            {"node_id": "a", "state": "success", "attempt": 1, "detail": "exit 0",
             "started_at": "2026-03-01T12:00:00.000Z", "ended_at": "2026-03-01T12:00:00.005Z"}
        ]  # fmt: skip
        assert log.text == "hello\n"
        assert (await stage.reader.get(f"/runs/{key}/nodes/b/log")).status_code == 404

    play(story)
