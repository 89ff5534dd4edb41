"""
The program `gnomon`: its commands and options, its exit codes, and what happens when it goes wrong.

Exit code 0 means that there is an answer, also when the answer is that there is none; 1 that the
input is invalid, or that an examination found something; 2 that the system failed, for example
that a file cannot be read.

Spec: CLI-1 to CLI-5.
"""

import os
import platform
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from errno import EBADF
from importlib.metadata import PackageNotFoundError, version
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.check_command import check_command
from gnomon.cli.decision_view import decision_text
from gnomon.cli.ledger_commands import doctor_command, history_command, run_command
from gnomon.cli.occurrences import describe_text, next_text
from gnomon.cli.preview import preview_text
from gnomon.cli.problem import (
    LocatedError,
    describe_problem,
    store_problem,
    system_problem,
    usage_problem,
)
from gnomon.cli.reading import read
from gnomon.cli.schedule_file import load_schedules
from gnomon.cli.screen import output
from gnomon.core.civil.calendar import HORIZON_END, HORIZON_START
from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.core.civil.zone import tzdata_version
from gnomon.core.decision import decide
from gnomon.errors import (
    DefinitionError,
    IncompatibleStateError,
    MissingExtraError,
    StoreError,
)
from gnomon.shell.clock import Clock, SystemClock

__all__ = ["COUNT_MAX", "app", "main"]

COUNT_MAX = 1_000

_OUTPUT = "standard output"
FINE, INVALID, SYSTEM, INTERRUPTED = 0, 1, 2, 130

# Typer brings its own copy of click in newer versions, so the class is found by what is public.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="gnomon",
    help="Gnomon: when does it run, did it run, and why not.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

