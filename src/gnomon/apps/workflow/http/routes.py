"""
What is known of workflows, and their commands, as on the command line.

The state of a workflow is for its owner, its runs and events are for operators; the answers are the
JSON that the command line prints. To deploy is to have one's own code run by the host, so it takes
the scope `admin`; every other command takes `write`. Workflows belong to no user: scopes alone
decide.

Spec: WHTTP-2, WHTTP-3, WHTTP-5, WHTTP-9 to WHTTP-11.
"""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import JSONResponse, Response

from gnomon.apps.workflow.definition import NAME_PATTERN
from gnomon.apps.workflow.host import Host
from gnomon.apps.workflow.http.metrics import workflow_families
from gnomon.apps.workflow.http.views import (
    AnswerForm,
    Deployed,
    DeployForm,
    Done,
    EventsView,
    EventView,
    InputsView,
    InputView,
    Published,
    PublishForm,
    RemoveForm,
    ResolveForm,
    RollbackForm,
    RunsView,
    RunView,
    SkipForm,
    VersionsView,
    VersionView,
    WorkflowsView,
    WorkflowView,
)
from gnomon.apps.workflow.mutation_changes import Resolution
from gnomon.apps.workflow.records import (
    event_record,
    input_record,
    overview_record,
    run_record,
    version_record,
)
from gnomon.apps.workflow.script import load_workflow
from gnomon.ports import Clock
from gnomon.ports.workflow_facts import EventStatus
from gnomon.shell.http.app import HttpCounts
from gnomon.shell.http.authentication import Administrator, Reader, Writer, scraper
from gnomon.shell.http.openapi import problems
from gnomon.shell.observe.prometheus import CONTENT_TYPE, page_text

__all__ = ["commands", "queries"]

queries = APIRouter(tags=["workflows"])
commands = APIRouter(tags=["commands"])


def _host_of(request: Request) -> Host:
    """The host that this request came to."""
    found: Host = request.app.state.host
    return found


HostOf = Annotated[Host, Depends(_host_of)]
NamePath = Annotated[
    str,
    Path(description="The name of a workflow.", json_schema_extra={"pattern": f"^{NAME_PATTERN}$"}),
]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many, newest first.")]
After = Annotated[int | None, Query(ge=1, le=2**62, description="`next` of the former page.")]


@queries.get("/workflows", responses=problems())
async def list_workflows(actor: Reader, host: HostOf) -> WorkflowsView:
    """Every workflow: whether it runs, rests, needs attention or is stopped."""
    found = await host.queries.overviews()
    return WorkflowsView(
        workflows=[WorkflowView.model_validate(overview_record(one)) for one in found]
    )


@queries.get("/workflows/{name}", responses=problems(404))
async def get_workflow(name: NamePath, actor: Reader, host: HostOf) -> WorkflowView:
    """One workflow: what it waits for, when it looks again, and what it did lately."""
    return WorkflowView.model_validate(overview_record(await host.queries.overview(name)))


@queries.get("/workflows/{name}/runs", responses=problems(404))
async def list_runs(
    name: NamePath, actor: Reader, host: HostOf, limit: Limit = 100, after: After = None
) -> RunsView:
    """The attempts of a workflow."""
    found = await host.queries.runs(name, limit=limit, after=after)
    runs = [RunView.model_validate(run_record(one, found.mutations)) for one in found.rows]
    return RunsView(workflow=name, runs=runs, next=found.next)


@queries.get("/workflows/{name}/versions", responses=problems(404))
async def list_versions(
    name: NamePath, actor: Reader, host: HostOf, limit: Limit = 100, after: After = None
) -> VersionsView:
    """The versions of its script that are kept."""
    found = await host.queries.versions(name, limit=limit, after=after)
    rows = [version_record(one, in_force=found.in_force) for one in found.rows]
    versions = [VersionView.model_validate(one) for one in rows]
    return VersionsView(workflow=name, versions=versions, next=found.next)


@queries.get("/workflows/{name}/events", responses=problems(404))
async def list_events(
    name: NamePath, actor: Reader, host: HostOf, limit: Limit = 100, after: After = None,
    topic: Annotated[str | None, Query(max_length=100, description="Only of this topic.")] = None,
    status: EventStatus | None = None,
) -> EventsView:  # fmt: skip
    """The events of a workflow."""
    found = await host.queries.events(name, limit=limit, topic=topic, status=status, after=after)
    events = [EventView.model_validate(event_record(one)) for one in found.rows]
    return EventsView(workflow=name, events=events, next=found.next)


