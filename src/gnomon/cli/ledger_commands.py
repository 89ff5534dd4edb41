"""
The commands that work with a ledger: run, history, doctor.

Their exit codes are those of the program: 1 when an examination found something, 130 when a run was
told twice to stop.

Spec: CLI-17 to CLI-30.
"""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.doctor_view import doctor_text
from gnomon.cli.history_view import HISTORY_MAX, history_of, history_text, store_beside
from gnomon.cli.run_command import RunOptions, run_schedules
from gnomon.cli.schedule_file import load_schedules
from gnomon.core.civil.duration import parse_duration
from gnomon.errors import DefinitionError
from gnomon.shell.clock import SystemClock

__all__ = ["doctor_command", "history_command", "run_command"]

FileArgument = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="A file of schedules, TOML or YAML.", show_default=False),
]
StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store", metavar="PATH", help="The ledger; left out, FILE with the ending .sqlite3."
    ),
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database", metavar="URL", help="A ledger on PostgreSQL, which many machines can share."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def run_command(
    file: FileArgument,
    store: StoreOption = None,
    database: DatabaseOption = None,
    once: Annotated[
        bool, typer.Option("--once", help="Start what is due now, wait for it, and exit.")
    ] = False,
    length: Annotated[
        str | None, typer.Option("--for", metavar="DURATION", help="Stop after this long.")
    ] = None,
    grace: Annotated[
        str,
        typer.Option(
            "--grace", metavar="DURATION", help="How long runs may take to end when stopping."
        ),
    ] = "30s",
    json_log: Annotated[
        bool, typer.Option("--json-log", help="Log lines as JSON, and no table.")
    ] = False,
) -> int:
    """Run the schedules of a file until stopped, and record what became of every period."""
    _refuse_both(store, database)
    options = RunOptions(
        file=file,
        store=store or store_beside(file),
        database=database,
        once=once,
        length_ms=None if length is None else _length_ms(length, where="for"),
        grace_ms=_length_ms(grace, where="grace"),
        json_log=json_log,
    )
    entries = load_schedules(file, to_run=True)
    return 0 if run_schedules(entries, options, SystemClock()) else 130


def history_command(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="The file that is run; not with --store or --database.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="One schedule; left out, every schedule.", show_default=False
        ),
    ] = None,
    store: StoreOption = None,
    database: DatabaseOption = None,
    count: Annotated[
        int, typer.Option("--count", min=1, max=HISTORY_MAX, help="How many rows of each schedule.")
    ] = 20,
    as_json: JsonOption = False,
) -> str:
    """Show what became of the periods, newest first."""
    _refuse_both(store, database)
    if (store or database) and name is None and file is not None:
        file, name = None, str(file)  # the ledger is named, so the only argument is a schedule
    if database is not None:
        from gnomon.cli.shared_view import shared_history  # it needs an extra

        return history_text(shared_history(database, name, count), as_json=as_json)
    if store is None and file is None:
        raise typer.BadParameter("name a file of schedules, or a ledger with --store or --database")
    history = history_of(store or store_beside(file or Path()), name=name, limit=count)
    return history_text(history, as_json=as_json)


def doctor_command(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="The file that is run; not with --store or --database.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> int:
    """Examine a ledger: say what is wrong with it and how to mend it."""
    _refuse_both(store, database)
    if database is not None:
        from gnomon.cli.shared_view import shared_doctor_text  # it needs an extra

        text, well = shared_doctor_text(database, as_json=as_json)
    elif store is None and file is None:
        raise typer.BadParameter("name a ledger with --store or --database")
    else:
        text, well = doctor_text(store or store_beside(file or Path()), as_json=as_json)
    typer.echo(text, nl=False)
    return 0 if well else 1


def _refuse_both(store: Path | None, database: str | None) -> None:
    if store is not None and database is not None:
        raise typer.BadParameter("name a ledger with --store or with --database, not with both")


def _length_ms(text: str, *, where: str) -> int:
    length = parse_duration(text, where=where)
    if length < timedelta(0):
        raise DefinitionError(
            "must not be negative", where=where, got=text, hint="write e.g. 90s or 15m"
        )
    return length // timedelta(milliseconds=1)
