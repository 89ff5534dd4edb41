"""A store that cannot be reached: 503 with when to come back; and then all is as before."""

import logging
from collections.abc import Callable

import pytest

from gnomon.errors import StoreError
from gnomon.ports import Ledger
from gnomon.shell.http.app import Outage
from tests.apps.service.http.service_stage import MINUTELY, Stage, play
from tests.clauses import clause

REQUESTS = [
    ("GET", "/schedules", None),
    ("GET", "/schedules/minutely", None),
    ("GET", "/schedules/minutely/runs", None),
    ("GET", "/schedules/minutely/explain?run_at=2026-03-01T12:00:00Z", None),
    ("GET", "/audit", None),
    ("GET", "/readyz", None),
    ("GET", "/", None),
    ("POST", "/schedules/upsert", MINUTELY | {"cron_expr": "0 3 * * *"}),
    ("POST", "/schedules/diff", MINUTELY),
    ("POST", "/schedules/pause", {"schedule_id": "minutely", "paused": True}),
    ("POST", "/schedules/pause-many", {"paused": True, "dry_run": False}),
    ("POST", "/schedules/minutely/trigger", None),
    ("POST", "/schedules/minutely/skip-next", None),
    ("DELETE", "/schedules/minutely", None),
    ("GET", "/runs/some-key", None),
]


class Switch:
    """A ledger that can be cut off: every call fails while it is."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.is_off = False

    def __getattr__(self, name: str) -> Callable[..., object]:
        call: Callable[..., object] = getattr(self._ledger, name)

        async def guarded(*values: object, **named: object) -> object:
            if self.is_off:
                raise StoreError(
                    "cannot be reached", where="postgresql://db-7.internal", transient=True
                )
            return await call(*values, **named)  # type: ignore[misc]

        return guarded


@clause("HTTP-41")
def test_an_outage_is_one_line_in_the_log_and_its_end_another(
    caplog: pytest.LogCaptureFixture,
) -> None:
    switches: list[Switch] = []

    def around(ledger: Ledger) -> Ledger:
        switches.append(Switch(ledger))
        return switches[0]  # type: ignore[return-value]

    async def story(stage: Stage) -> list[str]:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        caplog.clear()
        for _ in range(2):
            switches[0].is_off = True
            for _ in range(4):
                for method, path, body in REQUESTS:
                    await stage.acme.request(method, path, json=body)
                await stage.acme.get("/healthz")
                await stage.acme.get("/nowhere")
            switches[0].is_off = False
            await stage.acme.get("/healthz")
            await stage.acme.get("/readyz")
            await stage.acme.get("/schedules")
        return [record.getMessage().partition(" path=")[0] for record in caplog.records]

    caplog.set_level(logging.INFO, "gnomon.runtime")
    told = play(story, around)
    number = 4 * len(REQUESTS)

    assert told == 2 * [
        "requests cannot be answered:", f"requests are answered again: unanswered={number}",
    ]  # fmt: skip


@clause("HTTP-41")
def test_another_reason_is_another_line_up_to_a_bound(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "gnomon.runtime")
    outage = Outage()
    for number in range(100):
        outage.failed("/schedules", f"reason {number % 20}")
    outage.answered("/schedules", 503)
    outage.answered("/schedules", 422)

    assert len(caplog.records) == 8


@clause("HTTP-3")
def test_without_its_store_the_service_says_when_to_come_back_and_then_goes_on() -> None:
    switches: list[Switch] = []

    def around(ledger: Ledger) -> Ledger:
        switches.append(Switch(ledger))
        return switches[0]  # type: ignore[return-value]

    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        before = (await stage.acme.get("/schedules/minutely")).json()
        switches[0].is_off = True
        for method, path, body in REQUESTS:
            answer = await stage.acme.request(method, path, json=body)

            assert (answer.status_code, answer.headers["retry-after"]) == (503, "2"), path
            assert answer.json()["type"] == "urn:gnomon:problem:unavailable"
            assert "db-7" not in answer.text
        assert (await stage.acme.get("/healthz")).status_code == 200
        switches[0].is_off = False
        assert (await stage.acme.get("/schedules/minutely")).json() == before
        assert (await stage.acme.get("/readyz")).status_code == 200

    play(story, around)
