"""
The commands of `gnomon schedule`: what can be asked of a service, and done with it.

Each sends one request, or a few, and shows the answer. Nothing is decided here.

Spec: CLIENT-1 to CLIENT-9.
"""

from pathlib import Path

import click

from gnomon.cli.click_parts import CliGroup, argument
from gnomon.cli.options import json_option
from gnomon.cli.service.answers import (
    after_option,
    facts,
    json_text,
    limit_option,
    listed,
    listing,
    schedule_rows,
    schedule_text,
    warn,
)
from gnomon.cli.service.client import Client, find_place, part
from gnomon.cli.service.schedule_options import (
    catchup_option,
    cron_option,
    dag_option,
    dag_version_option,
    definition,
    fields_file_option,
    id_argument,
    id_option,
    overlap_option,
    reason_option,
    set_option,
    token_file_option,
    until_option,
    url_option,
    user_option,
    yes_option,
    zone_field_option,
)

__all__ = ["schedule_app"]

schedule_app = CliGroup("schedule", help="Ask a service about its schedules, and change them.")
schedule_app.later = {
    "runs": "gnomon.cli.service.run_commands:runs_command",
    "explain": "gnomon.cli.service.run_commands:explain_command",
    "trigger": "gnomon.cli.service.run_commands:trigger_command",
    "skip-next": "gnomon.cli.service.run_commands:skip_next_command",
    "backfill": "gnomon.cli.service.run_commands:backfill_command",
    "kill": "gnomon.cli.service.run_commands:kill_command",
    "import": "gnomon.cli.service.run_commands:import_command",
}


@schedule_app.command("list")
@user_option
@dag_option
@click.option("--paused/--active", default=None, help="Only those that are, or are not.")
@click.option("--text", metavar="TEXT", help="What the id contains.")
@limit_option(100)
@after_option
@url_option
@token_file_option
@json_option
def list_command(
    user: str | None, dag: str | None, paused: bool | None, text: str | None, limit: int,
    after: str | None, url: str | None, token_file: Path | None, as_json: bool,
) -> str:  # fmt: skip
    """List the schedules, in the order of their ids."""
    client = Client(find_place(url, token_file))
    query = {"user_id": user, "workflow_id": dag, "paused": paused, "text": text}
    return listed(client, "/schedules", query, schedule_rows, limit, after, as_json=as_json)


@schedule_app.command("show")
@id_argument
@click.option(
    "--count", type=click.IntRange(1, 1000), default=5, metavar="N", help="How many next runs."
)
@url_option
@token_file_option
@json_option
def show_command(
    schedule_id: str, count: int, url: str | None, token_file: Path | None, as_json: bool
) -> str:
    """Show one schedule and when it runs next."""
    found = Client(find_place(url, token_file)).get(f"/schedules/{part(schedule_id)}", count=count)
    if as_json:
        return json_text(found)
    return schedule_text(found)


@schedule_app.command("upsert")
@id_option
@dag_option
@dag_version_option
@user_option
@cron_option
@zone_field_option
@overlap_option
@catchup_option
@set_option
@fields_file_option
@url_option
@token_file_option
@json_option
def upsert_command(
    schedule_id: str | None, dag: str | None, dag_version: int | None, user: str | None,
    cron: str | None, zone: str | None, overlap: str | None, catchup: str | None,
    fields: tuple[str, ...], file: Path | None, url: str | None, token_file: Path | None,
    as_json: bool,
) -> str:  # fmt: skip
    """Register a schedule, or change it."""
    body = definition(
        file, fields, schedule_id=schedule_id, workflow_id=dag, version=dag_version,
        user_id=user, cron_expr=cron, timezone=zone, overlap_policy=overlap,
        catchup_policy=catchup,
    )  # fmt: skip
    found = Client(find_place(url, token_file)).post("/schedules/upsert", body)
    if as_json:
        return json_text(found)
    warn(found)
    return facts(found, leave_out=["warnings"])


