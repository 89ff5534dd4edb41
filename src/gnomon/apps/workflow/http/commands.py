"""
Commands to workflows, as they are given on the command line.

To deploy is to have one's own code run by the host, so it takes the scope `admin`; every other
command takes `write`. Workflows belong to no user: scopes alone decide.

Spec: WHTTP-11, WHTTP-3, WHTTP-5.
"""

import asyncio

from fastapi import APIRouter

from gnomon.apps.workflow.http.looking import HostOf, NamePath
from gnomon.apps.workflow.http.views import (
    AnswerForm,
    Deployed,
    DeployForm,
    Done,
    Published,
    PublishForm,
    RemoveForm,
    ResolveForm,
    RollbackForm,
    SkipForm,
)
from gnomon.apps.workflow.mutation_changes import Resolution
from gnomon.apps.workflow.script import load_workflow
from gnomon.shell.http.authentication import Administrator, Writer
from gnomon.shell.http.openapi import problems

__all__ = ["router"]

router = APIRouter(tags=["commands"])


@router.post("/workflows/deploy", responses=problems(409))
async def deploy_script(form: DeployForm, actor: Administrator, host: HostOf) -> Deployed:
    """Put a script in force, which is run by this host from now on."""
    workflow = await asyncio.to_thread(load_workflow, form.text, where="text")
    version = await host.deploy(workflow, text=form.text)
    return Deployed(workflow=workflow.name, version=version)


@router.post("/workflows/{name}/rollback", responses=problems(404, 409))
async def roll_back(
    name: NamePath, actor: Administrator, host: HostOf, form: RollbackForm | None = None
) -> Deployed:
    """Put an older version in force again."""
    _, version = await host.commands.rollback(name, form.version if form else None)
    return Deployed(workflow=name, version=version)


@router.post("/workflows/{name}/remove", responses=problems(404, 409))
async def remove_workflow(
    name: NamePath, actor: Administrator, host: HostOf, form: RemoveForm | None = None
) -> Done:
    """Remove a workflow that is stopped, with all that is known of it."""
    await host.commands.remove(name, discard=form is not None and form.discard)
    return Done(workflow=name, command="remove", result="removed")


@router.post("/workflows/{name}/publish", responses=problems(404))
async def publish_event(
    name: NamePath, form: PublishForm, actor: Writer, host: HostOf
) -> Published:
    """Publish an event; one that is there already gets the payload and keeps its status."""
    changed = await host.commands.publish(name, form.topic, form.id, form.payload)
    return Published(workflow=name, topic=form.topic, id=form.id, changed=changed)


@router.post("/workflows/{name}/run-now", responses=problems(404, 409))
async def run_now(name: NamePath, actor: Writer, host: HostOf) -> Done:
    """Let every producer run as soon as possible."""
    await host.commands.run_now(name)
    return Done(workflow=name, command="run-now", result="its producers run")


@router.post("/workflows/{name}/pause", responses=problems(404))
async def pause_workflow(name: NamePath, actor: Writer, host: HostOf) -> Done:
    """Start nothing any more; a run at work comes to its end."""
    await host.commands.pause(name)
    return Done(workflow=name, command="pause", result="stopped")


@router.post("/workflows/{name}/resume", responses=problems(404, 409))
async def resume_workflow(name: NamePath, actor: Writer, host: HostOf) -> Done:
    """Go on, and try again at once what has failed."""
    said = await host.commands.resume(name)
    return Done(workflow=name, command="resume", result=said)


@router.post("/workflows/{name}/approve", responses=problems(404, 409))
async def approve_run(
    name: NamePath, actor: Writer, host: HostOf, form: AnswerForm | None = None
) -> Done:
    """Grant what a run waits for; with a key, only that mutation."""
    await host.commands.approve(name, key=form.key if form else "")
    return Done(workflow=name, command="approve", result="granted")


@router.post("/workflows/{name}/reject", responses=problems(404, 409))
async def reject_run(
    name: NamePath, actor: Writer, host: HostOf, form: AnswerForm | None = None
) -> Done:
    """Refuse what a run waits for; its events are skipped."""
    await host.commands.reject(name, key=form.key if form else "")
    return Done(workflow=name, command="reject", result="refused")


@router.post("/workflows/{name}/resolve", responses=problems(404, 409))
async def resolve_mutation(name: NamePath, form: ResolveForm, actor: Writer, host: HostOf) -> Done:
    """Say what became of a mutation whose end the host does not know."""
    await host.commands.resolve(name, Resolution(form.answer))
    return Done(workflow=name, command="resolve", result=form.answer)


@router.post("/workflows/{name}/skip-input", responses=problems(404))
async def skip_input(name: NamePath, form: SkipForm, actor: Writer, host: HostOf) -> Done:
    """Do nothing more about something that came in."""
    await host.commands.skip_input(name, form.input)
    return Done(workflow=name, command="skip-input", result=f"{form.input} is skipped")
