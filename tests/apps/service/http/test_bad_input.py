"""Every field of every route, written wrongly: refused by name, with what to write; no change."""

import pytest

from tests.apps.service.http.service_stage import MINUTELY, Stage, play
from tests.clauses import clause

LONG = "x" * 2000
DAG = {
    "workflow_id": "report", "version": 1, "nodes": [{"id": "a", "type": "action", "uses": "mail"}],
}  # fmt: skip
START = {
    "workflow_id": "report", "version": 1, "user_id": "acme", "idempotency_key": "k",
    "scheduled_for": "2026-03-01T12:00:00Z",
}  # fmt: skip

UPSERT: list[tuple[str, object]] = [
    ("workflow_id", None), ("workflow_id", ""), ("workflow_id", "a b"), ("workflow_id", 7),
    ("workflow_id", "../x"), ("workflow_id", "x" * 201), ("workflow_id", ["a"]),
    ("version", None), ("version", -1), ("version", "1"), ("version", 1.5), ("version", True),
    ("version", 2**31), ("version", {}),
    ("user_id", None), ("user_id", ""), ("user_id", "acme:x"), ("user_id", 1),
    ("cron_expr", ""), ("cron_expr", "* * * *"), ("cron_expr", "61 * * * *"), ("cron_expr", 5),
    ("cron_expr", "0 0 30 2 *"), ("cron_expr", "* * * * * * *"), ("cron_expr", LONG),
    ("cron_expr", "*/0 * * * *"), ("cron_expr", None),
    ("timezone", "Mars/Olympus"), ("timezone", ""), ("timezone", "../UTC"), ("timezone", None),
    ("timezone", 3), ("timezone", "/etc/passwd"), ("timezone", "UTC\n"), ("timezone", LONG),
    ("schedule_id", ""), ("schedule_id", "a:b"), ("schedule_id", "-a"), ("schedule_id", 9),
    ("trigger_id", ""), ("trigger_id", "a/b"), ("trigger_id", None),
    ("start_at", "tomorrow"), ("start_at", "2026-03-01T00:00:00"), ("start_at", 5),
    ("start_at", "2026-13-01T00:00:00Z"), ("start_at", ""),
    ("end_at", "never"), ("end_at", "2026-02-30T00:00:00Z"), ("end_at", False),
    ("jitter_ms", -1), ("jitter_ms", "5"), ("jitter_ms", 86_400_001), ("jitter_ms", 0.5),
    ("jitter_ms", True),
    ("overlap_policy", "sometimes"), ("overlap_policy", ""), ("overlap_policy", 1),
    ("overlap_policy", "Skip"),
    ("catchup_policy", "all"), ("catchup_policy", []), ("catchup_policy", "NONE"),
    ("every", "1h"), ("every", ""), ("every", -5),
    ("once", "2026-03-02T00:00:00Z"), ("once", 7),
    ("anchor", "x"), ("anchor", 1),
    ("dialect", "klingon"), ("dialect", 1), ("dst", "sometimes"), ("dst", 0),
    ("window", "after"), ("window", "after,-1h"), ("window", "beside,1h"), ("window", 5),
    ("distribution", "gauss"), ("distribution", "uniform,x=1"), ("distribution", 0),
    ("seed", "random"), ("seed", 1), ("salt", 1), ("salt", LONG),
    ("only", "dow=nosuchday"), ("only", "hours=25"), ("only", 2), ("avoid", "between=25:00-26:00"),
    ("avoid", {}),
    ("deadline", "-1s"), ("deadline", "soon"), ("deadline", 5), ("deadline", "1500ms"),
    ("pause_rule", "wait"), ("pause_rule", 1),
    ("launches_max", 0), ("launches_max", 101), ("launches_max", "3"),
    ("launch_backoff", "-1s"), ("launch_backoff", "x"), ("launch_backoff", 1),
    ("start_by", "0s"), ("start_by", "x"), ("finish_by", "-5m"), ("finish_by", 1),
    ("params", []), ("params", "x"), ("params", 5), ("params", {"a": "x" * 17_000}),
    ("max_duration", "0s"), ("max_duration", "9999h"), ("max_duration", []),
    ("cron", "* * * * *"), ("paused", True), ("__proto__", {}),
]  # fmt: skip
"""A field of an upsert, and what is written in it."""

