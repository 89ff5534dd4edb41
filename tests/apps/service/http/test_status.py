"""Metrics for Prometheus, and a page for people."""

import base64
import re
from hashlib import sha256

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.apps.service.http.asking import client_of
from tests.apps.service.http.service_stage import MINUTELY, Stage, play, with_parts
from tests.clauses import clause


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
