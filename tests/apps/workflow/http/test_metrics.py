"""Metrics of workflows, as Prometheus reads them."""

from prometheus_client.parser import text_string_to_metric_families

from gnomon.apps.workflow.definition import Workflow
from gnomon.errors import LogicError
from tests.apps.workflow.http.stage import Stage, play
from tests.clauses import clause
from tests.tidy.tree import ROOT

Samples = dict[str, dict[tuple[str, ...], float]]


async def samples(stage: Stage) -> Samples:
    """Every sample, by its name and the values of its labels."""
    answer = await stage.reader.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found: Samples = {}
    for family in text_string_to_metric_families(answer.text):
        for one in family.samples:
            found.setdefault(one.name, {})[tuple(one.labels.values())] = one.value
    return found


def broken() -> Workflow:
    def prepare(ctx: object, state: object) -> dict[str, object]:
        raise LogicError("no such column")

    made = Workflow("broken")
    made.consumer("sheet", subscribes=["mail"]).prepare(prepare)
    return made


@clause("WHTTP-10")
def test_events_that_wait_are_counted_by_topic_with_the_age_of_the_oldest() -> None:
    async def story(stage: Stage) -> None:
        found = await samples(stage)
        assert found["gnomon_workflow_events_waiting"] == {("orders", "orders"): 0}
        assert found["gnomon_workflow_oldest_event_seconds"] == {("orders", "orders"): 0}

        for name in ("o1", "o2"):
            await stage.host.commands.publish("orders", "orders", name)

        found = await samples(stage)
        assert found["gnomon_workflow_events_waiting"] == {("orders", "orders"): 2}
        assert found["gnomon_workflow_oldest_event_seconds"][("orders", "orders")] >= 0

    play(story)


@clause("WHTTP-10")
def test_workflows_are_counted_by_status_and_open_runs_by_what_they_wait_for() -> None:
    async def story(stage: Stage) -> None:
        await stage.host.commands.pause("orders")
        await stage.host.deploy(broken())
        await stage.host.start()
        await stage.host.commands.publish("broken", "mail", "m1")
        while (await stage.reader.get("/workflows/broken")).json()["status"] != "Needs attention":
            pass

        found = await samples(stage)

        assert found["gnomon_workflows"] == {
            ("running",): 0, ("idle",): 0, ("needs_attention",): 1, ("stopped",): 1,
        }  # fmt: skip
        assert found["gnomon_workflow_open_runs"] == {
            ("active",): 0, ("paused:transient",): 0, ("paused:approval",): 0,
            ("paused:reconciliation",): 0, ("failed:logic",): 1, ("failed:internal",): 0,
        }  # fmt: skip
        assert found["gnomon_workflow_runs_total"] == {("broken",): 1, ("orders",): 0}
        assert found["gnomon_workflow_failures"] == {("broken",): 0, ("orders",): 0}
        assert found["gnomon_workflow_late_seconds"] == {("broken",): 0, ("orders",): 0}
        assert found["gnomon_workflows_held"] == {(): 2}
        await stage.host.stop()

    play(story)


@clause("WHTTP-10")
def test_answers_are_counted_by_route_and_not_by_path() -> None:
    async def story(stage: Stage) -> None:
        for name in ("one", "two"):
            await stage.reader.get(f"/workflows/{name}")

        counted = (await samples(stage))["http_requests_total"]

        assert counted == {("GET", "/workflows/{name}", "404"): 2}

    play(story)


@clause("WHTTP-10", "WHTTP-3")
def test_metrics_take_a_token_unless_they_are_said_to_be_open() -> None:
    async def story(stage: Stage) -> None:
        assert (await stage.stranger.get("/metrics")).status_code == 401
        assert (await stage.unscoped.get("/metrics")).status_code == 403

    async def open_story(stage: Stage) -> None:
        assert (await stage.stranger.get("/metrics")).status_code == 200
        assert (await stage.stranger.get("/workflows")).status_code == 401

    play(story)
    play(open_story, metrics_open=True)


@clause("WHTTP-10")
def test_every_metric_stands_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "workflow-http.md").read_text(encoding="utf-8")

    async def story(stage: Stage) -> list[str]:
        text = (await stage.reader.get("/metrics")).text
        return [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")]

    names = play(story)
    assert "gnomon_workflow_runs_total" in names
    assert [name for name in names if f"`{name}`" not in page] == []
