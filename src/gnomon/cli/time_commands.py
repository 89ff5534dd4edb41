"""
The commands that ask about time: next, describe, decide, preview.

Each imports what answers it when it is called: a user who asks for the next occurrence does not
wait until everything that runs schedules is loaded.

Spec: CLI-7, CLI-12, CLI-14.
"""

from datetime import datetime

import click

from gnomon.cli.command import Command
from gnomon.cli.options import (
    after_option,
    count_option,
    dialect_option,
    dst_option,
    expression_argument,
    file_argument,
    json_option,
    read_after,
    read_count,
    read_file,
    zone_option,
)
from gnomon.core.civil.calendar import HORIZON_END, HORIZON_START
from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.errors import DefinitionError

__all__ = ["decide_command", "describe_command", "next_command", "preview_command"]


@click.command("next", cls=Command)
@expression_argument
@zone_option
@dialect_option
@dst_option
@after_option
@count_option("5")
@json_option
@click.pass_context
def next_command(
    context: click.Context, expression: str, zone: str, dialect: str | None, dst: str | None,
    after: str | None, count: str, as_json: bool,
) -> str:  # fmt: skip
    """Show the next occurrences of an expression."""
    from gnomon.cli.occurrences import next_text
    from gnomon.core.reading import read

    reading = read(expression, zone=zone, dialect=dialect, dst=dst)
    return next_text(
        reading, after=read_after(after, context), count=read_count(count), as_json=as_json
    )


@click.command("describe", cls=Command)
@expression_argument
@zone_option
@dialect_option
@dst_option
@json_option
def describe_command(
    expression: str, zone: str, dialect: str | None, dst: str | None, as_json: bool
) -> str:
    """Say in English what an expression means."""
    from gnomon.cli.occurrences import describe_text
    from gnomon.core.reading import read

    return describe_text(read(expression, zone=zone, dialect=dialect, dst=dst), as_json=as_json)


@click.command("decide", cls=Command)
@click.option("--identity", required=True, metavar="TEXT", help="The stable name of the schedule.")
@click.option("--nominal", required=True, metavar="INSTANT", help="The nominal instant, RFC 3339.")
@zone_option
@click.option(
    "--window", default="after,0s", metavar="MODE,DURATION",
    help="after, around or before, and a length.",
)  # fmt: skip
@click.option(
    "--dist", default="uniform", metavar="NAME[,KEY=VALUE...]",
    help="uniform, skewEarly, skewLate, normal or exponential.",
)  # fmt: skip
@click.option("--seed", default="stable", metavar="STRATEGY", help="stable, daily or weekly.")
@click.option("--salt", default="", show_default=False, metavar="TEXT", help="Changes every draw.")
@click.option(
    "--only", multiple=True, metavar="SPEC",
    help="What is allowed, e.g. hours=9-17; may be repeated.",
)  # fmt: skip
@click.option(
    "--avoid", multiple=True, metavar="SPEC",
    help="What is not allowed, e.g. dow=sat,sun; may be repeated.",
)  # fmt: skip
@json_option
def decide_command(
    identity: str, nominal: str, zone: str, window: str, dist: str, seed: str, salt: str,
    only: tuple[str, ...], avoid: tuple[str, ...], as_json: bool,
) -> str:  # fmt: skip
    """Show which second of its window a period runs at, and why."""
    from gnomon.cli.decision_view import decision_text
    from gnomon.core.decision import decide

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


@click.command("preview", cls=Command)
@file_argument
@after_option
@count_option("3")
@json_option
@click.pass_context
def preview_command(
    context: click.Context, file: str, after: str | None, count: str, as_json: bool
) -> str:
    """Show every schedule of a file with its next occurrences."""
    from gnomon.apps.run.schedule_file import load_schedules
    from gnomon.cli.preview import preview_text

    entries, number = load_schedules(read_file(file)), read_count(count)
    return preview_text(entries, after=read_after(after, context), count=number, as_json=as_json)


def _nominal(text: str) -> datetime:
    at = parse_instant(text, where="nominal")
    if not HORIZON_START <= to_epoch(at) < HORIZON_END:
        raise DefinitionError(
            "must lie from 1970 to 2200", where="nominal", got=text,
            hint="write e.g. 2026-03-01T00:00:00Z",
        )  # fmt: skip
    return at