@schedule_app.command("diff")
@id_option
@dag_option
@dag_version_option
@user_option
@cron_option
@zone_field_option
@overlap_option
@catchup_option
@set_option
@fields_file_option
@url_option
@token_file_option
@json_option
def diff_command(
    schedule_id: str | None, dag: str | None, dag_version: int | None, user: str | None,
    cron: str | None, zone: str | None, overlap: str | None, catchup: str | None,
    fields: tuple[str, ...], file: Path | None, url: str | None, token_file: Path | None,
    as_json: bool,
) -> str:  # fmt: skip
    """Say what an upsert would change, and which runs would come and go; change nothing."""
    body = definition(
        file, fields, schedule_id=schedule_id, workflow_id=dag, version=dag_version,
        user_id=user, cron_expr=cron, timezone=zone, overlap_policy=overlap,
        catchup_policy=catchup,
    )  # fmt: skip
    found = Client(find_place(url, token_file)).post("/schedules/diff", body)
    if as_json:
        return json_text(found)
    warn(found)
    runs = listing("runs that would go", found.get("removed"))
    runs += listing("runs that would come", found.get("added"))
    return facts(found, leave_out=["before", "after", "added", "removed", "warnings"]) + runs


@schedule_app.command("pause")
@argument("schedule_id", required=False, metavar="[ID]", help="One schedule.")
@user_option
@dag_option
@click.option("--text", metavar="TEXT", help="What the ids contain.")
@until_option
@reason_option
@yes_option
@url_option
@token_file_option
@json_option
def pause_command(
    schedule_id: str | None, user: str | None, dag: str | None, text: str | None,
    until: str | None, reason: str, yes: bool, url: str | None, token_file: Path | None,
    as_json: bool,
) -> str:  # fmt: skip
    """Pause one schedule, or with --yes all that the options find."""
    client = Client(find_place(url, token_file))
    if schedule_id is not None:
        body = {"schedule_id": schedule_id, "paused": True, "until": until, "reason": reason}
        return _paused(client, body, as_json=as_json)
    filters = {"user_id": user, "workflow_id": dag, "text": text}
    return _bulk(client, filters, paused=True, until=until, reason=reason, yes=yes, as_json=as_json)


@schedule_app.command("resume")
@argument("schedule_id", required=False, metavar="[ID]", help="One schedule.")
@user_option
@dag_option
@click.option("--text", metavar="TEXT", help="What the ids contain.")
@reason_option
@yes_option
@url_option
@token_file_option
@json_option
def resume_command(
    schedule_id: str | None, user: str | None, dag: str | None, text: str | None, reason: str,
    yes: bool, url: str | None, token_file: Path | None, as_json: bool,
) -> str:  # fmt: skip
    """Resume one schedule, or with --yes all that the options find."""
    client = Client(find_place(url, token_file))
    if schedule_id is not None:
        body = {"schedule_id": schedule_id, "paused": False, "reason": reason}
        return _paused(client, body, as_json=as_json)
    filters = {"user_id": user, "workflow_id": dag, "text": text}
    return _bulk(client, filters, paused=False, until=None, reason=reason, yes=yes, as_json=as_json)


@schedule_app.command("delete")
@id_argument
@url_option
@token_file_option
@json_option
def delete_command(
    schedule_id: str, url: str | None, token_file: Path | None, as_json: bool
) -> str:
    """Delete a schedule; its history stays."""
    Client(find_place(url, token_file)).delete(f"/schedules/{part(schedule_id)}")
    return json_text({"schedule_id": schedule_id, "deleted": True}) if as_json else "deleted\n"


def _paused(client: Client, body: dict[str, object], *, as_json: bool) -> str:
    found = client.post("/schedules/pause", body)
    if as_json:
        return json_text(found)
    return schedule_text(found)


def _bulk(
    client: Client, filters: dict[str, str | None], *, paused: bool, until: str | None, reason: str,
    yes: bool, as_json: bool,
) -> str:  # fmt: skip
    if not any(filters.values()):
        raise click.BadParameter("name a schedule, or a filter: --user, --dag or --text")
    body = {name: value for name, value in filters.items() if value is not None}
    found = client.post(
        "/schedules/pause-many",
        body | {"paused": paused, "until": until, "reason": reason, "dry_run": not yes},
    )
    if as_json:
        return json_text(found)
    word = "paused" if paused else "resumed"
    ids = found.get("schedule_ids")
    title = f"{word}:" if yes else f"would be {word}; add --yes to do it:"
    return listing(title, ids) or "no schedule is found\n"
