"""
The commands about the scripts of workflows: deploy, versions, rollback, remove, test.

Spec: WCLI-2 to WCLI-4, WASK-9, WASK-10, SEEN-12.
"""

import json
from pathlib import Path

import click

from gnomon.cli.command import PATH, Command, argument
from gnomon.cli.options import json_option, read_count, read_file
from gnomon.cli.screen import printed
from gnomon.cli.workflow_commands import (
    ROWS_MAX,
    after_option,
    at_desk,
    count_option,
    name_argument,
    said_text,
    store_option,
)

__all__ = ["deploy_command", "remove_command", "rollback_command", "versions_command"]


@click.command("deploy", cls=Command)
@argument("file", type=PATH, metavar="FILE", help="A script.")
@store_option
@json_option
@click.pass_context
def deploy_command(context: click.Context, file: Path, store: str, as_json: bool) -> str:
    """Put a script in force; a host that serves the store goes on with it."""
    from gnomon.apps.workflow.script import load_workflow

    text = read_file(str(file)).read_text(encoding="utf-8")
    workflow = load_workflow(text, where=str(file), folder=file.parent)
    version = at_desk(context, store, lambda desk: desk.deploy(workflow, text=text), makes=True)
    if as_json:
        return json.dumps({"workflow": workflow.name, "version": version}) + "\n"
    return f"{workflow.name}: version {version} is in force\n"


@click.command("versions", cls=Command)
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
        script = at_desk(context, store, lambda desk: desk.lookup.script(name, show), to_look=True)
        if as_json:
            return json.dumps({"workflow": name, "version": show, "text": script.text}) + "\n"
        return printed(script.text if script.text.endswith("\n") else script.text + "\n")
    limit = read_count(count, most=ROWS_MAX)
    found = at_desk(
        context, store, lambda desk: desk.lookup.versions(name, limit=limit, after=after),
        to_look=True,
    )  # fmt: skip
    return versions_text(name, found, as_json=as_json)


@click.command("rollback", cls=Command)
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
    wanted, number = at_desk(context, store, lambda desk: desk.rollback(name, version))
    if as_json:
        return json.dumps({"workflow": name, "version": number, "rolledBackTo": wanted}) + "\n"
    return f"{name}: version {number} is in force, with the text of version {wanted}\n"


@click.command("remove", cls=Command)
@name_argument
@store_option
@click.option("--discard", is_flag=True, help="Drop a run that is not over and events that wait.")
@json_option
@click.pass_context
def remove_command(
    context: click.Context, name: str, store: str, discard: bool, as_json: bool
) -> str:
    """Remove a workflow that is paused, with its runs, events and versions."""
    at_desk(context, store, lambda desk: desk.remove(name, discard=discard))
    return said_text(name, "remove", "removed", as_json=as_json)