@queries.get("/workflows/{name}/inputs", responses=problems(404))
async def list_inputs(
    name: NamePath, actor: Reader, host: HostOf, limit: Limit = 100
) -> InputsView:
    """What came in from outside."""
    found = await host.queries.inputs(name, limit=limit)
    return InputsView(
        workflow=name, inputs=[InputView.model_validate(input_record(one)) for one in found]
    )


@queries.get(
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


@queries.get("/openapi.json", responses=problems(), response_class=JSONResponse)
async def openapi_document(request: Request, actor: Reader) -> dict[str, object]:
    """This document."""
    found: dict[str, object] = request.app.openapi()
    return found


@commands.post("/workflows/deploy", responses=problems(409))
async def deploy_script(form: DeployForm, actor: Administrator, host: HostOf) -> Deployed:
    """Put a script in force, which is run by this host from now on."""
    workflow = await asyncio.to_thread(load_workflow, form.text, where="text")
    version = await host.deploy(workflow, text=form.text)
    return Deployed(workflow=workflow.name, version=version)


@commands.post("/workflows/{name}/rollback", responses=problems(404, 409))
async def roll_back(
    name: NamePath, actor: Administrator, host: HostOf, form: RollbackForm | None = None
) -> Deployed:
    """Put an older version in force again."""
    _, version = await host.commands.rollback(name, form.version if form else None)
    return Deployed(workflow=name, version=version)


@commands.post("/workflows/{name}/remove", responses=problems(404, 409))
async def remove_workflow(
    name: NamePath, actor: Administrator, host: HostOf, form: RemoveForm | None = None
) -> Done:
    """Remove a workflow that is stopped, with all that is known of it."""
    await host.commands.remove(name, discard=form is not None and form.discard)
    return Done(workflow=name, command="remove", result="removed")


@commands.post("/workflows/{name}/publish", responses=problems(404))
async def publish_event(
    name: NamePath, form: PublishForm, actor: Writer, host: HostOf
) -> Published:
    """Publish an event; one that is there already gets the payload and keeps its status."""
    changed = await host.commands.publish(name, form.topic, form.id, form.payload)
    return Published(workflow=name, topic=form.topic, id=form.id, changed=changed)


@commands.post("/workflows/{name}/run-now", responses=problems(404, 409))
async def run_now(name: NamePath, actor: Writer, host: HostOf) -> Done:
    """Let every producer run as soon as possible."""
    await host.commands.run_now(name)
    return Done(workflow=name, command="run-now", result="its producers run")


@commands.post("/workflows/{name}/pause", responses=problems(404))
async def pause_workflow(name: NamePath, actor: Writer, host: HostOf) -> Done:
    """Start nothing any more; a run at work comes to its end."""
    await host.commands.pause(name)
    return Done(workflow=name, command="pause", result="stopped")


@commands.post("/workflows/{name}/resume", responses=problems(404, 409))
async def resume_workflow(name: NamePath, actor: Writer, host: HostOf) -> Done:
    """Go on, and try again at once what has failed."""
    said = await host.commands.resume(name)
    return Done(workflow=name, command="resume", result=said)


@commands.post("/workflows/{name}/approve", responses=problems(404, 409))
async def approve_run(
    name: NamePath, actor: Writer, host: HostOf, form: AnswerForm | None = None
) -> Done:
    """Grant what a run waits for; with a key, only that mutation."""
    await host.commands.approve(name, key=form.key if form else "")
    return Done(workflow=name, command="approve", result="granted")


@commands.post("/workflows/{name}/reject", responses=problems(404, 409))
async def reject_run(
    name: NamePath, actor: Writer, host: HostOf, form: AnswerForm | None = None
) -> Done:
    """Refuse what a run waits for; its events are skipped."""
    await host.commands.reject(name, key=form.key if form else "")
    return Done(workflow=name, command="reject", result="refused")


@commands.post("/workflows/{name}/resolve", responses=problems(404, 409))
async def resolve_mutation(name: NamePath, form: ResolveForm, actor: Writer, host: HostOf) -> Done:
    """Say what became of a mutation whose end the host does not know."""
    await host.commands.resolve(name, Resolution(form.answer))
    return Done(workflow=name, command="resolve", result=form.answer)


@commands.post("/workflows/{name}/skip-input", responses=problems(404))
async def skip_input(name: NamePath, form: SkipForm, actor: Writer, host: HostOf) -> Done:
    """Do nothing more about something that came in."""
    await host.commands.skip_input(name, form.input)
    return Done(workflow=name, command="skip-input", result=f"{form.input} is skipped")
