"""A store that cannot be reached: 503 with when to come back; and then all is as before."""

from collections.abc import Callable

from gnomon.errors import StoreError
from gnomon.ports import Ledger
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
