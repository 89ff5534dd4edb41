"""
The options of `gnomon up`, `gnomon api` and `gnomon worker`.

Each imports what does its work when it is called; all need the extra `service`.

Spec: UP-1, UP-8, HTTP-12.
"""

import shlex
import sys
from pathlib import Path

import click

from gnomon.cli.click_parts import PATH, CliCommand
from gnomon.cli.options import (
    clock_of,
    metrics_option,
    pooler_option,
    read_database,
    read_metrics,
    schema_option,
)
from gnomon.cli.problem import printable
from gnomon.cli.service.client import DEFAULT_TOKEN, DEFAULT_URL
from gnomon.compose.shared_database import SharedDatabase
from gnomon.errors import DefinitionError, MissingExtraError
from gnomon.shell.settings import environment

__all__ = ["api_command", "up_command", "worker_command"]

host_option = click.option("--host", metavar="ADDRESS", help="Where to listen; loopback.")
port_option = click.option("--port", type=int, metavar="N", help="8080.")
json_log_option = click.option("--json-log", is_flag=True, help="Log lines as JSON.")
shared_option = click.option("--database", metavar="URL", help="The ledger on PostgreSQL.")

_YES, _NO = ("true", "1", "yes", "on"), ("", "false", "0", "no", "off")


@click.command("up", cls=CliCommand)
@click.option(
    "--data", type=PATH, default=Path(".gnomon"), metavar="DIR",
    help="Where the ledger and the token are.",
)  # fmt: skip
@click.option("--database", metavar="URL", help="A ledger on PostgreSQL, not a file.")
@schema_option
@pooler_option
@host_option
@port_option
@click.option("--no-samples", is_flag=True, help="Leave an empty ledger empty.")
@json_log_option
@click.pass_context
def up_command(
    context: click.Context, data: Path, database: str | None, schema: str | None, pooler: bool,
    host: str | None, port: int | None, no_samples: bool, json_log: bool,
) -> int:  # fmt: skip
    """Run API, worker and executor in one process, on this machine only, until stopped."""
    _need_extra()
    from gnomon.compose.service_processes import UpOptions, run_up
    from gnomon.shell.http.http_settings import read_http_settings

    http = read_http_settings(loopback_only=True, host=host, port=port)
    options = UpOptions(
        data=data,
        database=_named(database, schema, pooler),
        http=http,
        samples=not no_samples,
        json_log=json_log,
    )

    def announce(token_file: Path, url: str) -> None:
        sys.stdout.write(_welcome(data, options.database, token_file, url))
        sys.stdout.flush()

    return 0 if run_up(options, clock_of(context), announce) else 130


@click.command("api", cls=CliCommand)
@shared_option
@schema_option
@pooler_option
@click.option("--access", type=PATH, metavar="PATH", help="Who may ask.")
@host_option
@port_option
@click.option("--hosts", metavar="NAMES", help="Names it is asked under, by commas.")
@click.option("--tls-certificate", type=PATH, metavar="PATH", help="Serve HTTPS.")
@click.option("--tls-key", type=PATH, metavar="PATH", help="Its key.")
@click.option(
    "--tls-client-authority", type=PATH, metavar="PATH", help="Clients need its certificates."
)
@click.option("--insecure", is_flag=True, help="Listen elsewhere without TLS.")
@json_log_option
@click.pass_context
def api_command(
    context: click.Context, database: str | None, schema: str | None, pooler: bool,
    access: Path | None, host: str | None, port: int | None, hosts: str | None,
    tls_certificate: Path | None, tls_key: Path | None, tls_client_authority: Path | None,
    insecure: bool, json_log: bool,
) -> int:  # fmt: skip
    """Serve the HTTP API from a ledger on PostgreSQL, until stopped."""
    _need_extra()
    from gnomon.compose.service_processes import run_api
    from gnomon.shell.http.http_settings import read_http_settings

    http = read_http_settings(
        access=access, host=host, port=port, hosts=hosts, tls_certificate=tls_certificate,
        tls_key=tls_key, tls_client_authority=tls_client_authority, insecure=insecure or None,
    )  # fmt: skip
    shared = _shared(database, schema, pooler)
    return 0 if run_api(shared, http, clock_of(context), json_log=json_log) else 130


@click.command("worker", cls=CliCommand)
@shared_option
@schema_option
@pooler_option
@metrics_option
@json_log_option
@click.pass_context
def worker_command(
    context: click.Context, database: str | None, schema: str | None, pooler: bool,
    metrics: str | None, json_log: bool,
) -> int:  # fmt: skip
    """Start what is due, from a ledger on PostgreSQL, until stopped."""
    _need_extra()
    from gnomon.compose.service_processes import run_worker

    metrics = environment().get("GNOMON_METRICS") or None if metrics is None else metrics
    shared, place = _shared(database, schema, pooler), read_metrics(metrics)
    return 0 if run_worker(shared, place, clock_of(context), json_log=json_log) else 130


def _named(database: str | None, schema: str | None, pooler: bool) -> SharedDatabase | None:
    """The ledger on PostgreSQL that options name, or the environment."""
    url = database or environment().get("GNOMON_DATABASE")
    if not url:
        return read_database(None, schema, pooler)
    schema = (environment().get("GNOMON_SCHEMA") or None) if schema is None else schema
    return read_database(url, schema, pooler or _is_set("GNOMON_POOLER"))


def _is_set(name: str) -> bool:
    text = environment().get(name, "")
    if text.lower() in _YES:
        return True
    if text.lower() in _NO:
        return False
    raise DefinitionError("must be true or false", where=name, got=text, hint="write true")


def _shared(database: str | None, schema: str | None, pooler: bool) -> SharedDatabase:
    found = _named(database, schema, pooler)
    if found is None:
        raise DefinitionError(
            "must be given",
            where="database",
            got=None,
            hint="write --database postgresql://..., or use gnomon up for one machine",
        )
    return found


def _need_extra() -> None:
    try:
        import fastapi  # noqa: F401
        import httpx2  # noqa: F401
        import jwt  # noqa: F401
        import pydantic_settings  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("the service", extra="service") from error


def _welcome(data: Path, database: SharedDatabase | None, token_file: Path, url: str) -> str:
    where = f"its data in {data}/"
    if database is not None:
        where = f"its ledger in {printable(database.place)}, its token in {data}/"
    token = shlex.quote(str(token_file))
    at = "" if url == DEFAULT_URL else f" --url {url}"
    shown = "" if token_file == DEFAULT_TOKEN else f" --token-file {token}"
    return (
        f"Gnomon is up at {url}/ with {where}; ctrl-C stops it.\n"
        "See the schedules, and what became of them:\n"
        f'  curl -sH "Authorization: Bearer $(cat {token})" {url}/schedules\n'
        f"  gnomon schedule list{at}{shown}\n"
    )
