"""
The options of `gnomon up`, `gnomon api` and `gnomon worker`.

Each imports what does its work when it is called; all need the extra `service`.

Spec: UP-1, HTTP-12.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.database_options import PoolerOption, SchemaOption, read_database
from gnomon.cli.options import MetricsOption, clock_of, read_metrics
from gnomon.compose.shared_database import SharedDatabase
from gnomon.errors import DefinitionError, MissingExtraError
from gnomon.shell.settings import environment

__all__ = ["api_command", "up_command", "worker_command"]

HostOption = Annotated[
    str | None, typer.Option("--host", metavar="ADDRESS", help="Where to listen; loopback.")
]
PortOption = Annotated[int | None, typer.Option("--port", metavar="N", help="8080.")]
JsonLogOption = Annotated[bool, typer.Option("--json-log", help="Log lines as JSON.")]
SharedOption = Annotated[
    str | None,
    typer.Option("--database", metavar="URL", help="The ledger on PostgreSQL."),
]

_YES, _NO = ("true", "1", "yes", "on"), ("", "false", "0", "no", "off")


def up_command(
    context: typer.Context,
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="Where the ledger and the token are.")
    ] = Path(".gnomon"),
    database: Annotated[
        str | None,
        typer.Option("--database", metavar="URL", help="A ledger on PostgreSQL, not a file."),
    ] = None,
    schema: SchemaOption = None,
    pooler: PoolerOption = False,
    host: HostOption = None,
    port: PortOption = None,
    no_samples: Annotated[
        bool, typer.Option("--no-samples", help="Leave an empty ledger empty.")
    ] = False,
    json_log: JsonLogOption = False,
) -> int:
    """Run API, worker and executor in one process, on this machine only, until stopped."""
    _need_extra()
    from gnomon.cli.service.up_command import UpOptions, run_up
    from gnomon.shell.http.http_settings import read_http_settings

    http = read_http_settings(loopback_only=True, host=host, port=port)
    options = UpOptions(
        data=data,
        database=_named(database, schema, pooler),
        http=http,
        samples=not no_samples,
        json_log=json_log,
    )
    return 0 if run_up(options, clock_of(context), _announce) else 130


def api_command(
    context: typer.Context,
    database: SharedOption = None,
    schema: SchemaOption = None,
    pooler: PoolerOption = False,
    access: Annotated[
        Path | None, typer.Option("--access", metavar="PATH", help="Who may ask.")
    ] = None,
    host: HostOption = None,
    port: PortOption = None,
    hosts: Annotated[
        str | None,
        typer.Option("--hosts", metavar="NAMES", help="Names it is asked under, by commas."),
    ] = None,
    tls_certificate: Annotated[
        Path | None, typer.Option("--tls-certificate", metavar="PATH", help="Serve HTTPS.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="PATH", help="Its key.")
    ] = None,
    tls_client_authority: Annotated[
        Path | None,
        typer.Option(
            "--tls-client-authority", metavar="PATH", help="Clients need its certificates."
        ),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen elsewhere without TLS.")
    ] = False,
    json_log: JsonLogOption = False,
) -> int:
    """Serve the HTTP API from a ledger on PostgreSQL, until stopped."""
    _need_extra()
    from gnomon.cli.service.up_command import run_api
    from gnomon.shell.http.http_settings import read_http_settings

    http = read_http_settings(
        access=access, host=host, port=port, hosts=hosts, tls_certificate=tls_certificate,
        tls_key=tls_key, tls_client_authority=tls_client_authority, insecure=insecure or None,
    )  # fmt: skip
    shared = _shared(database, schema, pooler)
    return 0 if run_api(shared, http, clock_of(context), json_log=json_log) else 130


def worker_command(
    context: typer.Context,
    database: SharedOption = None,
    schema: SchemaOption = None,
    pooler: PoolerOption = False,
    metrics: MetricsOption = None,
    json_log: JsonLogOption = False,
) -> int:
    """Start what is due, from a ledger on PostgreSQL, until stopped."""
    _need_extra()
    from gnomon.cli.service.up_command import run_worker

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
            "must be given", where="database", got=None,
            hint="write --database postgresql://..., or use gnomon up for one machine",
        )  # fmt: skip
    return found


def _need_extra() -> None:
    try:
        import fastapi  # noqa: F401
        import httpx  # noqa: F401
        import jwt  # noqa: F401
        import pydantic_settings  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("the service", extra="service") from error


def _announce(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
