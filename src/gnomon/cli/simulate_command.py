"""
The command that lets things happen before they happen: `gnomon simulate`.

With a file of tasks and an outage it says which runs happen, late or not at all. Without a file it
lets the scheduler live through random worlds full of trouble, and judges it by the theory.

Spec: SIMULATE-1 to SIMULATE-5.
"""

import sys
from datetime import timedelta

import click

from gnomon.cli.click_parts import CliCommand, argument
from gnomon.cli.options import clock_of, json_option, read_file, read_length_ms
from gnomon.cli.screen import say
from gnomon.core.civil.instant import from_epoch
from gnomon.errors import DefinitionError
from gnomon.errors.root import LocatedError

__all__ = ["simulate_command"]

SEEDS_MAX = 100_000
HOURS_MAX = 10_000
_MS = timedelta(milliseconds=1)


@click.command("simulate", cls=CliCommand)
@argument(
    "file", required=False, metavar="[FILE]",
    help="Tasks: TOML, or Python that makes a list of registrations.",
)  # fmt: skip
@click.option("--down", metavar="A..B", help="When the program is down: 01:55..03:10.")
@click.option("--date", "day", metavar="DATE", help="The day of A; left out, today.")
@click.option("--zone", default="UTC", metavar="ZONE", help="The zone of cron texts and of A..B.")
@click.option("--around", default="1h", metavar="DURATION", help="How long before and after.")
@click.option("--takes", default="0s", metavar="DURATION", help="How long each run takes.")
@click.option("--seeds", type=int, metavar="N", help="Without FILE: how many random worlds.")
@click.option(
    "--hours", type=int, default=24, metavar="H", help="Without FILE: how long each world is."
)
@click.option(
    "--first-seed", type=int, default=0, metavar="N", help="Without FILE: where to begin."
)
@json_option
@click.pass_context
def simulate_command(
    context: click.Context, file: str | None, down: str | None, day: str | None, zone: str,
    around: str, takes: str, seeds: int | None, hours: int, first_seed: int, as_json: bool,
) -> int:  # fmt: skip
    """Say what an outage does to your tasks, or put the scheduler through random worlds."""
    if file is None:
        if down is not None or seeds is None:
            raise DefinitionError(
                "needs a file of tasks and --down, or --seeds", where="simulate", got="neither",
                hint="write gnomon simulate tasks.toml --down 01:55..03:10, "
                "or gnomon simulate --seeds 10 --hours 24",
            )  # fmt: skip
        return _random_worlds(seeds, hours, first_seed, as_json=as_json)
    if down is None or seeds is not None:
        raise DefinitionError(
            "needs the time at which the program is down, and no --seeds", where="down",
            got="nothing" if down is None else down, hint="write e.g. --down 01:55..03:10",
        )  # fmt: skip
    return _outage(context, file, down, day, zone, around, takes, as_json=as_json)


def _outage(
    context: click.Context, file: str, down: str, day: str | None, zone: str, around: str,
    takes: str, *, as_json: bool,
) -> int:  # fmt: skip
    from gnomon.cli.simulate_input import load_tasks, read_day, read_outage
    from gnomon.cli.simulate_view import outage_text
    from gnomon.simulation.declarative.outage import what_happens

    now = from_epoch(clock_of(context).now_ms() // 1000)
    outage = read_outage(
        down, day=read_day(day, now=now, zone=zone), zone=zone,
        around=read_length_ms(around, where="around") * _MS,
    )  # fmt: skip
    length = read_length_ms(takes, where="takes") * _MS
    path = read_file(file)
    try:
        tasks = load_tasks(path, zone=zone)
    except DefinitionError as error:
        raise LocatedError(error, place=str(path)) from error
    found, starts = what_happens(tasks, outage, zone=zone, takes=length)
    say(outage_text(found, starts, outage, zone=zone, as_json=as_json), nl=False)
    return 0


def _random_worlds(seeds: int, hours: int, first_seed: int, *, as_json: bool) -> int:
    from gnomon.cli.simulate_view import worlds_text
    from gnomon.simulation.declarative.plan import World, draw_spec
    from gnomon.simulation.declarative.world import SCENARIO
    from gnomon.simulation.kit.campaign import Tally

    for value, most, where in ((seeds, SEEDS_MAX, "seeds"), (hours, HOURS_MAX, "hours")):
        if not 1 <= value <= most:
            raise DefinitionError(
                f"must be a whole number from 1 to {most}", where=where, got=value,
                hint="write e.g. 10",
            )  # fmt: skip
    found = Tally()
    for seed in range(first_seed, first_seed + seeds):
        spec = draw_spec(World.LONG, seed, tasks=20, length_ms=hours * 3_600_000)
        SCENARIO.tally([spec], into=found)
        _progress(found.worlds, seeds)
    say(worlds_text(found, as_json=as_json), nl=False)
    return 1 if found.troubles else 0


def _progress(done: int, total: int) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        end = "\n" if done == total else ""
        sys.stderr.write(f"\r{done} of {total} worlds{end}")
        sys.stderr.flush()
