"""
The commands about workflows: run, deploy, status, run-now, pause, resume, approve, resolve, ...

Each command but `run` opens the store beside its host, writes, and rings, so that the host sees it
at once. `run` deploys the files it is given, and serves every workflow of the store.

Spec: WCLI-1 to WCLI-5.
"""

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from gnomon.cli.options import (
    JsonOption,
    clock_of,
    read_count,
    read_file,
    read_keep_ms,
    read_length_ms,
)
from gnomon.cli.screen import say
from gnomon.errors import DefinitionError

if TYPE_CHECKING:
    from gnomon.apps.workflow.desk import Desk

__all__ = [
    "ROWS_MAX", "STORE", "AfterOption", "CountOption", "NameArgument", "StoreOption", "at_desk",
    "said_text", "workflow_app",
]  # fmt: skip

KEEP_MIN_MS = 86_400_000
ROWS_MAX = 10_000
THREADS_MAX = 10_000
_T = TypeVar("_T")

workflow_app = typer.Typer(
    name="workflow", help="Automations that act on what is new, and never twice.",
    rich_markup_mode=None,
)  # fmt: skip

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="A workflow.", show_default=False)
]
StoreOption = Annotated[
    str,
    typer.Option("--store", metavar="STORE", help="A file, or the URL of a PostgreSQL database."),
]
CountOption = Annotated[
    str, typer.Option("--count", metavar="N", help=f"How many rows, 1 to {ROWS_MAX}.")
]
AfterOption = Annotated[
    int | None,
    typer.Option("--after", metavar="N", min=1, max=2**62, help="Those that follow number N."),
]
STORE = "workflows.sqlite3"


@workflow_app.callback(invoke_without_command=True)
def program(context: typer.Context) -> str | None:
    """Automations that act on what is new, and never twice."""
    return None if context.invoked_subcommand else context.get_help() + "\n"


@workflow_app.command("run")
def run_command(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="Scripts to deploy first.", show_default=False),
    ] = None,
    store: StoreOption = STORE,
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="DURATION",
            help="How long to keep what is over; forever to keep everything.",
        ),
    ] = "2160h",
    threads: Annotated[
        str,
        typer.Option(
            "--threads",
            metavar="N",
            help=f"How many functions can block at once, 1 to {THREADS_MAX}.",
        ),
    ] = "64",
    repairer: Annotated[
        str, typer.Option("--repairer", metavar="COMMAND", help="Asked for a better script.")
    ] = "",
    repair_within: Annotated[
        str, typer.Option("--repair-within", metavar="DURATION", help="How long that may take.")
    ] = "5m",
    alert: Annotated[
        str, typer.Option("--alert", metavar="COMMAND", help="Told of runs that wait for a person.")
    ] = "",
    http: Annotated[
        str | None,
        typer.Option("--http", metavar="ADDRESS", help="Serve commands too, e.g. 127.0.0.1:8081."),
    ] = None,
    access: Annotated[
        Path | None, typer.Option("--access", metavar="PATH", help="Who may ask over HTTP.")
    ] = None,
) -> int:
    """Serve every workflow of a store until stopped; deploy these scripts first."""
    from gnomon.compose.workflow import run_workflows

    return run_workflows(
        files or [],
        store,
        clock_of(context),
        keep=_read_keep(keep),
        http=http,
        access=access,
        threads=read_count(threads, most=THREADS_MAX, where="threads"),
        repairer=repairer,
        repair_ms=_read_within(repair_within),
        alert=alert,
    )


@workflow_app.command("deploy")
def deploy_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A script.", show_default=False)],
    store: StoreOption = STORE,
    as_json: JsonOption = False,
) -> str:
    """Put a script in force; a host that serves the store goes on with it."""
    from gnomon.apps.workflow.script import load_workflow

    text = read_file(str(file)).read_text(encoding="utf-8")
    workflow = load_workflow(text, where=str(file), folder=file.parent)
    version = at_desk(context, store, lambda desk: desk.deploy(workflow, text=text), makes=True)
    if as_json:
        return json.dumps({"workflow": workflow.name, "version": version}) + "\n"
    return f"{workflow.name}: version {version} is in force\n"


@workflow_app.command("status")
def status_command(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One workflow.", show_default=False)
    ] = None,
    store: StoreOption = STORE,
    as_json: JsonOption = False,
) -> str:
    """Say whether workflows run, rest, need attention or are stopped, and what they did."""
    from gnomon.apps.workflow.overview import Overview
    from gnomon.cli.workflow_view import overviews_text

    async def look(desk: "Desk") -> list[Overview]:
        return [await desk.lookup.overview(name)] if name else await desk.lookup.overviews()

    found = at_desk(context, store, look, to_look=True)
    now_ms = clock_of(context).now_ms()
    return overviews_text(found, now_ms=now_ms, as_json=as_json, in_full=bool(name))