ELSEWHERE: dict[str, str] = {
    "every": "schedule",
    "once": "schedule",
    "anchor": "anchor",
    "window": "window",
}
"""Where another field may be named too, because the two do not go together."""

OTHERS: list[tuple[str, dict[str, object], str]] = [
    ("/schedules/pause", {"paused": True}, "schedule_id"),
    ("/schedules/pause", {"schedule_id": "minutely"}, "paused"),
    ("/schedules/pause", {"schedule_id": "minutely", "paused": "yes"}, "paused"),
    ("/schedules/pause", {"schedule_id": "minutely", "paused": 1}, "paused"),
    ("/schedules/pause", {"schedule_id": "a b", "paused": True}, "schedule_id"),
    ("/schedules/pause", {"schedule_id": "minutely", "paused": True, "until": "x"}, "until"),
    ("/schedules/pause",
     {"schedule_id": "minutely", "paused": True, "until": "2026-03-01T11:59:59Z"}, "until"),
    ("/schedules/pause",
     {"schedule_id": "minutely", "paused": False, "until": "2026-03-02T00:00:00Z"}, "until"),
    ("/schedules/pause", {"schedule_id": "minutely", "paused": True, "reason": 5}, "reason"),
    ("/schedules/pause", {"schedule_id": "minutely", "paused": True, "reason": LONG}, "reason"),
    ("/schedules/pause", {"schedule_id": "minutely", "paused": True, "why": "x"}, "why"),
    ("/schedules/pause-many", {}, "paused"),
    ("/schedules/pause-many", {"paused": True, "workflow_id": "a b"}, "workflow_id"),
    ("/schedules/pause-many", {"paused": True, "user_id": ""}, "user_id"),
    ("/schedules/pause-many", {"paused": True, "only_paused": "x"}, "only_paused"),
    ("/schedules/pause-many", {"paused": True, "text": 5}, "text"),
    ("/schedules/pause-many", {"paused": True, "until": "x", "dry_run": False}, "until"),
    ("/schedules/pause-many", {"paused": True, "dry_run": "no"}, "dry_run"),
    ("/schedules/pause-many", {"paused": True, "all": True}, "all"),
    ("/schedules/preview", {}, "cron_expr"),
    ("/schedules/preview", {"cron_expr": "x"}, "cron_expr"),
    ("/schedules/preview", {"cron_expr": "* * * * *", "timezone": "Mars"}, "timezone"),
    ("/schedules/preview", {"cron_expr": "* * * * *", "count": 0}, "count"),
    ("/schedules/preview", {"cron_expr": "* * * * *", "count": 1001}, "count"),
    ("/schedules/preview", {"cron_expr": "* * * * *", "after": "x"}, "after"),
    ("/schedules/preview", {"every": "0s"}, "every"),
    ("/schedules/preview", {"once": "x"}, "once"),
    ("/schedules/preview", {"cron_expr": "* * * * *", "dst": "x"}, "dst"),
    ("/schedules/preview", {"cron_expr": "* * * * *", "dialect": "x"}, "dialect"),
    ("/schedules/preview", {"cron_expr": "* * * * *", "end_at": "x"}, "end_at"),
    ("/schedules/minutely/trigger", {"reason": 5}, "reason"),
    ("/schedules/minutely/trigger", {"reason": LONG}, "reason"),
    ("/schedules/minutely/trigger", {"key": "x"}, "key"),
    ("/schedules/minutely/trigger", {"params": "x"}, "params"),
    ("/schedules/minutely/trigger", {"params": {"a": "x" * 17_000}}, "params"),
    ("/schedules/minutely/backfill", {}, "start"),
    ("/schedules/minutely/backfill", {"start": "x", "end": "2026-03-01T10:00:00Z"}, "start"),
    ("/schedules/minutely/backfill", {"start": "2026-03-01T10:00:00Z", "end": 5}, "end"),
    ("/schedules/minutely/backfill",
     {"start": "2026-03-01T10:00:00Z", "end": "2026-03-01T10:00:00Z", "name": "a b"}, "name"),
    ("/schedules/minutely/backfill",
     {"start": "2026-03-01T10:00:00Z", "end": "2026-03-01T10:00:00Z", "dry_run": 0}, "dry_run"),
    ("/runs/some-key/kill", {"reason": []}, "reason"),
    ("/run-launcher/start", START | {"workflow_id": ""}, "workflow_id"),
    ("/run-launcher/start", START | {"version": "1"}, "version"),
    ("/run-launcher/start", START | {"user_id": 5}, "user_id"),
    ("/run-launcher/start", START | {"scheduled_for": "x"}, "scheduled_for"),
    ("/run-launcher/start", START | {"idempotency_key": ""}, "idempotency_key"),
    ("/run-launcher/start", START | {"extra": 1}, "extra"),
    ("/dags", {}, "workflow_id"),
    ("/dags", DAG | {"version": 0}, "version"),
    ("/dags", DAG | {"version": "1"}, "version"),
    ("/dags", DAG | {"nodes": []}, "nodes"),
    ("/dags", DAG | {"nodes": {}}, "nodes"),
    ("/dags", DAG | {"nodes": [{"id": "a"}]}, "nodes[0].type"),
    ("/dags", DAG | {"edges": [{"from": "a", "to": "b"}]}, "edges[0].to"),
    ("/dags", DAG | {"edges": [{"from": "a", "to": "a"}]}, "edges"),
    ("/dags", DAG | {"triggers": [{"type": "moon"}]}, "triggers[0].type"),
    ("/dags",
     DAG | {"triggers": [{"type": "schedule_based", "cron_expr": "x"}]}, "triggers[0].cron_expr"),
    ("/dags",
     DAG | {"triggers": [{"type": "schedule_based", "cron_expr": "* * * * *",
                          "timezone": "Mars"}]}, "triggers[0].timezone"),
    ("/dags", DAG | {"name": 5}, "name"),
    ("/dags", DAG | {"steps": []}, "steps"),
]  # fmt: skip

