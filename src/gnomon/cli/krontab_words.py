"""
A job in words: when it runs, how its second is chosen, what happens when it cannot, what it starts.

Spec: KRONTAB-33.
"""

import shlex
from datetime import timedelta
from typing import assert_never
from urllib.parse import urlsplit

from gnomon.apps.krond.execution import Execution, SinkKind
from gnomon.apps.krond.job import Job
from gnomon.apps.krond.krontab.draft import AT_BOOT
from gnomon.cli.problem import printable
from gnomon.core.civil.duration import short_duration
from gnomon.core.civil.zone import load_zone
from gnomon.core.decision import (
    Constraint,
    Distribution,
    Placement,
    SeedStrategy,
    WindowRule,
    render_constraint,
)
from gnomon.core.decision.distribution import (
    Direction,
    Exponential,
    Normal,
    SkewEarly,
    SkewLate,
    Uniform,
)
from gnomon.core.reading import Reading
from gnomon.core.recurrence import Boot, Cron
from gnomon.core.schedule import Overlap

__all__ = ["job_rows", "reading_of"]

_CLAUSES = {
    "hours": "during the hours {}",
    "dow": "on {}",
    "dom": "on the days {} of the month",
    "months": "in {}",
    "between": "between {}",
    "date": "on {}",
    "dates": "on {}",
}
_SEEDS = {
    SeedStrategy.STABLE: "each period has a draw of its own, the same whenever it is asked for",
    SeedStrategy.DAILY: "all periods of a day share one draw",
    SeedStrategy.WEEKLY: "all periods of a week share one draw",
}


def reading_of(job: Job) -> Reading:
    """The schedule of a job as it was understood."""
    recurrence = job.schedule.recurrence
    assert isinstance(recurrence, Cron | Boot)
    text = AT_BOOT if isinstance(recurrence, Boot) else recurrence.expression.text
    return Reading(text=text, recurrence=recurrence, zone=load_zone(job.schedule.decider.zone))


def job_rows(job: Job) -> list[tuple[str, str]]:
    """Everything that a job says, as names and sentences."""
    decider = job.schedule.decider
    rows = [("identity", printable(job.identity)), *reading_of(job).to_rows()]
    at_boot = isinstance(job.schedule.recurrence, Boot)
    if not at_boot:
        rows.append(("window", _window(decider.window, decider.distribution)))
    if decider.window.span:
        salt = f"; salt {printable(decider.salt)}" if decider.salt else ""
        rows.append(("seed", f"{decider.seed}: {_SEEDS[decider.seed]}{salt}"))
    if decider.only is not None:
        rows.append(("only", _constraint(decider.only, " and ")))
    if decider.avoid is not None:
        rows.append(("never", _constraint(decider.avoid, " or ")))
    since = "krond has seen the boot" if at_boot else "the chosen second"
    rows += [("late", _deadline(job, since)), ("while active", _overlap(job))]
    if job.suspend:
        rows.append(("suspended", "yes: nothing is triggered, and no period is handled"))
    return rows + _process(job.execution) + _telling(job)


def _window(rule: WindowRule, distribution: Distribution) -> str:
    if not rule.span:
        return "none: it runs at the nominal second"
    length = short_duration(rule.length)
    match rule.placement:
        case Placement.AFTER:
            place = f"from the nominal time until {length} after it"
        case Placement.AROUND:
            half = short_duration(rule.length / 2)
            place = f"from {half} before the nominal time until {half} after it"
        case Placement.BEFORE:
            place = f"from {length} before the nominal time until it"
        case _:
            assert_never(rule.placement)
    return f"one second {place}; {_distribution(distribution)}"


def _distribution(distribution: Distribution) -> str:
    match distribution:
        case Uniform():
            return "each is as likely"
        case SkewEarly(shape=shape):
            return f"early ones are likelier (shape {shape:g})"
        case SkewLate(shape=shape):
            return f"late ones are likelier (shape {shape:g})"
        case Normal(mu=mu, sigma=sigma):
            around = "the middle or the nominal time" if mu is None else f"the {mu.value}"
            width = "" if sigma is None else f" (sigma {short_duration(sigma)})"
            return f"those near {around} are likelier{width}"
        case Exponential(rate=rate, direction=direction):
            side = "early" if direction is Direction.EARLY else "late"
            return f"{side} ones are far likelier (lambda {rate:g})"
        case _:
            assert_never(distribution)


def _constraint(constraint: Constraint, conjunction: str) -> str:
    clauses = (clause.partition("=") for clause in render_constraint(constraint).split(";"))
    return conjunction.join(_CLAUSES[kind].format(value) for kind, _, value in clauses)


def _deadline(job: Job, since: str) -> str:
    deadline = job.schedule.policy.deadline or timedelta(0)
    if not deadline:
        return "not allowed: a period that is not started in its chosen second is missed"
    return f"allowed up to {short_duration(deadline)} after {since}, then missed"


def _overlap(job: Job) -> str:
    match job.schedule.policy.overlap:
        case Overlap.ALLOW:
            return "allow: it is started beside the run that is active"
        case Overlap.REPLACE:
            grace = short_duration(job.execution.grace)
            return f"replace: the active run is ended first (TERM, after {grace} KILL)"
        case _:
            return "forbid: the period is skipped"


def _process(execution: Execution) -> list[tuple[str, str]]:
    command = execution.arguments[0] if execution.shell else shlex.join(execution.arguments)
    by = f" (read by {execution.shell})" if execution.shell else ""
    rows = [("executes", printable(f"{command}{by}"))]
    if execution.user or execution.group:
        group = f", group {execution.group}" if execution.group else ""
        rows.append(("as", f"{execution.user or 'the user of krond'}{group}"))
    if execution.cwd:
        rows.append(("in", printable(execution.cwd)))
    if execution.umask is not None:
        rows.append(("umask", f"{execution.umask:04o}"))
    if execution.timeout is not None:
        grace = short_duration(execution.grace)
        rows.append(
            ("time-out", f"{short_duration(execution.timeout)}, then TERM, after {grace} KILL")
        )
    for name, sink in (("stdout", execution.stdout), ("stderr", execution.stderr)):
        if sink.kind is not SinkKind.CAPTURE:
            rows.append((name, printable(str(sink))))
    if execution.env:
        # The names only: values are often secrets, and this is for reading aloud.
        rows.append(("env", " ".join(name for name, _ in execution.env)))
    return rows


def _place_of(url: str) -> str:
    """Whom an address speaks to; the rest of it is a secret."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    rest = "/..." if parts.path.strip("/") or parts.query else ""
    return f"{parts.scheme}://{host}{rest}"


def _telling(job: Job) -> list[tuple[str, str]]:
    rule, rows = job.notify, []
    whom = [*rule.mail, *([_place_of(rule.webhook)] if rule.webhook else [])]
    if whom:
        on = ", ".join(sorted(one.value for one in rule.on)) or "nothing"
        rows.append(("tells", printable(f"{', '.join(whom)} on {on}")))
    if rule.ping:
        rows.append(("pings", printable(_place_of(rule.ping))))
    if job.description:
        rows.append(("for", printable(job.description)))
    return rows
