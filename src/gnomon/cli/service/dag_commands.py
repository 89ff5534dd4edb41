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

import click

from gnomon.cli.click_parts import PATH, CliGroup, argument
from gnomon.cli.options import json_option
from gnomon.cli.problem import RemoteError, printable
from gnomon.cli.service.answers import (
    after_option,
    columns,
    dag_rows,
    facts,
    json_text,
    limit_option,
    listed,
    listing,
    warn,
)
from gnomon.cli.service.client import Client, find_place, part
from gnomon.cli.service.schedule_options import (
    read_text,
    token_file_option,
    url_option,
    user_option,
    yes_option,
)

__all__ = ["dag_app"]

DAG_BYTES_MAX = 1_048_576
PAGE = 1_000

dag_app = CliGroup(
    "dag", help="Deploy the DAGs that a service runs, look at them, and remove them."
)

dag_argument = argument("dag_id", metavar="ID", help="The workflow_id of a DAG.")
version_option = click.option(
    "--version", type=click.IntRange(1), metavar="N", help="One version of it."
)


@dag_app.command("deploy")
@argument("files", nargs=-1, type=PATH, metavar="FILE...", help="DAGs in JSON; - for input.")
@user_option
@url_option
@token_file_option
@json_option
def deploy_command(
    files: tuple[Path, ...], user: str | None, url: str | None, token_file: Path | None,
    as_json: bool,
) -> str:  # fmt: skip
    """Deploy DAGs, one in each file, and register the schedules of their triggers."""
    client = Client(find_place(url, token_file))
    texts = [(file, read_text(file, most=DAG_BYTES_MAX)) for file in files]
    found = [_deployed(client, file, text, user) for file, text in texts]
    if as_json:
        return json_text({"items": found})
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
@user_option
@limit_option(100)
@after_option
@url_option
@token_file_option
@json_option
def list_command(
    user: str | None, limit: int, after: str | None, url: str | None, token_file: Path | None,
    as_json: bool,
) -> str:  # fmt: skip
    """List the DAGs with their newest versions, in the order of their users and ids."""
    client = Client(find_place(url, token_file))
    return listed(client, "/dags", {"user_id": user}, dag_rows, limit, after, as_json=as_json)


@dag_app.command("show")
@dag_argument
@version_option
@user_option
@url_option
@token_file_option
@json_option
def show_command(
    dag_id: str, version: int | None, user: str | None, url: str | None, token_file: Path | None,
    as_json: bool,
) -> str:  # fmt: skip
    """Show one version of a DAG, the newest where none is named."""
    client, path = Client(find_place(url, token_file)), f"/dags/{part(dag_id)}"
    with _asked_for(user):
        found = client.get(path, version=version, user_id=user)
    return (
        json_text(found) if as_json else facts(found, leave_out=["dag"]) + _text(found.get("dag"))
    )


@dag_app.command("remove")
@dag_argument
@version_option
@user_option
@yes_option
@url_option
@token_file_option
@json_option
def remove_command(
    dag_id: str, version: int | None, user: str | None, yes: bool, url: str | None,
    token_file: Path | None, as_json: bool,
) -> str:  # fmt: skip
    """Remove a DAG and the schedules of its triggers, or one version that none starts."""
    client, path = Client(find_place(url, token_file)), f"/dags/{part(dag_id)}"
    if not yes:
        return _would_go(client, path, dag_id, version, user, as_json=as_json)
    with _asked_for(user):
        found = client.delete(path, version=version, user_id=user)
    return json_text(found) if as_json else facts(found)


def _would_go(
    client: Client, path: str, dag_id: str, version: int | None, user: str | None, *, as_json: bool
) -> str:
    with _asked_for(user):
        owner = client.get(path, version=version, user_id=user).get("user_id")
    found = client.get("/schedules", workflow_id=dag_id, user_id=owner, limit=PAGE)
    items = found.get("items")
    ids = [
        one.get("schedule_id")
        for one in (items if isinstance(items, list) else [])
        if isinstance(one, dict) and version in (None, one.get("version"))
    ]
    if as_json:
        shown = {"user_id": owner, "workflow_id": dag_id, "version": version, "schedules": ids}
        return json_text(shown)
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
