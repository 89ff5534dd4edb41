"""
The commands that ask about time: next, describe, decide, preview.

Each imports what answers it when it is called: a user who asks for the next occurrence does not
wait until everything that runs schedules is loaded.

Spec: CLI-7, CLI-12, CLI-14.
"""

from datetime import datetime
from typing import Annotated

import typer

from gnomon.cli.options import (
    AfterOption,
    CountOption,
    DialectOption,
    DstOption,
    ExpressionArgument,
    FileArgument,
    JsonOption,
    ZoneOption,
    read_after,
    read_count,
    read_file,
)
from gnomon.core.civil.calendar import HORIZON_END, HORIZON_START
from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.errors import DefinitionError

__all__ = ["decide_command", "describe_command", "next_command", "preview_command"]


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
    from gnomon.cli.occurrences import next_text
    from gnomon.core.reading import read

    reading = read(expression, zone=zone, dialect=dialect, dst=dst)
    return next_text(
        reading, after=read_after(after, context), count=read_count(count), as_json=as_json
    )


def describe_command(
    expression: ExpressionArgument,
    zone: ZoneOption = "UTC",
    dialect: DialectOption = None,
    dst: DstOption = None,
    as_json: JsonOption = False,
) -> str:
    """Say in English what an expression means."""
    from gnomon.cli.occurrences import describe_text
    from gnomon.core.reading import read

    return describe_text(read(expression, zone=zone, dialect=dialect, dst=dst), as_json=as_json)


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


def preview_command(
    context: typer.Context,
    file: FileArgument,
    after: AfterOption = None,
    count: CountOption = "3",
    as_json: JsonOption = False,
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
