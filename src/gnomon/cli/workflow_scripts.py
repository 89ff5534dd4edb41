"""
The commands about the scripts of workflows: deploy, versions, rollback, remove, test.

`gnomon workflow test FILE` says what a script would do, without calling its tools.

Spec: WCLI-2 to WCLI-4, WCLI-8, WASK-9, WASK-10, SEEN-12.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon.cli.click_parts import PATH, CliCommand, argument
from gnomon.cli.options import clock_of, json_option, read_count, read_file
from gnomon.cli.problem import printable
from gnomon.cli.screen import printed, say
from gnomon.cli.workflow_commands import (
    ROWS_MAX,
    after_option,
    count_option,
    name_argument,
    said_text,
    store_option,
    with_commands,
)
from gnomon.errors import DefinitionError

if TYPE_CHECKING:
    from gnomon.apps.workflow.trial import Trial, Tried
    from gnomon.ports.workflow_facts import Publication

__all__ = [
    "deploy_command",
    "remove_command",
    "rollback_command",
    "trial_command",
    "versions_command",
]

SHOWN_MAX = 300


@click.command("test", cls=CliCommand)
@argument("file", type=PATH, metavar="FILE", help="A script.")
@click.option(
    "--event", "events", multiple=True, metavar="TOPIC/ID[=JSON]", help="Something that comes in."
)
@click.option(
    "--result", "results", multiple=True, metavar="TOOL=JSON", help="What a tool is taken to give."
)
@click.option("--producers/--no-producers", default=True, help="Whether producers are called.")
@json_option
@click.pass_context
def trial_command(
    context: click.Context, file: Path, events: tuple[str, ...], results: tuple[str, ...],
    producers: bool, as_json: bool,
) -> int:  # fmt: skip
    """Say what a script would do with some events; its tools are not called."""
    from asyncio import run

    from gnomon.apps.workflow.script import load_workflow
    from gnomon.apps.workflow.trial import try_out
    from gnomon.shell.store.database import MEMORY
    from gnomon.shell.store.workflow_opening import open_log

    text = read_file(str(file)).read_text(encoding="utf-8")
    given = [_event(one) for one in events]
    said = dict(_result(one) for one in results)
    workflow = load_workflow(text, where=str(file), folder=file.parent)

    async def whole() -> "Trial":
        log = await open_log(MEMORY, threaded=False)
        try:
            return await try_out(
                workflow, text, given, said, log=log, clock=clock_of(context), producers=producers
            )
        finally:
            await log.close()

    found = run(whole())
    say(_json(found) if as_json else _text(found), nl=False)
    return 1 if found.stopped else 0


def _event(text: str) -> "Publication":
    from gnomon.ports.workflow_facts import Publication

    place, _, payload = text.partition("=")
    topic, slash, id = place.partition("/")
    if not slash:
        raise DefinitionError(
            "must be a topic and an id", where="event", got=text,
            hint="""write e.g. --event 'orders/17={"item": 5}'""",
        )  # fmt: skip
    return Publication(topic, id, json.dumps(_value(payload or "null", where="event")))


def _result(text: str) -> tuple[str, object]:
    tool, sign, value = text.partition("=")
    if not sign:
        raise DefinitionError(
            "must be a tool and what it gives", where="result", got=text,
            hint="""write e.g. --result 'append={"row": 5}'""",
        )  # fmt: skip
    return tool, _value(value, where="result")


def _value(text: str, *, where: str) -> object:
    try:
        found: object = json.loads(text)
    except ValueError:
        raise DefinitionError(
            "must be JSON", where=where, got=text, hint="""write e.g. '{"n": 5}'"""
        ) from None
    return found


def _json(found: "Trial") -> str:
    from gnomon.apps.workflow.records import run_record

    runs = []
    for one in found.runs:
        known = {} if one.would_call is None else {one.would_call.run: one.would_call}
        published = [{"topic": topic, "id": id} for topic, id in one.publishes]
        runs.append(run_record(one.run, known) | {"publishes": published})
    whole = {
        "workflow": found.workflow.name, "runs": runs, "left": found.left,
        "stopped": found.stopped,
    }  # fmt: skip
    return json.dumps(whole, indent=2) + "\n"


def _text(found: "Trial") -> str:
    made = found.workflow
    lines = [
        f"{made.name}: {len(made.producers)} producers, {len(made.consumers)} consumers, "
        f"{len(made.tools)} tools; no tool was called"
    ]
    for one in found.runs:
        lines.append(f"  {one.run.number:>3}  {one.run.handler:<16} {'; '.join(_did(one))}")
        if one.run.error:
            lines += [f"       {line}" for line in one.run.traceback.splitlines()]
    if found.left:
        left = ", ".join(f"{size} in {topic}" for topic, size in found.left.items())
        lines.append(f"left pending: {left}")
    return "".join(f"{printable(line)}\n" for line in lines)


def _did(one: "Tried") -> list[str]:
    call = one.would_call
    said = [
        f"takes {_names(one.takes)}" if one.takes else "",
        f"would call {call.tool} with {_cut(call.params)}"
        + (f" ({call.title})" if call.title else "") if call else "",
        f"publishes {_names(one.publishes)}" if one.publishes else "",
        f"note: {one.run.note}" if one.run.note and not call else "",
        _failure(one) if one.run.error else "",
    ]  # fmt: skip
    return [part for part in said if part] or ["does nothing"]


def _failure(one: "Tried") -> str:
    return f"{one.run.status.value} in {one.run.phase.value}: {one.run.error}"


def _names(events: list[tuple[str, str]]) -> str:
    return _cut(", ".join(f"{topic}/{id}" for topic, id in events))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_MAX else f"{text[: SHOWN_MAX - 1]}…"


@click.command("deploy", cls=CliCommand)
@argument("file", type=PATH, metavar="FILE", help="A script.")
@store_option
@json_option
@click.pass_context
def deploy_command(context: click.Context, file: Path, store: str, as_json: bool) -> str:
    """Put a script in force; a host that serves the store goes on with it."""
    from gnomon.apps.workflow.script import load_workflow

    text = read_file(str(file)).read_text(encoding="utf-8")
    workflow = load_workflow(text, where=str(file), folder=file.parent)
    version = with_commands(
        context, store, lambda commands: commands.deploy(workflow, text=text), makes=True
    )
    if as_json:
        return json.dumps({"workflow": workflow.name, "version": version}) + "\n"
    return f"{workflow.name}: version {version} is in force\n"


@click.command("versions", cls=CliCommand)
@name_argument
@store_option
@click.option(
    "--show", type=click.IntRange(1, 2**62), metavar="N", help="Print the text of version N."
)
@count_option
@after_option
@json_option
@click.pass_context
def versions_command(
    context: click.Context, name: str, store: str, show: int | None, count: str, after: int | None,
    as_json: bool,
) -> str:  # fmt: skip
    """List the versions of a script that are kept, newest first, or print one."""
    from gnomon.cli.workflow_view import versions_text

    if show is not None:
        script = with_commands(
            context, store, lambda commands: commands.queries.script(name, show), to_look=True
        )
        if as_json:
            return json.dumps({"workflow": name, "version": show, "text": script.text}) + "\n"
        return printed(script.text if script.text.endswith("\n") else script.text + "\n")
    limit = read_count(count, most=ROWS_MAX)
    found = with_commands(
        context, store, lambda commands: commands.queries.versions(name, limit=limit, after=after),
        to_look=True,
    )  # fmt: skip
    return versions_text(name, found, as_json=as_json)


@click.command("rollback", cls=CliCommand)
@name_argument
@argument(
    "version", type=click.IntRange(1, 2**62), required=False, metavar="[VERSION]",
    help="The one before, if left out.",
)  # fmt: skip
@store_option
@json_option
@click.pass_context
def rollback_command(
    context: click.Context, name: str, version: int | None, store: str, as_json: bool
) -> str:
    """Put an older version in force again, as a new version with its text."""
    wanted, number = with_commands(
        context, store, lambda commands: commands.rollback(name, version)
    )
    if as_json:
        return json.dumps({"workflow": name, "version": number, "rolledBackTo": wanted}) + "\n"
    return f"{name}: version {number} is in force, with the text of version {wanted}\n"


@click.command("remove", cls=CliCommand)
@name_argument
@store_option
@click.option("--discard", is_flag=True, help="Drop a run that is not over and events that wait.")
@json_option
@click.pass_context
def remove_command(
    context: click.Context, name: str, store: str, discard: bool, as_json: bool
) -> str:
    """Remove a workflow that is paused, with its runs, events and versions."""
    with_commands(context, store, lambda commands: commands.remove(name, discard=discard))
    return said_text(name, "remove", "removed", as_json=as_json)