ExpressionArgument = Annotated[
    str,
    typer.Argument(
        metavar="EXPR",
        help='A cron expression in quotes, "every DURATION" or "once INSTANT".',
        show_default=False,
    ),
]
ZoneOption = Annotated[
    str, typer.Option("--zone", metavar="ZONE", help="A zone of the IANA database.")
]
DialectOption = Annotated[
    str | None,
    typer.Option("--dialect", metavar="NAME", help="standard (the default) or posix."),
]
DstOption = Annotated[
    str | None,
    typer.Option(
        "--dst",
        metavar="POLICY",
        help="strict, vixie or civil; left out, vixie, or strict for the dialect posix.",
    ),
]
AfterOption = Annotated[
    str | None,
    typer.Option("--after", metavar="INSTANT", help="RFC 3339 with an offset; left out, now."),
]
CountOption = Annotated[
    str,
    typer.Option("--count", metavar="N", help=f"How many occurrences to show, 1 to {COUNT_MAX}."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def main(arguments: Sequence[str] | None = None, *, clock: Clock | None = None) -> int:
    """Run the program and give its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an odd locale is no reason to fail
    return _run(arguments, clock or SystemClock())


def _run(arguments: Sequence[str] | None, clock: Clock) -> int:
    try:
        result = app(arguments, prog_name="gnomon", standalone_mode=False, obj=clock)
        if isinstance(result, str):
            _print(result)
    except (DefinitionError, LocatedError) as error:
        return _fail(describe_problem(error), INVALID)
    except _UsageError as error:
        return _fail(usage_problem(error), INVALID)
    except (StoreError, IncompatibleStateError, MissingExtraError) as error:
        return _fail(store_problem(error), SYSTEM)
    except BrokenPipeError:  # whoever read the output has seen enough
        _forget_output()
        return FINE
    except SystemExit:  # the same, for what typer prints by itself
        return FINE
    except OSError as error:
        _forget_output()
        return _fail(system_problem(error), SYSTEM)
    except typer.Abort:
        return _fail("", INTERRUPTED)
    except Exception as error:
        traceback.print_exc()
        return _fail(f"error: this is a bug in Gnomon ({type(error).__name__})\n", SYSTEM)
    return result if isinstance(result, int) else FINE


def _print(text: str) -> None:
    stream = output()
    if stream is None:
        raise OSError(EBADF, "is closed", _OUTPUT)
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, _OUTPUT) from error


def _forget_output() -> None:
    """Drop what cannot be written, or Python would try again at exit and complain."""
    stream = output()
    if stream is not None:
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fail(message: str, code: int) -> int:
    with suppress(OSError, AttributeError):  # full, or None when closed; the exit code remains
        sys.stderr.write(message)
    return code


def _show_version(wanted: bool) -> None:
    if wanted:
        try:
            number = version("gnomon")
        except PackageNotFoundError:  # run from a source tree that was never installed
            number = "(not installed)"
        typer.echo(
            f"gnomon {number} (tzdata {tzdata_version()}, Python {platform.python_version()})"
        )
        raise typer.Exit


@app.callback(invoke_without_command=True)
def program(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> str | None:
    """Gnomon: when does it run, did it run, and why not."""
    return None if context.invoked_subcommand else context.get_help() + "\n"


@app.command("next")
def next_command(
    context: typer.Context,
    expression: ExpressionArgument,
    zone: ZoneOption = "UTC",
    dialect: DialectOption = None,
    dst: DstOption = None,
    after: AfterOption = None,
    count: CountOption = "5",
    as_json: JsonOption = False,
) -> str:
    """Show the next occurrences of an expression."""
    reading = read(expression, zone=zone, dialect=dialect, dst=dst)
    return next_text(reading, after=_after(after, context), count=_count(count), as_json=as_json)


@app.command("describe")
def describe_command(
    expression: ExpressionArgument,
    zone: ZoneOption = "UTC",
    dialect: DialectOption = None,
    dst: DstOption = None,
    as_json: JsonOption = False,
) -> str:
    """Say in English what an expression means."""
    return describe_text(read(expression, zone=zone, dialect=dialect, dst=dst), as_json=as_json)


@app.command("decide")
def decide_command(
    identity: Annotated[
        str, typer.Option("--identity", metavar="TEXT", help="The stable name of the schedule.")
    ],
    nominal: Annotated[
        str, typer.Option("--nominal", metavar="INSTANT", help="The nominal instant, RFC 3339.")
    ],
    zone: ZoneOption = "UTC",
    window: Annotated[
        str,
        typer.Option(
            "--window", metavar="MODE,DURATION", help="after, around or before, and a length."
        ),
    ] = "after,0s",
    dist: Annotated[
        str,
        typer.Option(
            "--dist",
            metavar="NAME[,KEY=VALUE...]",
            help="uniform, skewEarly, skewLate, normal or exponential.",
        ),
    ] = "uniform",
    seed: Annotated[
        str, typer.Option("--seed", metavar="STRATEGY", help="stable, daily or weekly.")
    ] = "stable",
    salt: Annotated[str, typer.Option("--salt", metavar="TEXT", help="Changes every draw.")] = "",
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="SPEC", help="What is allowed, e.g. hours=9-17; may be repeated."
        ),
    ] = None,
    avoid: Annotated[
        list[str] | None,
        typer.Option(
            "--avoid",
            metavar="SPEC",
            help="What is not allowed, e.g. dow=sat,sun; may be repeated.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> str:
    """Show which second of its window a period runs at, and why."""
    decision = decide(
        identity=identity,
        nominal_at=_nominal(nominal),
        zone=zone,
        window=window,
        distribution=dist,
        seed=seed,
        salt=salt,
        only=";".join(only) if only else None,
        avoid=";".join(avoid) if avoid else None,
    )
    return decision_text(decision, as_json=as_json)


@app.command("preview")
def preview_command(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A file of schedules, TOML or YAML.", show_default=False
        ),
    ],
    after: AfterOption = None,
    count: CountOption = "3",
    as_json: JsonOption = False,
) -> str:
    """Show every schedule of a file with its next occurrences."""
    if not file:  # which the system would take for the current directory
        raise DefinitionError(
            "must not be empty", where="file", got=file, hint="name a TOML file of schedules"
        )
    entries, number = load_schedules(Path(file)), _count(count)
    return preview_text(entries, after=_after(after, context), count=number, as_json=as_json)


app.command("run")(run_command)
app.command("history")(history_command)
app.command("doctor")(doctor_command)
app.command("check")(check_command)


def _after(text: str | None, context: typer.Context) -> datetime:
    if text is not None:
        return parse_instant(text, where="after")
    clock: Clock = context.obj
    return clock.now()


def _count(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= COUNT_MAX:
        return int(text)
    raise DefinitionError(
        f"must be a whole number from 1 to {COUNT_MAX}", where="count", got=text,
        hint="write e.g. 10",
    )  # fmt: skip


def _nominal(text: str) -> datetime:
    at = parse_instant(text, where="nominal")
    if not HORIZON_START <= to_epoch(at) < HORIZON_END:
        raise DefinitionError(
            "must lie from 1970 to 2200", where="nominal", got=text,
            hint="write e.g. 2026-03-01T00:00:00Z",
        )  # fmt: skip
    return at
