"""
The commands about the scripts of workflows: versions, rollback, remove, test.

Spec: WCLI-2 to WCLI-4, WASK-9, WASK-10, SEEN-12.
"""

import json
from typing import Annotated

import typer

from gnomon.cli.options import JsonOption, read_count
from gnomon.cli.screen import printed
from gnomon.cli.workflow_commands import (
    ROWS_MAX,
    STORE,
    AfterOption,
    CountOption,
    NameArgument,
    StoreOption,
    at_desk,
    said_text,
)
from gnomon.cli.workflow_trial import trial_command

__all__ = ["add_version_commands"]


def add_version_commands(app: typer.Typer) -> None:
    """Let `gnomon workflow` have these commands too."""
    app.command("versions")(versions_command)
    app.command("rollback")(rollback_command)
    app.command("remove")(remove_command)
    app.command("test")(trial_command)


def versions_command(
    context: typer.Context, name: NameArgument, store: StoreOption = STORE,
    show: Annotated[
        int | None,
        typer.Option("--show", metavar="N", min=1, max=2**62, help="Print the text of version N."),
    ] = None,
    count: CountOption = "20", after: AfterOption = None, as_json: JsonOption = False,
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


def rollback_command(
    context: typer.Context, name: NameArgument,
    version: Annotated[
        int | None,
        typer.Argument(metavar="[VERSION]", min=1, max=2**62, help="The one before, if left out."),
    ] = None,
    store: StoreOption = STORE, as_json: JsonOption = False,
) -> str:  # fmt: skip
    """Put an older version in force again, as a new version with its text."""
    wanted, number = at_desk(context, store, lambda desk: desk.rollback(name, version))
    if as_json:
        return json.dumps({"workflow": name, "version": number, "rolledBackTo": wanted}) + "\n"
    return f"{name}: version {number} is in force, with the text of version {wanted}\n"


def remove_command(
    context: typer.Context, name: NameArgument, store: StoreOption = STORE,
    discard: Annotated[
        bool, typer.Option("--discard", help="Drop a run that is not over and events that wait.")
    ] = False,
    as_json: JsonOption = False,
) -> str:  # fmt: skip
    """Remove a workflow that is paused, with its runs, events and versions."""
    at_desk(context, store, lambda desk: desk.remove(name, discard=discard))
    return said_text(name, "remove", "removed", as_json=as_json)
