"""
What the commands about krontab files show: problems, the next periods, and a job in words.

The words say when a job runs, how its second is chosen, what happens when it cannot, and what it
starts. The same as JSON for programs.

Spec: KRONTAB-31 to KRONTAB-33.
"""

import shlex
from collections.abc import Sequence
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import NamedTuple, assert_never
from urllib.parse import urlsplit

from gnomon.apps.krond.execution import Execution, SinkKind
from gnomon.apps.krond.job import Job
from gnomon.apps.krond.krontab import Krontab, Problem, Severity
from gnomon.apps.krond.krontab.draft import AT_BOOT
from gnomon.apps.krond.krontab.problem import report
from gnomon.apps.krond.status import over_at, periods_after
from gnomon.cli.local_time import distance, local_text, note_of, weekday_text
from gnomon.cli.problem import printable
from gnomon.cli.screen import FactRows, Json, Part, StyledLine, TextTable, render, render_json
from gnomon.cli.time_commands import window_bar
from gnomon.core.civil.duration import short_duration
from gnomon.core.civil.instant import format_instant
from gnomon.core.civil.zone import load_zone
from gnomon.core.decision import (
    Chosen,
    Constraint,
    Decision,
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

__all__ = [
    "Linted",
    "explain_text",
    "job_rows",
    "lint_text",
    "next_text",
    "not_counted",
    "reading_of",
]

_COLUMNS = ("#", "job", "chosen", "day", "nominal", "window ends", "distance", "note")
_NONE = "No period lies ahead up to the end of 2200."
_AT_BOOT = "at boot"
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


class Linted(NamedTuple):
    """A file and everything that was found about it."""

    krontab: Krontab
    problems: Sequence[Problem]

    @classmethod
    def of(cls, krontab: Krontab, problems: Sequence[Problem]) -> "Linted":
        """With the problems in the order of their places."""
        return cls(krontab, sorted(problems, key=lambda problem: (problem.line, problem.column)))

    def count(self, severity: Severity) -> int:
        return sum(problem.severity is severity for problem in self.problems)


def lint_text(files: Sequence[Linted], *, as_json: bool) -> str:
    """What is wrong with files, or that they are fine."""
    if as_json:
        valid = not any(one.count(Severity.ERROR) for one in files)
        return render_json({"valid": valid, "files": [_lint_json(one) for one in files]})
    return "".join(_lint_lines(one) for one in files)


def not_counted(file: Path) -> Linted:
    """A file in a directory of krontab files that is none by its name."""
    problem = Problem(
        line=1, column=1, where="file", reason="does not count, because of its name", got=file.name,
        hint="use letters, digits, _ and -, alone or with .kron, .krontab, .yaml or .yml",
        severity=Severity.WARNING,
    )  # fmt: skip
    return Linted(Krontab(file=str(file), text="", entries=(), problems=()), [problem])


def next_text(jobs: Sequence[Job], *, at: int, count: int, single: bool, as_json: bool) -> str:
    """The next periods of each job; of several jobs, in the order in which they are chosen."""
    found = [(job, list(islice(periods_after(job.schedule, at), count))) for job in jobs]
    if as_json:
        answers: list[Json] = [_next_json(job, decisions, at) for job, decisions in found]
        if single:
            return render_json(answers[0])
        return render_json({"anchor": format_instant(at), "jobs": answers})
    booted = [job for job in jobs if isinstance(job.schedule.recurrence, Boot)]
    rows = [(job, decision) for job, decisions in found for decision in decisions]
    if len(jobs) > 1:
        rows.sort(key=lambda row: over_at(row[1]))
    if not rows and not booted:
        return render(_NONE)
    cells = [_row(number, *row, at) for number, row in enumerate(rows, 1)]
    return render(TextTable(_COLUMNS, [*cells, *map(_at_boot, booted)]))


def explain_text(job: Job, *, at: int, asked: bool, count: int, as_json: bool) -> str:
    """When and why a job runs; as JSON, the record of one period."""
    explained = _period_at(job, at) if asked else next(periods_after(job.schedule, at), None)
    if as_json:
        nothing: dict[str, Json] = {"job": job.name, "identity": job.identity, "periodId": None}
        return render_json(nothing if explained is None else _record(job, explained))
    title = StyledLine(job.name, "bold", f": {job.schedule.recurrence.describe()}")
    parts: list[Part] = [title, FactRows(job_rows(job)), ""]
    if isinstance(job.schedule.recurrence, Boot):
        return render(*parts, "It runs once when krond starts for the first time after a boot.")
    if explained is None:
        return render(*parts, _NONE)
    parts += [*_why(explained), ""]
    rows = [
        _row(number, job, decision, at)
        for number, decision in enumerate(islice(periods_after(job.schedule, at), count), 1)
    ]
    return render(*parts, TextTable(_COLUMNS, rows) if rows else StyledLine(_NONE))


def _period_at(job: Job, at: int) -> Decision | None:
    schedule = job.schedule
    nominal = schedule.recurrence.latest_epoch(at + schedule.decider.window.lead)
    if nominal is None:
        nominal = schedule.recurrence.next_epoch(at)
    return None if nominal is None else schedule.decider.decide(nominal)


def _why(decision: Decision) -> list[Part]:
    """How the second of a period was found."""
    zone = load_zone(decision.zone)
    head = f"Period {decision.period_id}"
    rows = [("nominal", local_text(zone, decision.nominal))]
    if not decision.window.span:
        why = "there is no window, so the nominal second is the only one"
    else:
        why = (
            f"candidate {decision.attempt_count} of at most {decision.attempts_max}, drawn from the"
            f" hash of identity, {decision.period_key} and salt"
        )
    if isinstance(decision.outcome, Chosen):
        rows.append(("chosen", f"{local_text(zone, decision.outcome.at)}: {why}"))
    else:
        rows.append(("chosen", "unschedulable: the constraints allow no candidate"))
    rows.append(("seed hash", decision.seed_hash))
    bar = window_bar(decision) if decision.window.span else []
    return [StyledLine(head, "bold"), FactRows(rows), *(StyledLine(f"  {line}") for line in bar)]


def _at_boot(job: Job) -> tuple[str, ...]:
    return ("-", job.name, _AT_BOOT, *[""] * 4, "suspended" if job.suspend else "")


def _row(number: int, job: Job, decision: Decision, at: int) -> tuple[str, ...]:
    zone = load_zone(decision.zone)
    note = note_of(reading_of(job).cron, zone, decision.nominal, previous=decision.nominal - 1)
    chosen, day, away = "unschedulable", "", ""
    if isinstance(decision.outcome, Chosen):
        chosen = local_text(zone, decision.outcome.at)
        day = weekday_text(zone, decision.outcome.at)
        away = distance(decision.outcome.at - at)
    if job.suspend:
        note = "; ".join(filter(None, ("suspended", note)))
    nominal, end = format_instant(decision.nominal), format_instant(decision.window.end)
    return (str(number), job.name, chosen, day, nominal, end, away, note)


def _record(job: Job, decision: Decision) -> dict[str, Json]:
    return {"job": job.name, **decision.to_json(), "mode": decision.rule.placement.value}


def _next_json(job: Job, decisions: Sequence[Decision], at: int) -> dict[str, Json]:
    return {
        "job": job.name,
        "identity": job.identity,
        "count": len(decisions),
        "anchor": format_instant(at),
        "suspended": job.suspend,
        "atBoot": isinstance(job.schedule.recurrence, Boot),
        "decisions": [_record(job, decision) for decision in decisions],
    }


def _lint_json(linted: Linted) -> dict[str, Json]:
    found: dict[Severity, list[Json]] = {severity: [] for severity in Severity}
    for problem in linted.problems:
        found[problem.severity].append(problem.to_json())
    return {
        "file": linted.krontab.file,
        "valid": not found[Severity.ERROR],
        "jobs": len(linted.krontab.jobs),
        "errors": found[Severity.ERROR],
        "warnings": found[Severity.WARNING],
    }


def _lint_lines(linted: Linted) -> str:
    krontab, number = linted.krontab, len(linted.krontab.jobs)
    text = report(krontab.file, krontab.text, linted.problems)
    if linted.count(Severity.ERROR) or not krontab.text:
        return text
    jobs = "1 job" if number == 1 else f"{number} jobs"
    warned = linted.count(Severity.WARNING)
    warnings = "" if not warned else f", {warned} warning{'s' if warned > 1 else ''}"
    return f"{text}OK: {krontab.file} ({jobs}{warnings})\n"


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
