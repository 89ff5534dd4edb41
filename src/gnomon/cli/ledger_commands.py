"""
The commands that work with a ledger: run, history, doctor, migrate-store.

Each imports what does its work when it is called, as the commands about time do. Their exit codes
are those of the program: 1 when an examination found something, 130 when a run was told twice to
stop.

Spec: CLI-17 to CLI-33, CLI-37, CLI-38.
"""

from pathlib import Path

import click

from gnomon.cli.click_parts import CliCommand, argument
from gnomon.cli.options import (
    clock_of,
    database_option,
    file_argument,
    json_option,
    ledger_file_argument,
    metrics_option,
    pooler_option,
    read_count,
    read_database,
    read_file,
    read_keep_ms,
    read_length_ms,
    read_metrics,
    schema_option,
    store_option,
)
from gnomon.cli.screen import is_terminal, say
from gnomon.compose.shared_database import SharedDatabase, checked_database

__all__ = [
    "ROWS_MAX",
    "doctor_command",
    "history_command",
    "ledger_keep_ms",
    "migrate_store_command",
    "run_command",
]

replan_option = click.option(
    "--replan", is_flag=True, help="Plan again first what a clock that was ahead has judged."
)
KEEP_MIN_MS = 3_600_000
"""The shortest time for which a ledger remembers what has ended."""
FILE_ENDINGS = (".toml", ".yaml", ".yml")
"""How the name of a file of schedules ends."""
SERVICE_LEDGER = Path(".gnomon", "service.sqlite3")
"""Where `gnomon up` has its ledger when nothing else is said."""
ROWS_MAX = 10_000
"""The most rows of one schedule that are shown."""


@click.command("run", cls=CliCommand)
@file_argument
@store_option
@database_option
@schema_option
@pooler_option
@click.option("--once", is_flag=True, help="Start what is due now, wait for it, and exit.")
@click.option("--for", "length", metavar="DURATION", help="Stop after this long.")
@click.option(
    "--grace",
    default="30s",
    metavar="DURATION",
    help="How long runs may take to end when stopping.",
)
@click.option(
    "--keep",
    default="2160h",
    metavar="DURATION",
    help="How long to keep what has ended; forever to keep everything.",
)
@click.option("--json-log", is_flag=True, help="Log lines as JSON, and no table.")
@metrics_option
@replan_option
@click.pass_context
def run_command(
    context: click.Context, file: str, store: Path | None, database: str | None, schema: str | None,
    pooler: bool, once: bool, length: str | None, grace: str, keep: str, json_log: bool,
    metrics: str | None, replan: bool,
) -> int:  # fmt: skip
    """Run the schedules of a file until stopped, and record what became of every period."""
    from gnomon.apps.run.schedule_file import load_schedules
    from gnomon.compose.run import RunOptions, run_schedules

    shared = _shared(store, database, schema, pooler)
    _check_replan(replan, shared)
    path = read_file(file)
    options = RunOptions(
        file=path,
        store=store or _store_beside(path),
        database=shared,
        once=once,
        length_ms=None if length is None else read_length_ms(length, where="for"),
        grace_ms=read_length_ms(grace, where="grace"),
        keep_ms=ledger_keep_ms(keep),
        json_log=json_log,
        metrics=read_metrics(metrics),
        replan=replan,
    )
    entries, clock, screen = load_schedules(path, to_run=True), clock_of(context), None
    if is_terminal() and not json_log:
        from gnomon.cli.live_table import live_screen  # it needs rich

        screen = live_screen(entries, clock)
    return 0 if run_schedules(entries, options, clock, screen) else 130


def _check_replan(replan: bool, shared: SharedDatabase | None) -> None:
    if replan and shared is not None:
        from gnomon.errors import DefinitionError

        raise DefinitionError(
            "cannot be given with --database",
            where="replan",
            got="--replan",
            hint="leave it out: workers whose clocks are right share a database",
        )


