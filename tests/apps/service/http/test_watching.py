"""Events as they happen, metrics for Prometheus, and a page for people."""

import asyncio
import base64
import json
import re
from hashlib import sha256

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gnomon.apps.service.events import Event
from tests.apps.service.http.asking import client_of
from tests.apps.service.http.service_stage import MINUTELY, Stage, play, with_parts
from tests.clauses import clause


def parsed(text: str) -> list[tuple[str, dict[str, object]]]:
    """The events of a stream: kind and facts."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.partition(": ")[::2] for line in block.splitlines() if line[0] != ":")
        if "event" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


@clause("HTTP-23")
def test_what_has_happened_since_an_event_is_told() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        whole = (await stage.acme.get("/events?follow=false", headers={"last-event-id": "0"})).text
        number = re.findall(r"^id: (\d+)$", whole, re.MULTILINE)[0]
        await stage.acme.post("/schedules/minutely/trigger")
        rest = await stage.acme.get("/events?follow=false", headers={"last-event-id": number})

        assert rest.headers["content-type"].startswith("text/event-stream")
        assert parsed(whole) == [
            ("schedule.upserted", {"at": "2026-03-01T12:00:00.000Z", "user_id": "acme",
                                   "schedule_id": "minutely", "revision": 1}),
        ]  # fmt: skip
        assert [kind for kind, _ in parsed(rest.text)] == ["run.triggered"]
        assert (await stage.acme.get("/events?follow=false")).text == whole + rest.text

    play(story)


@clause("HTTP-23")
def test_a_caller_that_follows_is_told_at_once_until_the_service_ends() -> None:
    async def story(stage: Stage) -> None:
        listens = asyncio.Event()
        wait = stage.parts.events.wait

        async def noted(after: int) -> list[Event]:
            listens.set()
            return await wait(after)

        async def until_it_listens() -> None:
            await listens.wait()
            listens.clear()

        stage.parts.events.wait = noted  # type: ignore[method-assign]
        following = asyncio.create_task(stage.acme.get("/events"))
        await until_it_listens()
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        await until_it_listens()
        body = {"schedule_id": "minutely", "paused": True}
        await stage.acme.post("/schedules/pause", json=body)
        await until_it_listens()
        stage.parts.closing.set()
        text = (await following).text

        assert [kind for kind, _ in parsed(text)] == ["schedule.upserted", "schedule.paused"]

    play(story)


@clause("HTTP-23")
@pytest.mark.parametrize("number", ["x", "-1", "1.5", "9" * 30])
def test_an_odd_number_of_an_event_is_refused(number: str) -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.acme.get("/events", headers={"last-event-id": number})

        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "last-event-id")

    play(story)


@clause("HTTP-22", "SERVICE-31")
def test_the_metrics_have_the_names_of_the_seed() -> None:
    async def story(stage: Stage) -> None:
        stage.counters.schedules_due = 7
        stage.counters.runs_emitted = 5
        stage.counters.runs_skipped_overlap = 2
        stage.counters.runs_failed_launch = 1
        for drift_ms in (-300, 4, 4_000):
            stage.counters.drift.add(drift_ms)
        answer = await stage.reader.get("/metrics")
        families = {one.name: one for one in text_string_to_metric_families(answer.text)}

        assert answer.headers["content-type"].startswith("text/plain")
        names = ("schedules_due", "runs_emitted", "runs_skipped_overlap", "runs_failed_launch")
        assert [families[name].samples[0].value for name in names] == [7, 5, 2, 1]
        drift = {
            one.labels["le"]: one.value for one in families["scheduling_drift_seconds"].samples
        }
        assert (drift["-0.1"], drift["0.0"], drift["0.005"], drift["+Inf"]) == (1, 1, 2, 3)

    play(story)


@clause("HTTP-22")
def test_answers_are_counted_by_route_and_not_by_path() -> None:
    async def story(stage: Stage) -> None:
        for name in ("one", "two"):
            await stage.acme.get(f"/schedules/{name}")
        await stage.acme.get("/no/such/path")
        text = (await stage.reader.get("/metrics")).text

        assert (
            'http_requests_total{method="GET",route="/schedules/{schedule_id}",status="404"} 2.0'
            in text
        )
        assert 'route="none",status="404"} 1.0' in text
        assert "no/such" not in text

    play(story)


@clause("HTTP-22")
def test_metrics_are_open_only_where_they_are_said_to_be() -> None:
    async def story(stage: Stage) -> None:
        assert (await stage.anybody.get("/metrics")).status_code == 401
        async with client_of(with_parts(stage, metrics_open=True)) as client:
            assert (await client.get("/metrics")).status_code == 200
            assert (await client.get("/schedules")).status_code == 401

    play(story)


@clause("HTTP-24")
def test_a_browser_gets_a_page_with_the_token_as_the_password() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        password = base64.b64encode(b"me:acme-read").decode()
        asked = await stage.anybody.get("/")
        page = await stage.anybody.get("/", headers={"authorization": f"Basic {password}"})

        assert (asked.status_code, asked.headers["www-authenticate"]) == (
            401, 'Basic realm="gnomon"',
        )  # fmt: skip
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")
        assert "minutely" in page.text
        assert "2026-03-01T12:00:00Z" in page.text
        assert "schedule.upserted" in page.text

    play(story)


@clause("HTTP-24")
def test_a_password_opens_the_page_and_nothing_else() -> None:
    async def story(stage: Stage) -> None:
        password = base64.b64encode(b"me:acme-write").decode()
        headers = {"authorization": f"Basic {password}"}
        answer = await stage.anybody.post("/schedules/upsert", json=MINUTELY, headers=headers)

        assert answer.status_code == 401

    play(story)


@clause("HTTP-24")
@pytest.mark.parametrize("coded", ["", "x", "eA==", "////", base64.b64encode(b":x").decode()])
def test_an_odd_password_opens_nothing(coded: str) -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.anybody.get("/", headers={"authorization": f"Basic {coded}"})

        assert answer.status_code == 401

    play(story)


@clause("HTTP-24", "HTTP-10")
def test_the_page_escapes_everything_and_allows_only_its_own_style() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        reason = "<script>alert(1)</script>"
        body = {"schedule_id": "minutely", "paused": True, "reason": reason}
        await stage.acme.post("/schedules/pause", json=body)
        page = await stage.acme.get("/")
        style = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)[0]
        digest = base64.b64encode(sha256(style.encode()).digest()).decode()

        assert "<script" not in page.text
        assert "&lt;script&gt;" in page.text
        assert page.headers["content-security-policy"].startswith(
            f"default-src 'none'; style-src 'sha256-{digest}'"
        )

    play(story)