QUERIES = [
    ("/schedules?limit=0", "limit"), ("/schedules?limit=1001", "limit"),
    ("/schedules?limit=x", "limit"), ("/schedules?paused=perhaps", "paused"),
    ("/schedules?user_id=a%20b", "user_id"), ("/schedules?workflow_id=", "workflow_id"),
    ("/schedules?text=" + "x" * 201, "text"), ("/schedules?after=" + "x" * 1025, "after"),
    ("/schedules/a%20b", "schedule_id"), ("/schedules/minutely?count=0", "count"),
    ("/schedules/minutely?count=1e3", "count"), ("/schedules/" + "x" * 201, "schedule_id"),
    ("/schedules/minutely/runs?limit=-5", "limit"),
    ("/schedules/minutely/explain", "run_at"), ("/schedules/minutely/explain?run_at=x", "run_at"),
    ("/schedules/minutely/explain?run_at=9999-12-31T23:59:59-23:59", "run_at"),
    ("/runs/" + "x" * 501, "key"), ("/audit?after=x", "after"), ("/audit?after=-1", "after"),
    ("/audit?limit=0", "limit"), ("/dags?after=x", "after"), ("/dags?limit=0", "limit"),
    ("/dags/a%20b", "workflow_id"), ("/dags/report?version=0", "version"),
    ("/dags/report?version=x", "version"), ("/dags/report/versions?before=x", "before"),
]  # fmt: skip


async def _state(stage: Stage) -> list[object]:
    paths = ["/schedules", "/schedules/minutely/runs", "/audit", "/dags"]
    return [(await stage.admin.get(path)).json() for path in paths]


@clause("HTTP-2", "SERVICE-2")
def test_every_field_of_an_upsert_is_refused_by_name() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        before = await _state(stage)
        for path in ("/schedules/upsert", "/schedules/diff"):
            for field, value in UPSERT:
                answer = await stage.acme.post(path, json=MINUTELY | {field: value})
                found = answer.json().get("errors", [{}])[0]

                assert answer.status_code == 422, (field, value, answer.text)
                named = {field, ELSEWHERE.get(field, field), "cron_expr"}
                assert found["field"].partition(".")[0] in named, (field, value, found)
                assert found["reason"], (field, value, found)
                assert found["hint"], (field, value, found)
        assert await _state(stage) == before

    play(story)