@workflow_app.command("runs")
def runs_command(
    context: typer.Context, name: NameArgument, store: StoreOption = STORE,
    count: CountOption = "20", after: AfterOption = None, as_json: JsonOption = False,
) -> str:  # fmt: skip
    """List the attempts of a workflow, newest first, for operators."""
    from gnomon.cli.workflow_view import runs_text

    limit = read_count(count, most=ROWS_MAX)
    found = at_desk(
        context, store, lambda desk: desk.lookup.runs(name, limit=limit, after=after), to_look=True
    )
    return runs_text(name, found, as_json=as_json)


@workflow_app.command("events")
def events_command(
    context: typer.Context, name: NameArgument, store: StoreOption = STORE,
    topic: Annotated[str | None, typer.Option("--topic", help="Only of this topic.")] = None,
    status: Annotated[
        str | None, typer.Option("--status", help="pending, reserved, consumed or skipped.")
    ] = None,
    count: CountOption = "20", after: AfterOption = None, as_json: JsonOption = False,
) -> str:  # fmt: skip
    """List the events of a workflow, newest first."""
    from gnomon.cli.workflow_view import events_text
    from gnomon.ports.workflow_facts import EventStatus

    limit = read_count(count, most=ROWS_MAX)
    wanted = None if status is None else _one_of(status, list(EventStatus), where="status")
    found = at_desk(
        context, store,
        lambda desk: desk.lookup.events(
            name, limit=limit, topic=topic, status=wanted, after=after
        ),
        to_look=True,
    )  # fmt: skip
    return events_text(name, found, as_json=as_json)


@workflow_app.command("inputs")
def inputs_command(
    context: typer.Context, name: NameArgument, store: StoreOption = STORE,
    count: CountOption = "20", as_json: JsonOption = False,
) -> str:  # fmt: skip
    """List what came in from outside, newest first."""
    from gnomon.cli.workflow_view import inputs_text

    limit = read_count(count, most=ROWS_MAX)
    found = at_desk(
        context, store, lambda desk: desk.lookup.inputs(name, limit=limit), to_look=True
    )
    return inputs_text(name, found, as_json=as_json)


@workflow_app.command("publish")
def publish_command(
    context: typer.Context, name: NameArgument,
    topic: Annotated[str, typer.Argument(metavar="TOPIC", show_default=False)],
    id: Annotated[str, typer.Argument(metavar="ID", show_default=False)],
    payload: Annotated[str, typer.Argument(metavar="[JSON]")] = "null",
    store: StoreOption = STORE, as_json: JsonOption = False,
) -> str:  # fmt: skip
    """Publish an event from outside."""
    try:
        value = json.loads(payload)
    except ValueError:
        raise DefinitionError(
            "must be JSON", where="payload", got=payload, hint="""write e.g. '{"n": 5}'"""
        ) from None
    changed = at_desk(context, store, lambda desk: desk.publish(name, topic, id, value))
    if as_json:
        return json.dumps({"workflow": name, "topic": topic, "id": id, "changed": changed}) + "\n"
    return f"{topic}/{id}: {'published' if changed else 'was there already'}\n"


@workflow_app.command("run-now")
def run_now_command(
    context: typer.Context, name: NameArgument, store: StoreOption = STORE,
    as_json: JsonOption = False,
) -> str:  # fmt: skip
    """Let every producer run as soon as possible."""
    at_desk(context, store, lambda desk: desk.run_now(name))
    return said_text(name, "run-now", "its producers run", as_json=as_json)


@workflow_app.command("pause")
def pause_command(
    context: typer.Context, name: NameArgument, store: StoreOption = STORE,
    as_json: JsonOption = False,
) -> str:  # fmt: skip
    """Start nothing any more; a run at work comes to its end."""
    at_desk(context, store, lambda desk: desk.pause(name))
    return said_text(name, "pause", "stopped", as_json=as_json)


@workflow_app.command("resume")
def resume_command(
    context: typer.Context, name: NameArgument, store: StoreOption = STORE,
    as_json: JsonOption = False,
) -> str:  # fmt: skip
    """Go on, and try again at once what has failed."""
    said = at_desk(context, store, lambda desk: desk.resume(name))
    return said_text(name, "resume", said, as_json=as_json)


