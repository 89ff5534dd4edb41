"""
The commands of `gnomon dag`: deploy the DAGs that a service runs, look at them, remove them.

`workflow_id` names a DAG in requests and rows: the name is older than the word. `gnomon workflow`
is about producers and consumers. Each command sends one request for each file, or a few for a
list, and shows the answer.

Spec: CLIENT-1 to CLIENT-4, CLIENT-9 to CLIENT-11.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.options import JsonOption
from gnomon.cli.problem import RemoteError, printable
from gnomon.cli.service.answers import as_json, columns, dag_rows, facts, listing, warn
from gnomon.cli.service.client import Client, find_place, part
from gnomon.cli.service.paging import AfterOption, LimitOption, listed
from gnomon.cli.service.schedule_options import (
    TokenFileOption,
    UrlOption,
    UserOption,
    YesOption,
    read_text,
)

__all__ = ["dag_app"]

DAG_BYTES_MAX = 1_048_576
PAGE = 1_000

dag_app = typer.Typer(
    name="dag",
    help="Deploy the DAGs that a service runs, look at them, and remove them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

DagArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The workflow_id of a DAG.", show_default=False)
]
VersionOption = Annotated[
    int | None, typer.Option("--version", metavar="N", min=1, help="One version of it.")
]


@dag_app.command("deploy")
def deploy_command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="DAGs in JSON; - for input.", show_default=False),
    ],
    user: UserOption = None,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Deploy DAGs, one in each file, and register the schedules of their triggers."""
    client = Client(find_place(url, token_file))
    texts = [(file, read_text(file, most=DAG_BYTES_MAX)) for file in files]
    found = [_deployed(client, file, text, user) for file, text in texts]
    if json:
        return as_json({"items": found})
    for one in found:
        warn(one)
    rows = [
        [
            printable(str(one.get("workflow_id"))),
            str(one.get("version")),
            "deployed" if one.get("created") else "as it is",
            printable(", ".join(map(str, _texts(one.get("schedules"))))) or "-",
            printable(", ".join(map(str, _texts(one.get("deleted"))))) or "-",
        ]
        for one in found
    ]
    return columns(("dag", "version", "result", "schedules", "deleted schedules"), rows)


@dag_app.command("list")
def list_command(
    user: UserOption = None,
    limit: LimitOption = 100,
    after: AfterOption = None,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """List the DAGs with their newest versions, in the order of their users and ids."""
    client = Client(find_place(url, token_file))
    return listed(client, "/dags", {"user_id": user}, dag_rows, limit, after, as_json=json)


@dag_app.command("show")
def show_command(
    dag_id: DagArgument,
    version: VersionOption = None,
    user: UserOption = None,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Show one version of a DAG, the newest where none is named."""
    client, path = Client(find_place(url, token_file)), f"/dags/{part(dag_id)}"
    with _asked_for(user):
        found = client.get(path, version=version, user_id=user)
    return as_json(found) if json else facts(found, leave_out=["dag"]) + _text(found.get("dag"))


@dag_app.command("remove")
def remove_command(
    dag_id: DagArgument,
    version: VersionOption = None,
    user: UserOption = None,
    yes: YesOption = False,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Remove a DAG and the schedules of its triggers, or one version that none starts."""
    client, path = Client(find_place(url, token_file)), f"/dags/{part(dag_id)}"
    if not yes:
        return _would_go(client, path, dag_id, version, user, as_json_text=json)
    with _asked_for(user):
        found = client.delete(path, version=version, user_id=user)
    return as_json(found) if json else facts(found)


def _would_go(
    client: Client, path: str, dag_id: str, version: int | None, user: str | None, *,
    as_json_text: bool,
) -> str:  # fmt: skip
    with _asked_for(user):
        owner = client.get(path, version=version, user_id=user).get("user_id")
    found = client.get("/schedules", workflow_id=dag_id, user_id=owner, limit=PAGE)
    items = found.get("items")
    ids = [
        one.get("schedule_id")
        for one in (items if isinstance(items, list) else [])
        if isinstance(one, dict) and version in (None, one.get("version"))
    ]
    if as_json_text:
        shown = {"user_id": owner, "workflow_id": dag_id, "version": version, "schedules": ids}
        return as_json(shown)
    what = f"{dag_id} of {owner}" if version is None else f"version {version} of {dag_id}"
    return f"would remove {what}; add --yes to do it\n" + listing("schedules that start it", ids)


def _deployed(client: Client, file: Path, text: str, user: str | None) -> dict[str, object]:
    try:
        with _asked_for(user):
            return client.post_text("/dags", text, user_id=user)
    except RemoteError as error:
        raise RemoteError(f"{file}: {error}", hint=error.hint, code=error.code) from None


@contextlib.contextmanager
def _asked_for(user: str | None) -> Iterator[None]:
    """Where a user must be named, it is an option here, and no part of an address."""
    try:
        yield
    except RemoteError as error:
        if user is None and str(error).startswith("user_id: "):
            hint = "name the user with --user ID"
            raise RemoteError(str(error), hint=hint, code=error.code) from None
        raise


def _texts(found: object) -> list[object]:
    return found if isinstance(found, list) else []


def _text(dag: object) -> str:
    return json.dumps(dag, indent=2, ensure_ascii=True) + "\n"
