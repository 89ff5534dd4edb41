"""The OpenAPI document of workflows: complete, true, and in the reference."""

from typing import cast

import httpx2

from gnomon.errors import StoreError
from gnomon.ports.workflow_log import WorkflowLog
from tests.apps.workflow.http.stage import Stage, play
from tests.clauses import clause
from tests.tidy.tree import ROOT

OPEN = {"healthz", "healthz_head", "readyz", "readyz_head"}


async def operations(client: httpx2.AsyncClient) -> dict[str, dict[str, object]]:
    """Every operation, by its method and path."""
    paths = (await client.get("/openapi.json")).json()["paths"]
    return {
        f"{method.upper()} {path}": operation
        for path, methods in paths.items()
        for method, operation in methods.items()
    }


@clause("WHTTP-7")
def test_every_operation_lists_its_problems_and_asks_who_is_there() -> None:
    async def story(stage: Stage) -> None:
        for name, operation in (await operations(stage.reader)).items():
            is_open = operation["operationId"] in OPEN
            responses = operation["responses"]
            assert isinstance(responses, dict)
            wanted = {"400", "422", "500", "503"} | (set() if is_open else {"401", "403"})
            assert wanted <= responses.keys(), name
            assert ("security" in operation) is not is_open, name

    play(story)


@clause("WHTTP-8")
def test_every_operation_refuses_a_parameter_that_it_does_not_know() -> None:
    async def story(stage: Stage) -> None:
        for name in await operations(stage.reader):
            method, path = name.replace("{name}", "orders").split()
            answer = await stage.admin.request(method, f"{path}?unheard=of")
            assert answer.status_code == 422, name
            if method != "HEAD":
                assert answer.json()["errors"][0]["field"] == "unheard"

    play(story)


@clause("WHTTP-8")
def test_a_parameter_that_is_misspelt_is_refused_with_the_known_ones() -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.reader.get("/workflows/orders/runs?limt=5")
        assert answer.json()["errors"] == [
            {"field": "limt", "reason": "is not a known parameter", "got": "'5'",
             "hint": "did you mean limit? the parameters are limit, after"}
        ]  # fmt: skip

    play(story)


@clause("WHTTP-7")
def test_every_operation_stands_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "workflow-http.md").read_text(encoding="utf-8")

    async def story(stage: Stage) -> list[str]:
        return list(await operations(stage.reader))

    assert [one for one in play(story) if f"`{one}`" not in page] == []


@clause("WHTTP-7", "WHTTP-4")
def test_a_host_without_its_store_is_not_ready_and_says_when_to_ask_again() -> None:
    async def story(stage: Stage) -> None:
        assert (await stage.stranger.get("/readyz")).json() == {"status": "ready"}
        lost.append(True)
        for client, path in ((stage.stranger, "/readyz"), (stage.reader, "/workflows")):
            answer = await client.get(path)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
            assert "db-7" not in answer.text
        assert (await stage.stranger.get("/healthz")).status_code == 200

    lost: list[bool] = []
    play(story, around=lambda log: cast("WorkflowLog", Losing(log, lost)))


class Losing:
    """A log that cannot be reached once it is said to be lost."""

    def __init__(self, log: WorkflowLog, lost: list[bool]) -> None:
        self._log = log
        self._lost = lost

    def __getattr__(self, name: str) -> object:
        if self._lost:
            raise StoreError("is gone", where="db-7.internal", transient=True)
        found: object = getattr(self._log, name)
        return found
