"""
The commands about workflows: run, status, run-now, pause, resume, approve, resolve, ...

Each command but `run` opens the store beside its host, writes, and rings, so that the host sees it
at once. `run` deploys the files it is given, and serves every workflow of the store.

Spec: WCLI-1 to WCLI-5.
"""

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from gnomon.cli.click_parts import PATH, CliGroup, argument
from gnomon.cli.options import (
    clock_of,
    json_option,
    read_count,
    read_keep_ms,
    read_length_ms,
)
from gnomon.cli.screen import say
from gnomon.errors import DefinitionError

if TYPE_CHECKING:
    from gnomon.apps.workflow.commands import WorkflowCommands

__all__ = [
    "ROWS_MAX",
    "STORE",
    "after_option",
    "count_option",
    "name_argument",
    "said_text",
    "store_option",
    "with_commands",
    "workflow_app",
]

KEEP_MIN_MS = 86_400_000
STORE = "workflows.sqlite3"
ROWS_MAX = 10_000
THREADS_MAX = 10_000
_T = TypeVar("_T")

workflow_app = CliGroup("workflow", help="Automations that act on what is new, and never twice.")
workflow_app.later = {
    "deploy": "gnomon.cli.workflow_scripts:deploy_command",
    "versions": "gnomon.cli.workflow_scripts:versions_command",
    "rollback": "gnomon.cli.workflow_scripts:rollback_command",
    "remove": "gnomon.cli.workflow_scripts:remove_command",
    "test": "gnomon.cli.workflow_scripts:trial_command",
}

name_argument = argument("name", metavar="NAME", help="A workflow.")
store_option = click.option(
    "--store", default=STORE, metavar="STORE", help="A file, or the URL of a PostgreSQL database."
)
count_option = click.option(
    "--count", default="20", metavar="N", help=f"How many rows, 1 to {ROWS_MAX}."
)
after_option = click.option(
    "--after", type=click.IntRange(1, 2**62), metavar="N", help="Those that follow number N."
)


