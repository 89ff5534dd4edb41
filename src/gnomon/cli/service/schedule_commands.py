"""
The commands of `gnomon schedule`: what can be asked of a service, and done with it.

Each sends one request, or a few, and shows the answer. Nothing is decided here.

Spec: CLIENT-1 to CLIENT-9.
"""

from typing import Annotated

import typer

from gnomon.cli.options import JsonOption
from gnomon.cli.service.answers import as_json, facts, listing, schedule_rows, schedule_text, warn
from gnomon.cli.service.client import Client, find_place, part
from gnomon.cli.service.paging import AfterOption, LimitOption, listed
from gnomon.cli.service.schedule_options import (
    CatchupOption,
    CronOption,
    DagOption,
    DagVersionOption,
    FieldsFileOption,
    IdArgument,
    IdOption,
    OverlapOption,
    ReasonOption,
    SetOption,
    TokenFileOption,
    UntilOption,
    UrlOption,
    UserOption,
    YesOption,
    ZoneFieldOption,
    definition,
)

__all__ = ["schedule_app"]

schedule_app = typer.Typer(
    name="schedule",
    help="Ask a service about its schedules, and change them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@schedule_app.command("list")
def list_command(
    user: UserOption = None,
    dag: DagOption = None,
    paused: Annotated[
        bool | None, typer.Option("--paused/--active", help="Only those that are, or are not.")
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="What the id contains.")
    ] = None,
    limit: LimitOption = 100,
    after: AfterOption = None,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """List the schedules, in the order of their ids."""
    client = Client(find_place(url, token_file))
    query = {"user_id": user, "workflow_id": dag, "paused": paused, "text": text}
    return listed(client, "/schedules", query, schedule_rows, limit, after, as_json=json)


@schedule_app.command("show")
def show_command(
    schedule_id: IdArgument,
    count: Annotated[
        int, typer.Option("--count", metavar="N", min=1, max=1000, help="How many next runs.")
    ] = 5,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Show one schedule and when it runs next."""
    found = Client(find_place(url, token_file)).get(f"/schedules/{part(schedule_id)}", count=count)
    if json:
        return as_json(found)
    return schedule_text(found)


@schedule_app.command("upsert")
def upsert_command(
    schedule_id: IdOption = None,
    dag: DagOption = None,
    dag_version: DagVersionOption = None,
    user: UserOption = None,
    cron: CronOption = None,
    zone: ZoneFieldOption = None,
    overlap: OverlapOption = None,
    catchup: CatchupOption = None,
    fields: SetOption = None,
    file: FieldsFileOption = None,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Register a schedule, or change it."""
    body = definition(
        file, fields, schedule_id=schedule_id, workflow_id=dag, version=dag_version,
        user_id=user, cron_expr=cron, timezone=zone, overlap_policy=overlap,
        catchup_policy=catchup,
    )  # fmt: skip
    found = Client(find_place(url, token_file)).post("/schedules/upsert", body)
    if json:
        return as_json(found)
    warn(found)
    return facts(found, leave_out=["warnings"])


@schedule_app.command("diff")
def diff_command(
    schedule_id: IdOption = None,
    dag: DagOption = None,
    dag_version: DagVersionOption = None,
    user: UserOption = None,
    cron: CronOption = None,
    zone: ZoneFieldOption = None,
    overlap: OverlapOption = None,
    catchup: CatchupOption = None,
    fields: SetOption = None,
    file: FieldsFileOption = None,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Say what an upsert would change, and which runs would come and go; change nothing."""
    body = definition(
        file, fields, schedule_id=schedule_id, workflow_id=dag, version=dag_version,
        user_id=user, cron_expr=cron, timezone=zone, overlap_policy=overlap,
        catchup_policy=catchup,
    )  # fmt: skip
    found = Client(find_place(url, token_file)).post("/schedules/diff", body)
    if json:
        return as_json(found)
    warn(found)
    runs = listing("runs that would go", found.get("removed"))
    runs += listing("runs that would come", found.get("added"))
    return facts(found, leave_out=["before", "after", "added", "removed", "warnings"]) + runs


@schedule_app.command("pause")
def pause_command(
    schedule_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="One schedule.", show_default=False)
    ] = None,
    user: UserOption = None,
    dag: DagOption = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="What the ids contain.")
    ] = None,
    until: UntilOption = None,
    reason: ReasonOption = "",
    yes: YesOption = False,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Pause one schedule, or with --yes all that the options find."""
    client = Client(find_place(url, token_file))
    if schedule_id is not None:
        body = {"schedule_id": schedule_id, "paused": True, "until": until, "reason": reason}
        return _paused(client, body, json=json)
    filters = {"user_id": user, "workflow_id": dag, "text": text}
    return _bulk(client, filters, paused=True, until=until, reason=reason, yes=yes, json=json)


@schedule_app.command("resume")
def resume_command(
    schedule_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="One schedule.", show_default=False)
    ] = None,
    user: UserOption = None,
    dag: DagOption = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="What the ids contain.")
    ] = None,
    reason: ReasonOption = "",
    yes: YesOption = False,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Resume one schedule, or with --yes all that the options find."""
    client = Client(find_place(url, token_file))
    if schedule_id is not None:
        body = {"schedule_id": schedule_id, "paused": False, "reason": reason}
        return _paused(client, body, json=json)
    filters = {"user_id": user, "workflow_id": dag, "text": text}
    return _bulk(client, filters, paused=False, until=None, reason=reason, yes=yes, json=json)


@schedule_app.command("delete")
def delete_command(
    schedule_id: IdArgument,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Delete a schedule; its history stays."""
    Client(find_place(url, token_file)).delete(f"/schedules/{part(schedule_id)}")
    return as_json({"schedule_id": schedule_id, "deleted": True}) if json else "deleted\n"


def _paused(client: Client, body: dict[str, object], *, json: bool) -> str:
    found = client.post("/schedules/pause", body)
    if json:
        return as_json(found)
    return schedule_text(found)


def _bulk(
    client: Client,
    filters: dict[str, str | None],
    *,
    paused: bool,
    until: str | None,
    reason: str,
    yes: bool,
    json: bool,
) -> str:
    if not any(filters.values()):
        raise typer.BadParameter("name a schedule, or a filter: --user, --dag or --text")
    body = {name: value for name, value in filters.items() if value is not None}
    found = client.post(
        "/schedules/pause-many",
        body | {"paused": paused, "until": until, "reason": reason, "dry_run": not yes},
    )
    if json:
        return as_json(found)
    word = "paused" if paused else "resumed"
    ids = found.get("schedule_ids")
    title = f"{word}:" if yes else f"would be {word}; add --yes to do it:"
    return listing(title, ids) or "no schedule is found\n"
