"""
The commands of `gnomon schedule` about runs: which there were, why not, and new ones.

Spec: CLIENT-6 to CLIENT-8.
"""

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.options import JsonOption
from gnomon.cli.problem import RemoteError, printable
from gnomon.cli.service.answers import all_run_rows, as_json, columns, facts, run_rows, warn
from gnomon.cli.service.client import Client, find_place, part
from gnomon.cli.service.paging import AfterOption, LimitOption, listed
from gnomon.cli.service.schedule_commands import schedule_app
from gnomon.cli.service.schedule_options import (
    DagOption,
    IdArgument,
    ReasonOption,
    TokenFileOption,
    UrlOption,
    UserOption,
    YesOption,
    definitions,
    read_params,
)

__all__ = ["schedule_app"]


@schedule_app.command("runs")
def runs_command(
    schedule_id: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]", help="Of one schedule; left out, of all.", show_default=False
        ),
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Of all schedules, those that failed.")
    ] = False,
    status: Annotated[
        str | None,
        typer.Option("--status", metavar="STATUS", help="Of all schedules, those that read so."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="AGO", help="Of all, since 1h ago or an instant; a day."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--before", metavar="AGO", help="Of all, over 1h ago, or at an instant."),
    ] = None,
    user: UserOption = None,
    dag: DagOption = None,
    limit: LimitOption = 20,
    after: AfterOption = None,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Show what became of the periods of a schedule, or of all schedules, newest first."""
    client = Client(find_place(url, token_file))
    query = {
        "status": "FAILED" if failed else status, "since": since, "until": until, "user_id": user,
        "workflow_id": dag,
    }  # fmt: skip
    if schedule_id is None:
        return listed(client, "/runs", query, all_run_rows, limit, after, as_json=json)
    if any(query.values()):
        raise typer.BadParameter("name a schedule, or say which runs of all schedules, not both")
    path = f"/schedules/{part(schedule_id)}/runs"
    return listed(client, path, {}, run_rows, limit, after, as_json=json)


@schedule_app.command("explain")
def explain_command(
    schedule_id: IdArgument,
    run_at: Annotated[
        str, typer.Argument(metavar="INSTANT", help="A planned instant.", show_default=False)
    ],
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Say why a period ran, or why it did not."""
    found = Client(find_place(url, token_file)).get(
        f"/schedules/{part(schedule_id)}/explain", run_at=run_at
    )
    if json:
        return as_json(found)
    sentences = found.get("sentences")
    lines = [printable(str(one)) for one in sentences] if isinstance(sentences, list) else []
    details = found.get("facts")
    return "".join(f"{line}\n" for line in lines) + (
        facts(details) if isinstance(details, dict) else ""
    )


@schedule_app.command("trigger")
def trigger_command(
    schedule_id: IdArgument,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="TEXT", help="The same key again starts nothing twice."),
    ] = None,
    params: Annotated[
        str | None,
        typer.Option("--params", metavar="JSON", help="What the run is given: an object."),
    ] = None,
    reason: ReasonOption = "",
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Run a schedule's DAG now, beside its periods."""
    headers = {"idempotency-key": key} if key is not None else {}
    body = {"reason": reason, "params": None if params is None else read_params(params)}
    found = Client(find_place(url, token_file)).post(
        f"/schedules/{part(schedule_id)}/trigger", body, headers=headers
    )
    return as_json(found) if json else facts(found)


@schedule_app.command("skip-next")
def skip_next_command(
    schedule_id: IdArgument,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Skip the next period of a schedule."""
    found = Client(find_place(url, token_file)).post(f"/schedules/{part(schedule_id)}/skip-next")
    return as_json(found) if json else facts(found)


@schedule_app.command("backfill")
def backfill_command(
    schedule_id: IdArgument,
    start: Annotated[
        str, typer.Option("--from", metavar="INSTANT", help="The first instant, inclusive.")
    ],
    end: Annotated[
        str, typer.Option("--to", metavar="INSTANT", help="The last instant, inclusive.")
    ],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="ID", help="The same name again runs nothing twice."),
    ] = None,
    yes: YesOption = False,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Run the periods of a time that is over; without --yes only count them."""
    body = {"start": start, "end": end, "name": name, "dry_run": not yes}
    found = Client(find_place(url, token_file)).post(
        f"/schedules/{part(schedule_id)}/backfill", body
    )
    if json:
        return as_json(found)
    hint = "" if yes else "add --yes to run them\n"
    return facts(found) + hint


@schedule_app.command("kill")
def kill_command(
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="The key of a run.", show_default=False)
    ],
    reason: ReasonOption = "",
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """End a run that is in flight."""
    found = Client(find_place(url, token_file)).post(f"/runs/{part(key)}/kill", {"reason": reason})
    return as_json(found) if json else facts(found)


@schedule_app.command("import")
def import_command(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Schedules in JSON or TOML.", show_default=False),
    ],
    yes: YesOption = False,
    url: UrlOption = None,
    token_file: TokenFileOption = None,
    json: JsonOption = False,
) -> str:
    """Register every schedule of a file; all are checked before the first is written."""
    client = Client(find_place(url, token_file))
    found = list(enumerate(definitions(file), 1))
    with client.connected():
        results = [_placed(client, "/schedules/diff", one, file, number) for number, one in found]
        if yes:
            path = "/schedules/upsert"
            results = [_placed(client, path, one, file, number) for number, one in found]
    if json:
        return as_json({"items": results, "written": yes})
    rows = [
        [printable(str(one.get("schedule_id"))), "changed" if one.get("changed") else "as it is"]
        for one in results
    ]
    for one in results:
        warn(one, about=f"{one.get('schedule_id')}: ")
    hint = "" if yes else "add --yes to write them\n"
    return columns(("schedule", "result"), rows) + hint


def _placed(
    client: Client, path: str, body: dict[str, object], file: Path, number: int
) -> dict[str, object]:
    try:
        return client.post(path, body)
    except RemoteError as error:
        message = f"{file}: schedule number {number}: {error}"
        raise RemoteError(message, hint=error.hint, code=error.code) from None
