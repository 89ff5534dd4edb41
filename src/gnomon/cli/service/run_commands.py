"""
The commands of `gnomon schedule` about runs: which there were, why not, and new ones.

Spec: CLIENT-6 to CLIENT-8.
"""

from pathlib import Path

import click

from gnomon.cli.click_parts import PATH, CliCommand, argument
from gnomon.cli.options import json_option
from gnomon.cli.problem import RemoteError, printable
from gnomon.cli.service.answers import (
    after_option,
    all_run_rows,
    columns,
    facts,
    json_text,
    limit_option,
    listed,
    run_rows,
    warn,
)
from gnomon.cli.service.client import Client, find_place, part
from gnomon.cli.service.schedule_options import (
    dag_option,
    definitions,
    id_argument,
    read_params,
    reason_option,
    token_file_option,
    url_option,
    user_option,
    yes_option,
)

__all__ = [
    "backfill_command",
    "explain_command",
    "import_command",
    "kill_command",
    "runs_command",
    "skip_next_command",
    "trigger_command",
]


@click.command("runs", cls=CliCommand)
@argument("schedule_id", required=False, metavar="[ID]", help="Of one schedule; left out, of all.")
@click.option("--failed", is_flag=True, help="Of all schedules, those that failed.")
@click.option("--status", metavar="STATUS", help="Of all schedules, those that read so.")
@click.option("--since", metavar="AGO", help="Of all, since 1h ago or an instant; a day.")
@click.option("--before", "until", metavar="AGO", help="Of all, over 1h ago, or at an instant.")
@user_option
@dag_option
@limit_option(20)
@after_option
@url_option
@token_file_option
@json_option
def runs_command(
    schedule_id: str | None, failed: bool, status: str | None, since: str | None, until: str | None,
    user: str | None, dag: str | None, limit: int, after: str | None, url: str | None,
    token_file: Path | None, as_json: bool,
) -> str:  # fmt: skip
    """Show what became of the periods of a schedule, or of all schedules, newest first."""
    client = Client(find_place(url, token_file))
    query = {
        "status": "FAILED" if failed else status, "since": since, "until": until, "user_id": user,
        "workflow_id": dag,
    }  # fmt: skip
    if schedule_id is None:
        return listed(client, "/runs", query, all_run_rows, limit, after, as_json=as_json)
    if any(query.values()):
        raise click.BadParameter("name a schedule, or say which runs of all schedules, not both")
    path = f"/schedules/{part(schedule_id)}/runs"
    return listed(client, path, {}, run_rows, limit, after, as_json=as_json)


@click.command("explain", cls=CliCommand)
@id_argument
@argument("run_at", metavar="INSTANT", help="A planned instant.")
@url_option
@token_file_option
@json_option
def explain_command(
    schedule_id: str, run_at: str, url: str | None, token_file: Path | None, as_json: bool
) -> str:
    """Say why a period ran, or why it did not."""
    found = Client(find_place(url, token_file)).get(
        f"/schedules/{part(schedule_id)}/explain", run_at=run_at
    )
    if as_json:
        return json_text(found)
    sentences = found.get("sentences")
    lines = [printable(str(one)) for one in sentences] if isinstance(sentences, list) else []
    details = found.get("facts")
    return "".join(f"{line}\n" for line in lines) + (
        facts(details) if isinstance(details, dict) else ""
    )


@click.command("trigger", cls=CliCommand)
@id_argument
@click.option("--key", metavar="TEXT", help="The same key again starts nothing twice.")
@click.option("--params", metavar="JSON", help="What the run is given: an object.")
@reason_option
@url_option
@token_file_option
@json_option
def trigger_command(
    schedule_id: str, key: str | None, params: str | None, reason: str, url: str | None,
    token_file: Path | None, as_json: bool,
) -> str:  # fmt: skip
    """Run a schedule's DAG now, beside its periods."""
    headers = {"idempotency-key": key} if key is not None else {}
    body = {"reason": reason, "params": None if params is None else read_params(params)}
    found = Client(find_place(url, token_file)).post(
        f"/schedules/{part(schedule_id)}/trigger", body, headers=headers
    )
    return json_text(found) if as_json else facts(found)


@click.command("skip-next", cls=CliCommand)
@id_argument
@url_option
@token_file_option
@json_option
def skip_next_command(
    schedule_id: str, url: str | None, token_file: Path | None, as_json: bool
) -> str:
    """Skip the next period of a schedule."""
    found = Client(find_place(url, token_file)).post(f"/schedules/{part(schedule_id)}/skip-next")
    return json_text(found) if as_json else facts(found)


@click.command("backfill", cls=CliCommand)
@id_argument
@click.option(
    "--from", "start", required=True, metavar="INSTANT", help="The first instant, inclusive."
)
@click.option("--to", "end", required=True, metavar="INSTANT", help="The last instant, inclusive.")
@click.option("--name", metavar="ID", help="The same name again runs nothing twice.")
@yes_option
@url_option
@token_file_option
@json_option
def backfill_command(
    schedule_id: str, start: str, end: str, name: str | None, yes: bool, url: str | None,
    token_file: Path | None, as_json: bool,
) -> str:  # fmt: skip
    """Run the periods of a time that is over; without --yes only count them."""
    body = {"start": start, "end": end, "name": name, "dry_run": not yes}
    found = Client(find_place(url, token_file)).post(
        f"/schedules/{part(schedule_id)}/backfill", body
    )
    if as_json:
        return json_text(found)
    hint = "" if yes else "add --yes to run them\n"
    return facts(found) + hint


@click.command("kill", cls=CliCommand)
@argument("key", metavar="KEY", help="The key of a run.")
@reason_option
@url_option
@token_file_option
@json_option
def kill_command(
    key: str, reason: str, url: str | None, token_file: Path | None, as_json: bool
) -> str:
    """End a run that is in flight."""
    found = Client(find_place(url, token_file)).post(f"/runs/{part(key)}/kill", {"reason": reason})
    return json_text(found) if as_json else facts(found)


@click.command("import", cls=CliCommand)
@argument("file", type=PATH, metavar="FILE", help="Schedules in JSON or TOML.")
@yes_option
@url_option
@token_file_option
@json_option
def import_command(
    file: Path, yes: bool, url: str | None, token_file: Path | None, as_json: bool
) -> str:
    """Register every schedule of a file; all are checked before the first is written."""
    client = Client(find_place(url, token_file))
    found = list(enumerate(definitions(file), 1))
    with client.connected():
        results = [_placed(client, "/schedules/diff", one, file, number) for number, one in found]
        if yes:
            path = "/schedules/upsert"
            results = [_placed(client, path, one, file, number) for number, one in found]
    if as_json:
        return json_text({"items": results, "written": yes})
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