@workflow_app.command("approve")
def approve_command(
    context: typer.Context, name: NameArgument, store: StoreOption = STORE,
    reject: Annotated[bool, typer.Option("--reject", help="Refuse it instead.")] = False,
    key: Annotated[
        str, typer.Option("--key", metavar="KEY", help="Only the mutation that has this key.")
    ] = "",
    as_json: JsonOption = False,
) -> str:  # fmt: skip
    """Grant what a run waits for, or refuse it."""
    if reject:
        at_desk(context, store, lambda desk: desk.reject(name, key=key))
        return said_text(name, "reject", "refused", as_json=as_json)
    at_desk(context, store, lambda desk: desk.approve(name, key=key))
    return said_text(name, "approve", "granted", as_json=as_json)


@workflow_app.command("resolve")
def resolve_command(
    context: typer.Context, name: NameArgument,
    said: Annotated[
        str,
        typer.Argument(
            metavar="ANSWER", help="happened, did-not-happen, skip or try-again.",
            show_default=False,
        ),
    ],
    store: StoreOption = STORE, as_json: JsonOption = False,
) -> str:  # fmt: skip
    """Say what became of a mutation whose end the host does not know."""
    from gnomon.apps.workflow.reconciling import Resolution

    answer = _one_of(said, list(Resolution), where="answer")
    at_desk(context, store, lambda desk: desk.resolve(name, answer))
    return said_text(name, "resolve", answer.value, as_json=as_json)


@workflow_app.command("skip-input")
def skip_input_command(
    context: typer.Context, name: NameArgument,
    input_id: Annotated[str, typer.Argument(metavar="INPUT", show_default=False)],
    store: StoreOption = STORE, as_json: JsonOption = False,
) -> str:  # fmt: skip
    """Do nothing more about something that came in."""
    at_desk(context, store, lambda desk: desk.skip_input(name, input_id))
    return said_text(name, "skip-input", f"{input_id} is skipped", as_json=as_json)


@workflow_app.command("doctor")
def doctor_command(store: StoreOption = STORE, as_json: JsonOption = False) -> int:
    """Examine the workflows of a store: say what is wrong with them and what to do."""
    from gnomon.cli.other_doctor import referred
    from gnomon.cli.workflow_view import doctor_text
    from gnomon.shell.store.workflow_opening import examine_store

    found = examine_store(store)
    found = found._replace(findings=referred(found.findings, Path(store)))
    say(doctor_text(found, as_json=as_json), nl=False)
    return 1 if found.findings else 0


def at_desk(
    context: typer.Context, store: str, work: "Callable[[Desk], Awaitable[_T]]", *,
    to_look: bool = False, makes: bool = False,
) -> _T:  # fmt: skip
    """Open the store, which only one of the commands makes, do the work, and tell its host."""
    import asyncio

    from gnomon.apps.workflow.desk import Desk
    from gnomon.shell.store.workflow_opening import is_shared, open_log, ring_for

    if not makes and not is_shared(store) and not Path(store).exists():
        raise DefinitionError(
            "must be a file of workflows", where="store", got=store,
            hint="gnomon workflow deploy FILE makes one",
        )  # fmt: skip

    async def whole() -> _T:
        log = await open_log(store, threaded=False)
        try:
            return await work(Desk(log, clock_of(context), ring=lambda name: None))
        finally:
            await log.close()

    found = asyncio.run(whole())
    if not to_look:
        ring_for(store)
    return found


def _read_keep(text: str) -> timedelta | None:
    """How long what is over is kept; None for ever."""
    keep_ms = read_keep_ms(text, least_ms=KEEP_MIN_MS, least="a day")
    return None if keep_ms is None else timedelta(milliseconds=keep_ms)


def _read_within(text: str) -> int:
    """How long a repair may take, in ms."""
    within_ms = read_length_ms(text, where="repair-within")
    if not 1_000 <= within_ms <= KEEP_MIN_MS:
        raise DefinitionError(
            "must be from a second to a day", where="repair-within", got=text, hint="write e.g. 5m"
        )
    return within_ms


def _one_of(text: str, known: list[_T], *, where: str) -> _T:
    for one in known:
        if str(one) == text:
            return one
    raise DefinitionError(
        "must be a known word", where=where, got=text,
        hint=f"write one of {', '.join(str(one) for one in known)}",
    )  # fmt: skip


def said_text(name: str, command: str, text: str, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"workflow": name, "command": command, "result": text}) + "\n"
    return f"{name}: {text}\n"