@click.command("history", cls=CliCommand)
@ledger_file_argument
@argument("name", required=False, metavar="[NAME]", help="One schedule; left out, every schedule.")
@store_option
@database_option
@schema_option
@pooler_option
@click.option(
    "--count", default="20", metavar="N", help=f"How many rows of each schedule, 1 to {ROWS_MAX}."
)
@json_option
def history_command(
    file: str | None, name: str | None, store: Path | None, database: str | None,
    schema: str | None, pooler: bool, count: str, as_json: bool,
) -> str:  # fmt: skip
    """Show what became of the periods, newest first."""
    from gnomon.cli.ledger_view import history_of, history_text
    from gnomon.cli.problem import printable

    shared = _shared(store, database, schema, pooler)
    if (store or shared) is not None and name is None and not _is_of_database(file, shared):
        file, name = None, file  # the ledger is named, so that the only argument is a schedule
    limit = read_count(count, most=ROWS_MAX)
    if shared is not None:
        from gnomon.cli.shared_view import shared_history  # it needs an extra

        return history_text(shared_history(shared, name, limit), as_json=as_json)
    history = history_of(_ledger(file, store), name=name, limit=limit)
    if history.moved_to is not None:
        moved_to = printable(history.moved_to)
        say(f"note: the ledger has moved to {moved_to}; what came after is there", err=True)
    return history_text(history, as_json=as_json)


@click.command("doctor", cls=CliCommand)
@ledger_file_argument
@store_option
@database_option
@schema_option
@pooler_option
@json_option
def doctor_command(
    file: str | None, store: Path | None, database: str | None, schema: str | None, pooler: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Examine a ledger: say what is wrong with it and how to mend it."""
    shared = _shared(store, database, schema, pooler)
    if shared is not None:
        from gnomon.cli.shared_view import shared_doctor_text  # it needs an extra

        text, well = shared_doctor_text(shared, as_json=as_json)
    else:
        from gnomon.cli.ledger_view import doctor_text

        text, well = doctor_text(_ledger(file, store), as_json=as_json)
    say(text, nl=False)
    return 0 if well else 1


@click.command("migrate-store", cls=CliCommand)
@argument("store", metavar="SQLITE", help="The file of a ledger.")
@argument("database", metavar="POSTGRES", help="Where it goes: a URL.")
@schema_option
@pooler_option
def migrate_store_command(store: str, database: str, schema: str | None, pooler: bool) -> str:
    """Move a ledger from a file to PostgreSQL; the file is not run any more."""
    from gnomon.cli.shared_view import move_text  # it needs an extra

    return move_text(read_file(store), checked_database(database, schema, pooler))


def ledger_keep_ms(text: str) -> int | None:
    """How long a ledger keeps finished rows; None for ever."""
    return read_keep_ms(text, least_ms=KEEP_MIN_MS, least="an hour")


def _shared(
    store: Path | None, database: str | None, schema: str | None, pooler: bool
) -> SharedDatabase | None:
    """The ledger on PostgreSQL that is meant, unless one in a file is."""
    if store is not None and database is not None:
        raise click.BadParameter("name a ledger with --store or with --database, not with both")
    return read_database(database, schema, pooler)


def _is_of_database(file: str | None, shared: SharedDatabase | None) -> bool:
    """Whether the only argument is the file that is run on a database, and not a schedule."""
    return shared is not None and file is not None and file.endswith(FILE_ENDINGS)


def _ledger(file: str | None, store: Path | None) -> Path:
    """The ledger that is named, or that belongs to the file or service that is named."""
    if file is None and store is None and SERVICE_LEDGER.exists():
        return SERVICE_LEDGER
    if (file is None) == (store is None):
        raise click.BadParameter(
            "name either a file of schedules, or a ledger with --store or --database, or the "
            "directory of a service"
        )
    if store is not None:
        return store
    path = read_file(file or "")
    return path / SERVICE_LEDGER.name if path.is_dir() else _store_beside(path)


def _store_beside(file: Path) -> Path:
    return file.with_suffix(".sqlite3")
