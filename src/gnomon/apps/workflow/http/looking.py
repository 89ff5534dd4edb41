"""
What is known of workflows: their state for owners, their runs and events for operators.

The answers are the JSON that the command line prints.

Spec: WHTTP-2, WHTTP-9, WHTTP-10.
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import JSONResponse, Response

from gnomon.apps.workflow.definition import NAME_PATTERN
from gnomon.apps.workflow.host import Host
from gnomon.apps.workflow.http.metrics import workflow_families
from gnomon.apps.workflow.http.views import (
    EventsView,
    EventView,
    InputsView,
    InputView,
    RunsView,
    RunView,
    VersionsView,
    VersionView,
    WorkflowsView,
    WorkflowView,
)
from gnomon.apps.workflow.records import (
    event_record,
    input_record,
    overview_record,
    run_record,
    version_record,
)
from gnomon.ports import Clock
from gnomon.ports.workflow_facts import EventStatus
from gnomon.shell.http.app import HttpCounts
from gnomon.shell.http.authentication import Reader, scraper
from gnomon.shell.http.openapi import problems
from gnomon.shell.observe.prometheus import CONTENT_TYPE, page_text

__all__ = ["HostOf", "NamePath", "host_of", "router"]

router = APIRouter(tags=["workflows"])


def host_of(request: Request) -> Host:
    """The host that this request came to."""
    found: Host = request.app.state.host
    return found


HostOf = Annotated[Host, Depends(host_of)]
NamePath = Annotated[
    str,
    Path(description="The name of a workflow.", json_schema_extra={"pattern": f"^{NAME_PATTERN}$"}),
]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many, newest first.")]
After = Annotated[int | None, Query(ge=1, le=2**62, description="`next` of the former page.")]


@router.get("/workflows", responses=problems())
async def list_workflows(actor: Reader, host: HostOf) -> WorkflowsView:
    """Every workflow: whether it runs, rests, needs attention or is stopped."""
    found = await host.queries.overviews()
    return WorkflowsView(
        workflows=[WorkflowView.model_validate(overview_record(one)) for one in found]
    )


@router.get("/workflows/{name}", responses=problems(404))
async def get_workflow(name: NamePath, actor: Reader, host: HostOf) -> WorkflowView:
    """One workflow: what it waits for, when it looks again, and what it did lately."""
    return WorkflowView.model_validate(overview_record(await host.queries.overview(name)))


@router.get("/workflows/{name}/runs", responses=problems(404))
async def list_runs(
    name: NamePath, actor: Reader, host: HostOf, limit: Limit = 100, after: After = None
) -> RunsView:
    """The attempts of a workflow."""
    found = await host.queries.runs(name, limit=limit, after=after)
    runs = [RunView.model_validate(run_record(one, found.mutations)) for one in found.rows]
    return RunsView(workflow=name, runs=runs, next=found.next)


@router.get("/workflows/{name}/versions", responses=problems(404))
async def list_versions(
    name: NamePath, actor: Reader, host: HostOf, limit: Limit = 100, after: After = None
) -> VersionsView:
    """The versions of its script that are kept."""
    found = await host.queries.versions(name, limit=limit, after=after)
    rows = [version_record(one, in_force=found.in_force) for one in found.rows]
    versions = [VersionView.model_validate(one) for one in rows]
    return VersionsView(workflow=name, versions=versions, next=found.next)


@router.get("/workflows/{name}/events", responses=problems(404))
async def list_events(
    name: NamePath, actor: Reader, host: HostOf, limit: Limit = 100, after: After = None,
    topic: Annotated[str | None, Query(max_length=100, description="Only of this topic.")] = None,
    status: EventStatus | None = None,
) -> EventsView:  # fmt: skip
    """The events of a workflow."""
    found = await host.queries.events(name, limit=limit, topic=topic, status=status, after=after)
    events = [EventView.model_validate(event_record(one)) for one in found.rows]
    return EventsView(workflow=name, events=events, next=found.next)


@router.get("/workflows/{name}/inputs", responses=problems(404))
async def list_inputs(
    name: NamePath, actor: Reader, host: HostOf, limit: Limit = 100
) -> InputsView:
    """What came in from outside."""
    found = await host.queries.inputs(name, limit=limit)
    return InputsView(
        workflow=name, inputs=[InputView.model_validate(input_record(one)) for one in found]
    )


@router.get(
    "/metrics",
    response_class=Response,
    responses={**problems(), 200: {"description": "Metrics.", "content": {"text/plain": {}}}},
)
async def read_metrics(
    request: Request, host: HostOf, scraped: Annotated[None, Depends(scraper)]
) -> Response:
    """How the workflows are doing, for Prometheus."""
    clock: Clock = request.app.state.clock
    answers: HttpCounts = request.app.state.answers
    found = await host.queries.stats(now_ms=clock.now_ms())
    text = page_text([*workflow_families(found, host), *answers.families()])
    return Response(text, media_type=CONTENT_TYPE)


@router.get("/openapi.json", responses=problems(), response_class=JSONResponse)
async def openapi_document(request: Request, actor: Reader) -> dict[str, object]:
    """This document."""
    found: dict[str, object] = request.app.openapi()
    return found
