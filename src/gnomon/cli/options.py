"""
The arguments and options that commands share, and how their texts become values.

A text that is not what it should be is a `DefinitionError` that names the option, like every other
wrong input, and not a complaint of the library that reads the command line.

Spec: CLI-3, CLI-4, CLI-38.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon.cli.click_parts import FC, PATH, argument
from gnomon.core.civil.duration import parse_duration
from gnomon.core.civil.instant import from_epoch, parse_instant
from gnomon.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gnomon.cli.screen import Json
    from gnomon.compose.shared_database import SharedDatabase
    from gnomon.ports import Clock

__all__ = [
    "COUNT_MAX",
    "after_option",
    "answer_text",
    "clock_of",
    "count_option",
    "database_option",
    "dialect_option",
    "dst_option",
    "expression_argument",
    "file_argument",
    "json_option",
    "ledger_file_argument",
    "metrics_option",
    "pooler_option",
    "read_after",
    "read_count",
    "read_database",
    "read_file",
    "read_keep_ms",
    "read_length_ms",
    "read_metrics",
    "schema_option",
    "store_option",
    "zone_option",
]

COUNT_MAX = 1_000
"""The most occurrences that are shown."""
expression_argument = argument(
    "expression",
    metavar="EXPR",
    help='A cron expression in quotes, "every DURATION" or "once INSTANT".',
)
zone_option = click.option(
    "--zone", default="UTC", metavar="ZONE", help="A zone of the IANA database."
)
dialect_option = click.option("--dialect", metavar="NAME", help="standard (the default) or posix.")
dst_option = click.option(
    "--dst",
    metavar="POLICY",
    help="strict, vixie or civil; left out, vixie, or strict for the dialect posix.",
)
after_option = click.option(
    "--after", metavar="INSTANT", help="RFC 3339 with an offset; left out, now."
)
database_option = click.option(
    "--database", metavar="URL", help="A ledger on PostgreSQL, which many machines can share."
)
schema_option = click.option(
    "--schema", metavar="NAME", help="The schema of the database; left out, gnomon."
)
pooler_option = click.option(
    "--pooler",
    is_flag=True,
    help="There is a pooler in between that has a connection for each transaction.",
)


def count_option(default: str) -> Callable[[FC], FC]:
    return click.option(
        "--count",
        default=default,
        metavar="N",
        help=f"How many occurrences to show, 1 to {COUNT_MAX}.",
    )


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
metrics_option = click.option(
    "--metrics",
    metavar="[HOST:]PORT",
    help="Serve metrics for Prometheus there, at /metrics; loopback without a host.",
)
file_argument = argument("file", metavar="FILE", help="A file of schedules, TOML or YAML.")
ledger_file_argument = argument(
    "file",
    required=False,
    metavar="[FILE]",
    help="The file that is run; not with --store, not needed with --database.",
)
store_option = click.option(
    "--store",
    type=PATH,
    metavar="PATH",
    help="The ledger; left out, FILE with the ending .sqlite3.",
)


def answer_text(text: str, record: "Mapping[str, Json]", *, as_json: bool) -> str:
    """What a command says: its text, or with `--json` the same as a record."""
    if not as_json:
        return text
    from gnomon.cli.screen import render_json

    return render_json(record)


def clock_of(context: click.Context) -> "Clock":
    """The clock that the program was started with."""
    clock: Clock = context.obj
    return clock


def read_metrics(text: str | None) -> tuple[str, int] | None:
    """Where to serve metrics; None for nowhere."""
    from gnomon.shell.http.listening import read_address  # a question about time needs none of it

    if text is None:
        return None
    return read_address(text, where="metrics", example="9464 or 10.0.0.5:9464")


def read_after(text: str | None, context: click.Context) -> datetime:
    """The instant after which to look; the present one when none was given."""
    if text is not None:
        return parse_instant(text, where="after")
    return from_epoch(clock_of(context).now_ms() // 1000)


def read_count(text: str, *, most: int = COUNT_MAX, where: str = "count") -> int:
    if text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most:
        return int(text)
    raise DefinitionError(
        f"must be a whole number from 1 to {most}", where=where, got=text, hint="write e.g. 10"
    )


def read_file(text: str) -> Path:
    """The path of a file; an empty text would be the current directory to the system."""
    path = Path(text)
    if not path.name:
        raise DefinitionError(
            "must be the name of a file", where="file", got=text, hint="name a file of schedules"
        )
    return path


def read_keep_ms(text: str, *, least_ms: int, least: str) -> int | None:
    """How long what is over is kept; None for ever."""
    if text == "forever":
        return None
    keep_ms = read_length_ms(text, where="keep")
    if keep_ms < least_ms:
        raise DefinitionError(
            f"must be at least {least}",
            where="keep",
            got=text,
            hint="write e.g. 2160h for 90 days, or forever",
        )
    return keep_ms


def read_length_ms(text: str, *, where: str) -> int:
    length = parse_duration(text, where=where)
    if length < timedelta(0):
        raise DefinitionError(
            "must not be negative", where=where, got=text, hint="write e.g. 90s or 15m"
        )
    return length // timedelta(milliseconds=1)


def read_database(url: str | None, schema: str | None, pooler: bool) -> "SharedDatabase | None":
    """The ledger on PostgreSQL that is meant; None when none is."""
    if url is None:
        if schema is not None or pooler:
            wrong = "--pooler" if schema is None else "--schema"
            raise click.BadParameter(f"{wrong} goes with --database, and there is none")
        return None
    from gnomon.compose.shared_database import checked_database

    return checked_database(url, schema, pooler)
