"""
Advice: what can be meant and probably is not.

Each warning names the job's place, what would happen, and what to write instead. Which periods lie
ahead depends on `now`, which is an argument.

Spec: KRONTAB-20, KRONTAB-45.
"""

import re
from itertools import islice, pairwise

from gnomon.apps.krond.krontab.draft import Piece
from gnomon.apps.krond.krontab.problem import Problem, Problems
from gnomon.apps.krond.krontab.reader import Entry, Krontab
from gnomon.core.recurrence import Boot

__all__ = ["PERIODS_MAX", "advise"]

PERIODS_MAX = 100
"""How many periods ahead are looked at."""

_SHELL_SIGNS = re.compile(r"\|\|?|&&?|;|[<>]|[0-9]>|\$[A-Za-z_({].*|`.*|~.*|.*[*?].*")


def advise(krontab: Krontab, *, now: int) -> tuple[Problem, ...]:
    """The warnings about a file, in the order of their places; `now` in epoch seconds."""
    problems = Problems()
    if not krontab.entries and not krontab.errors:
        problems.warn(
            Piece("", 1, 1), "file", "has no jobs",
            hint="write e.g. 0 3 * * * name=backup command=/usr/bin/backup",
        )  # fmt: skip
    for entry in krontab.entries:
        _about_command(entry, problems)
        _about_periods(entry, now, problems)
    _about_machines(krontab, problems)
    return tuple(problems.found)


def _about_command(entry: Entry, problems: Problems) -> None:
    execution = entry.job.execution
    place = _place(entry, "command")
    program = execution.argv[0]
    if "/" in program and not program.startswith("/"):
        problems.warn(
            place, "command", "depends on the directory it is started in", got=program,
            hint="write the absolute path of the program",
        )  # fmt: skip
    if not execution.shell:
        for word in execution.arguments:
            if _SHELL_SIGNS.fullmatch(word):
                problems.warn(
                    place, "command", "has a word that only a shell would understand", got=word,
                    hint="add shell=true, or leave the word out",
                )  # fmt: skip
                break


def _about_periods(entry: Entry, now: int, problems: Problems) -> None:
    schedule, place = entry.job.schedule, _place(entry, "schedule")
    if isinstance(schedule.recurrence, Boot):
        return
    nominals = list(islice(schedule.recurrence.iterate_epochs(now), PERIODS_MAX))
    if not nominals:
        problems.warn(place, "schedule", "never occurs again", hint="remove the job, or mend it")
        return
    if all(schedule.decider.choose(nominal) is None for nominal in nominals):
        problems.warn(
            _place(entry, "only", "avoid"), "constraints",
            f"leave no second in the windows of the next {len(nominals)} periods",
            hint="widen the window, or the constraints",
        )  # fmt: skip
    gaps = [later - earlier for earlier, later in pairwise(nominals)]
    if gaps and schedule.decider.window.span >= min(gaps):
        problems.warn(
            _place(entry, "win"), "window", "is longer than the time between periods",
            hint="periods may run close together or out of order; shorten the window",
        )  # fmt: skip


def _about_machines(krontab: Krontab, problems: Problems) -> None:
    """One warning for a file: the same file on many machines is the same seconds on all of them."""
    for entry in krontab.entries:
        decider = entry.job.schedule.decider
        if decider.window.span and not decider.salt:
            problems.warn(
                _place(entry, "win"), "window",
                "is the same second on every machine that has this file, as there is no salt",
                hint="write @seed(stable,salt=%H) for a second of its own on each machine, or any"
                     " other salt for the same on all",
            )  # fmt: skip
            return


def _place(entry: Entry, *names: str) -> Piece:
    for name in names:
        if name in entry.places:
            return Piece("", *entry.places[name])
    return Piece("", entry.line, 1)