@clause("HTTP-2")
def test_every_field_of_the_other_routes_is_refused_by_name() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        before = await _state(stage)
        for path, body, field in OTHERS:
            answer = await stage.acme.post(path, json=body)
            found = answer.json().get("errors", [{}])[0]

            assert answer.status_code == 422, (path, body, answer.text)
            assert found["field"] == field, (path, body, found)
            assert found["reason"], (path, body, found)
        assert await _state(stage) == before

    play(story)


@clause("HTTP-2")
def test_every_parameter_is_refused_by_name() -> None:
    async def story(stage: Stage) -> None:
        for path, field in QUERIES:
            answer = await stage.acme.get(path)

            assert answer.status_code == 422, (path, answer.text)
            assert answer.json()["errors"][0]["field"] == field, (path, answer.text)

    play(story)


@clause("HTTP-2")
@pytest.mark.parametrize("body", [[], "text", 5, None, True])
@pytest.mark.parametrize("path", ["/schedules/upsert", "/schedules/pause", "/dags"])
def test_a_body_that_is_no_object_is_refused(path: str, body: object) -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.acme.post(path, json=body)

        assert answer.status_code == 422

    play(story)


@clause("HTTP-2")
def test_a_field_that_was_misspelt_is_guessed() -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.acme.post("/schedules/upsert", json=MINUTELY | {"cron_exp": "x"})

        assert answer.json()["errors"] == [
            {"field": "cron_exp", "reason": "is not a known field", "got": "'x'",
             "hint": "did you mean cron_expr?"}
        ]  # fmt: skip

    play(story)


@clause("HTTP-2")
def test_bounds_that_exclude_each_other_are_refused() -> None:
    async def story(stage: Stage) -> None:
        body = MINUTELY | {"start_at": "2026-03-03T00:00:00Z", "end_at": "2026-03-02T00:00:00Z"}
        answer = await stage.acme.post("/schedules/upsert", json=body)

        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "start_at")

    play(story)


@clause("HTTP-2")
def test_what_was_sent_comes_back_in_a_form_that_does_no_harm() -> None:
    async def story(stage: Stage) -> None:
        nasty = "<script>\u202e\r\n\x1b[31m"
        answer = await stage.acme.post("/schedules/upsert", json=MINUTELY | {"timezone": nasty})

        assert answer.status_code == 422
        assert answer.text.isascii()
        assert "\x1b" not in answer.json()["detail"]
        assert "\n" not in answer.json()["detail"]

    play(story)


@clause("HTTP-7")
def test_a_parameter_that_is_there_twice_is_refused_by_its_name() -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.acme.get("/schedules?limit=3&text=a&limit=5")

        assert answer.status_code == 422
        assert answer.json()["errors"] == [
            {"field": "limit", "reason": "must be given once", "got": "2 values",
             "hint": "write one of them"}
        ]  # fmt: skip

    play(story)


@clause("HTTP-27")
def test_a_parameter_that_is_misspelt_is_refused_with_the_known_ones() -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.acme.get("/dags?limt=5")

        assert (answer.status_code, answer.json()["errors"]) == (
            422,
            [{"field": "limt", "reason": "is not a known parameter", "got": "'5'",
              "hint": "did you mean limit? the parameters are user_id, after, limit"}],
        )  # fmt: skip
        assert answer.json()["detail"] == (
            "limt: is not a known parameter, got '5' "
            "(did you mean limit? the parameters are user_id, after, limit)"
        )

    play(story)


@clause("HTTP-27")
def test_a_parameter_like_no_other_is_refused_and_nothing_is_done() -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.acme.post("/schedules/upsert?dry_run=true", json=MINUTELY)

        assert (answer.status_code, answer.json()["errors"][0]["hint"]) == (
            422, "leave it out, there are none here",
        )  # fmt: skip
        assert (await stage.acme.get("/schedules/minutely")).status_code == 404

    play(story)


@clause("HTTP-7", "HTTP-27")
def test_every_parameter_that_is_wrong_is_named() -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.acme.get("/schedules?a%0a=1&limit=3&limit=5&a%0a=2")

        assert [(one["field"], one["reason"], one["got"]) for one in answer.json()["errors"]] == [
            ("a\\n", "is not a known parameter", "'2'"),
            ("limit", "must be given once", "2 values"),
        ]

    play(story)
