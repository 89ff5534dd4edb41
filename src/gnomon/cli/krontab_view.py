"""
What the krontab commands show: the findings of lint, the periods of next, the story of explain.

A period comes next when its chosen second lies ahead, also when its nominal time has passed. The
period that is explained is the newest whose window has opened at the time that was asked about, or
the next one when no time was.

Spec: KRONTAB-31 to KRONTAB-34.
"""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from gnomon.apps.krond.job import Job
from gnomon.apps.krond.krontab import Krontab, Problem, Severity
from gnomon.apps.krond.krontab.problem import report
from gnomon.apps.krond.status import over_at, periods_after
from gnomon.cli.decision_view import window_bar
from gnomon.cli.krontab_words import job_rows, reading_of
from gnomon.cli.local_time import distance, local_text, note_of, weekday_text
from gnomon.cli.screen import Facts, Json, Line, Part, Table, render, render_json
from gnomon.core.civil.instant import format_instant
from gnomon.core.civil.zone import load_zone
from gnomon.core.decision import Chosen, Decision
from gnomon.core.recurrence import Boot

__all__ = ["Linted", "explain_text", "lint_text", "next_text", "not_counted"]

_COLUMNS = ("#", "job", "chosen", "day", "nominal", "window ends", "distance", "note")
_NONE = "No period lies ahead up to the end of 2200."
_AT_BOOT = "at boot"


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
    return render(Table(_COLUMNS, [*cells, *map(_at_boot, booted)]))


def explain_text(job: Job, *, at: int, asked: bool, count: int, as_json: bool) -> str:
    """When and why a job runs; as JSON, the record of one period."""
    explained = _period_at(job, at) if asked else next(periods_after(job.schedule, at), None)
    if as_json:
        nothing: dict[str, Json] = {"job": job.name, "identity": job.identity, "periodId": None}
        return render_json(nothing if explained is None else _record(job, explained))
    title = Line(job.name, "bold", f": {job.schedule.recurrence.describe()}")
    parts: list[Part] = [title, Facts(job_rows(job)), ""]
    if isinstance(job.schedule.recurrence, Boot):
        return render(*parts, "It runs once when krond starts for the first time after a boot.")
    if explained is None:
        return render(*parts, _NONE)
    parts += [*_why(explained), ""]
    rows = [
        _row(number, job, decision, at)
        for number, decision in enumerate(islice(periods_after(job.schedule, at), count), 1)
    ]
    return render(*parts, Table(_COLUMNS, rows) if rows else Line(_NONE))


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
    return [Line(head, "bold"), Facts(rows), *(Line(f"  {line}") for line in bar)]


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