@workflow_app.command("run")
@argument(
    "files",
    nargs=-1,
    type=PATH,
    required=False,
    metavar="[FILE]...",
    help="Scripts to deploy first.",
)
@store_option
@click.option(
    "--keep", default="2160h", metavar="DURATION",
    help="How long to keep what is over; forever to keep everything.",
)  # fmt: skip
@click.option(
    "--threads", default="64", metavar="N",
    help=f"How many functions can block at once, 1 to {THREADS_MAX}.",
)  # fmt: skip
@click.option(
    "--repairer", default="", show_default=False, metavar="COMMAND",
    help="Asked for a better script.",
)  # fmt: skip
@click.option("--repair-within", default="5m", metavar="DURATION", help="How long that may take.")
@click.option(
    "--alert", default="", show_default=False, metavar="COMMAND",
    help="Told of runs that wait for a person.",
)  # fmt: skip
@click.option("--http", metavar="ADDRESS", help="Serve commands too, e.g. 127.0.0.1:8081.")
@click.option("--access", type=PATH, metavar="PATH", help="Who may ask over HTTP.")
@click.pass_context
def run_command(
    context: click.Context, files: tuple[Path, ...], store: str, keep: str, threads: str,
    repairer: str, repair_within: str, alert: str, http: str | None, access: Path | None,
) -> int:  # fmt: skip
    """Serve every workflow of a store until stopped; deploy these scripts first."""
    from gnomon.compose.workflow import run_workflows

    return run_workflows(
        files,
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


@workflow_app.command("status")
@argument("name", required=False, metavar="[NAME]", help="One workflow.")
@store_option
@json_option
@click.pass_context
def status_command(context: click.Context, name: str | None, store: str, as_json: bool) -> str:
    """Say whether workflows run, rest, need attention or are stopped, and what they did."""
    from gnomon.apps.workflow.overview import Overview
    from gnomon.cli.workflow_view import overviews_text

    async def look(commands: "WorkflowCommands") -> list[Overview]:
        queries = commands.queries
        return [await queries.overview(name)] if name else await queries.overviews()

    found = with_commands(context, store, look, to_look=True)
    now_ms = clock_of(context).now_ms()
    return overviews_text(found, now_ms=now_ms, as_json=as_json, in_full=bool(name))


@workflow_app.command("runs")
@name_argument
@store_option
@count_option
@after_option
@json_option
@click.pass_context
def runs_command(
    context: click.Context, name: str, store: str, count: str, after: int | None, as_json: bool
) -> str:
    """List the attempts of a workflow, newest first, for operators."""
    from gnomon.cli.workflow_view import runs_text

    limit = read_count(count, most=ROWS_MAX)
    found = with_commands(
        context,
        store,
        lambda commands: commands.queries.runs(name, limit=limit, after=after),
        to_look=True,
    )
    return runs_text(name, found, as_json=as_json)


@workflow_app.command("events")
@name_argument
@store_option
@click.option("--topic", help="Only of this topic.")
@click.option("--status", help="pending, reserved, consumed or skipped.")
@count_option
@after_option
@json_option
@click.pass_context
def events_command(
    context: click.Context, name: str, store: str, topic: str | None, status: str | None,
    count: str, after: int | None, as_json: bool,
) -> str:  # fmt: skip
    """List the events of a workflow, newest first."""
    from gnomon.cli.workflow_view import events_text
    from gnomon.ports.workflow_facts import EventStatus

    limit = read_count(count, most=ROWS_MAX)
    wanted = None if status is None else _one_of(status, list(EventStatus), where="status")
    found = with_commands(
        context,
        store,
        lambda commands: commands.queries.events(
            name, limit=limit, topic=topic, status=wanted, after=after
        ),
        to_look=True,
    )
    return events_text(name, found, as_json=as_json)


@workflow_app.command("inputs")
@name_argument
@store_option
@count_option
@json_option
@click.pass_context
def inputs_command(context: click.Context, name: str, store: str, count: str, as_json: bool) -> str:
    """List what came in from outside, newest first."""
    from gnomon.cli.workflow_view import inputs_text

    limit = read_count(count, most=ROWS_MAX)
    found = with_commands(
        context, store, lambda commands: commands.queries.inputs(name, limit=limit), to_look=True
    )
    return inputs_text(name, found, as_json=as_json)


@workflow_app.command("publish")
@name_argument
@argument("topic", metavar="TOPIC", help="What it is about.")
@argument("id", metavar="ID", help="Its name; the same id again publishes nothing.")
@argument("payload", required=False, metavar="[JSON]", help="What it says; left out, null.")
@store_option
@json_option
@click.pass_context
def publish_command(
    context: click.Context, name: str, topic: str, id: str, payload: str | None, store: str,
    as_json: bool,
) -> str:  # fmt: skip
    """Publish an event from outside."""
    try:
        value = json.loads(payload or "null")
    except ValueError:
        raise DefinitionError(
            "must be JSON", where="payload", got=payload, hint="""write e.g. '{"n": 5}'"""
        ) from None
    changed = with_commands(
        context, store, lambda commands: commands.publish(name, topic, id, value)
    )
    if as_json:
        return json.dumps({"workflow": name, "topic": topic, "id": id, "changed": changed}) + "\n"
    return f"{topic}/{id}: {'published' if changed else 'was there already'}\n"


@workflow_app.command("run-now")
@name_argument
@store_option
@json_option
@click.pass_context
def run_now_command(context: click.Context, name: str, store: str, as_json: bool) -> str:
    """Let every producer run as soon as possible."""
    with_commands(context, store, lambda commands: commands.run_now(name))
    return said_text(name, "run-now", "its producers run", as_json=as_json)


@workflow_app.command("pause")
@name_argument
@store_option
@json_option
@click.pass_context
def pause_command(context: click.Context, name: str, store: str, as_json: bool) -> str:
    """Start nothing any more; a run at work comes to its end."""
    with_commands(context, store, lambda commands: commands.pause(name))
    return said_text(name, "pause", "stopped", as_json=as_json)


@workflow_app.command("resume")
@name_argument
@store_option
@json_option
@click.pass_context
def resume_command(context: click.Context, name: str, store: str, as_json: bool) -> str:
    """Go on, and try again at once what has failed."""
    said = with_commands(context, store, lambda commands: commands.resume(name))
    return said_text(name, "resume", said, as_json=as_json)


@workflow_app.command("approve")
@name_argument
@store_option
@click.option("--reject", is_flag=True, help="Refuse it instead.")
@click.option(
    "--key", default="", show_default=False, metavar="KEY",
    help="Only the mutation that has this key.",
)  # fmt: skip
@json_option
@click.pass_context
def approve_command(
    context: click.Context, name: str, store: str, reject: bool, key: str, as_json: bool
) -> str:
    """Grant what a run waits for, or refuse it."""
    if reject:
        with_commands(context, store, lambda commands: commands.reject(name, key=key))
        return said_text(name, "reject", "refused", as_json=as_json)
    with_commands(context, store, lambda commands: commands.approve(name, key=key))
    return said_text(name, "approve", "granted", as_json=as_json)


@workflow_app.command("resolve")
@name_argument
@argument("said", metavar="ANSWER", help="happened, did-not-happen, skip or try-again.")
@store_option
@json_option
@click.pass_context
def resolve_command(context: click.Context, name: str, said: str, store: str, as_json: bool) -> str:
    """Say what became of a mutation whose end the host does not know."""
    from gnomon.apps.workflow.mutation_changes import Resolution

    answer = _one_of(said, list(Resolution), where="answer")
    with_commands(context, store, lambda commands: commands.resolve(name, answer))
    return said_text(name, "resolve", answer.value, as_json=as_json)


@workflow_app.command("skip-input")
@name_argument
@argument("input_id", metavar="INPUT", help="The id of what came in.")
@store_option
@json_option
@click.pass_context
def skip_input_command(
    context: click.Context, name: str, input_id: str, store: str, as_json: bool
) -> str:
    """Do nothing more about something that came in."""
    with_commands(context, store, lambda commands: commands.skip_input(name, input_id))
    return said_text(name, "skip-input", f"{input_id} is skipped", as_json=as_json)


@workflow_app.command("doctor")
@store_option
@json_option
def doctor_command(store: str, as_json: bool) -> int:
    """Examine the workflows of a store: say what is wrong with them and what to do."""
    from gnomon.cli.ledger_view import referred
    from gnomon.cli.workflow_view import doctor_text
    from gnomon.shell.store.workflow_opening import examine_store

    found = examine_store(store)
    found = found._replace(findings=referred(found.findings, Path(store)))
    say(doctor_text(found, as_json=as_json), nl=False)
    return 1 if found.findings else 0


def with_commands(
    context: click.Context, store: str, work: "Callable[[WorkflowCommands], Awaitable[_T]]", *,
    to_look: bool = False, makes: bool = False,
) -> _T:  # fmt: skip
    """Open the store, which only one of the commands makes, do the work, and tell its host."""
    import asyncio

    from gnomon.apps.workflow.commands import WorkflowCommands
    from gnomon.shell.store.workflow_opening import is_shared, open_log, ring_for

    if not makes and not is_shared(store) and not Path(store).exists():
        raise DefinitionError(
            "must be a file of workflows", where="store", got=store,
            hint="gnomon workflow deploy FILE makes one",
        )  # fmt: skip

    async def whole() -> _T:
        log = await open_log(store, threaded=False)
        try:
            return await work(WorkflowCommands(log, clock_of(context), ring=lambda name: None))
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
