"""
The commands about krontab files: lint, explain, next, add, remove, format, import, export.

They read files, and some write them; none of them speaks to krond, which takes a changed file when
it is told to reload. Each imports what does its work when it is called.

Spec: KRONTAB-31 to KRONTAB-37, KROND-40, CRONJOB-9.
"""

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon.cli.click_parts import CliGroup, argument
from gnomon.cli.options import (
    answer_text,
    clock_of,
    count_option,
    json_option,
    read_count,
    read_file,
)
from gnomon.cli.screen import say
from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.errors import DefinitionError, KrontabError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.apps.krond.job import Job
    from gnomon.apps.krond.krontab import Krontab
    from gnomon.cli.screen import Json

__all__ = ["krontab_app"]

krontab_app = CliGroup(
    "krontab", help="Check, explain and change krontab files, from which krond runs jobs."
)

paths_argument = argument(
    "paths", nargs=-1, required=False, metavar="[PATH]...",
    help="Krontab files or directories of them; left out, /etc/krond.d or ~/.config/krond.",
)  # fmt: skip
path_option = click.option(
    "--file", metavar="PATH", help="A krontab file or a directory; left out, krond's own."
)
file_option = click.option("--file", required=True, metavar="FILE", help="A krontab file.")
job_argument = argument("job", metavar="JOB", help="The name of a job, or its identity.")
at_option = click.option("--at", metavar="INSTANT", help="RFC 3339 with an offset; left out, now.")


@krontab_app.command("lint")
@paths_argument
@path_option
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@json_option
@click.pass_context
def lint_command(
    context: click.Context, paths: tuple[str, ...], file: str | None, strict: bool, as_json: bool
) -> int:
    """Say everything that is wrong with krontab files."""
    from gnomon.apps.krond.files import load, passed_over
    from gnomon.apps.krond.krontab import Severity, advise
    from gnomon.apps.krond.machine_check import examine
    from gnomon.cli.krontab_view import Linted, lint_text, not_counted

    now = clock_of(context).now_ms() // 1000
    places = _paths([*paths, *([file] if file is not None else [])])
    files = [
        Linted.of(krontab, [*krontab.problems, *advise(krontab, now=now), *examine(krontab)])
        for krontab in load(places).krontabs
    ]
    files += [not_counted(one) for place in places for one in passed_over(place)]
    say(lint_text(files, as_json=as_json), nl=False)
    bad = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    return 1 if any(one.count(severity) for one in files for severity in bad) else 0


@krontab_app.command("next")
@argument("job", required=False, metavar="[JOB]", help="A job; left out, all.")
@path_option
@at_option
@click.option("--count", metavar="N", help="How many of each; left out, 5 of one job.")
@json_option
@click.pass_context
def next_command(
    context: click.Context, job: str | None, file: str | None, at: str | None, count: str | None,
    as_json: bool,
) -> str:  # fmt: skip
    """Show the next periods of a job, or of all, with the second that is chosen for each."""
    from gnomon.cli.krontab_view import next_text

    jobs = _jobs(file)
    chosen = jobs if job is None else [_find(jobs, job)]
    number = read_count(count or ("1" if job is None else "5"))
    return next_text(
        chosen, at=_at(at, context), count=number, single=job is not None, as_json=as_json
    )


@krontab_app.command("explain")
@job_argument
@path_option
@at_option
@count_option("3")
@json_option
@click.pass_context
def explain_command(
    context: click.Context, job: str, file: str | None, at: str | None, count: str, as_json: bool
) -> str:
    """Say in words when a job runs and why, and how the second of a period is chosen."""
    from gnomon.cli.krontab_view import explain_text

    return explain_text(
        _find(_jobs(file), job), at=_at(at, context), asked=at is not None,
        count=read_count(count), as_json=as_json,
    )  # fmt: skip


@krontab_app.command("add")
@argument("line", metavar="LINE", help="A job, in quotes.")
@file_option
@click.option("--replace", is_flag=True, help="Take the place of a job of this name.")
@json_option
def add_command(line: str, file: str, replace: bool, as_json: bool) -> str:
    """Add a job to a krontab file, which is made when it is not there."""
    from gnomon.apps.krond.krontab.edit import add_job, parse_job

    path, krontab = _editable(file, is_new=not Path(file).exists())
    text = add_job(krontab, line, replace=replace)
    _write(path, text, krontab)
    added = parse_job(line, krontab)
    is_replaced = any(one.name == added.name for one in krontab.jobs)
    said = f"{added.name} is in {path} now; krond reload takes it\n"
    return answer_text(said, _which(path, added, replaced=is_replaced), as_json=as_json)


@krontab_app.command("remove")
@job_argument
@file_option
@json_option
def remove_command(job: str, file: str, as_json: bool) -> str:
    """Remove a job from a krontab file; what krond knows about it stays."""
    from gnomon.apps.krond.krontab.edit import find_entry, remove_job

    path, krontab = _editable(file)
    text = remove_job(krontab, job)
    _write(path, text, krontab)
    said = f"{job} is no longer in {path}; krond reload takes it\n"
    return answer_text(said, _which(path, find_entry(krontab, job).job), as_json=as_json)


@krontab_app.command("format")
@argument("file", metavar="FILE", help="A krontab file.")
@click.option("--write", is_flag=True, help="Change the file.")
@click.option("--check", is_flag=True, help="Only say whether it would.")
@click.option("--to", metavar="FORM", help="Print it as lines or yaml.")
@json_option
def format_command(file: str, write: bool, check: bool, to: str | None, as_json: bool) -> int:
    """Write each job of a krontab file in the one way there is."""
    from gnomon.apps.krond.krontab.edit import convert, format_file

    if to not in (None, "lines", "yaml"):
        raise DefinitionError("is no form", where="to", got=to, hint="write lines or yaml")
    path, krontab = _editable(file)
    text = format_file(krontab) if to is None else convert(krontab, to_yaml=to == "yaml")
    same, writes = text == krontab.text, write and to is None and not check
    if writes:
        _write(path, text, krontab)
    shown = "" if writes else text
    if check:
        shown = f"{path} {'is' if same else 'is not'} formatted\n"
    record: dict[str, Json] = {"file": str(path), "formatted": same}
    record |= {"written": writes, "text": text}
    say(answer_text(shown, record, as_json=as_json), nl=False)
    return 1 if check and not same else 0


@krontab_app.command("import")
@argument(
    "crontabs",
    nargs=-1,
    metavar="CRONTAB...",
    help="Files, directories of them, or - for what crontab -l prints.",
)
@click.option(
    "--system/--no-system",
    default=None,
    help="Whether lines name a user, as in /etc/crontab; left out, the lines tell.",
)
@click.option("--user", default="", show_default=False, metavar="NAME", help="Whose crontab it is.")
@click.option("--zone", metavar="ZONE", help="Cron's zone; left out, this machine's.")
@json_option
def import_command(
    crontabs: tuple[str, ...], system: bool | None, user: str, zone: str | None, as_json: bool
) -> int:
    """Print the krontab file for crontabs, and say what changes."""
    from gnomon.cli.krontab_import import Asked, import_text, local_zone

    if user and system:
        raise DefinitionError(
            "cannot be given with --system, whose lines name a user",
            where="user",
            got=user,
            hint="leave one of them out",
        )
    asked = Asked(crontabs, system, user, zone or local_zone())
    out, err, sound = import_text(asked, as_json=as_json)
    say(out, nl=False)
    say(err, nl=False, err=True)
    return 0 if sound else 1


@krontab_app.command("export")
@argument("job", required=False, metavar="[JOB]", help="A job; left out, all.")
@path_option
@click.option("--kubernetes", is_flag=True, help="As KronJobs, for kubectl apply.")
@click.option(
    "--image", default="", show_default=False, metavar="IMAGE",
    help="The image that holds the programs.",
)  # fmt: skip
@click.option("--namespace", default="default", metavar="NAME", help="Where the KronJobs will be.")
@json_option
@click.pass_context
def export_command(
    context: click.Context, job: str | None, file: str | None, kubernetes: bool, image: str,
    namespace: str, as_json: bool,
) -> int:  # fmt: skip
    """Print the jobs of krontab files as KronJobs, and say what changes."""
    from gnomon.cli.kronjob_view import export_text

    if not kubernetes:
        raise DefinitionError(
            "must say what the jobs are exported to",
            where="export",
            got="",
            hint="write gnomon krontab export --kubernetes --image IMAGE",
        )
    jobs = _jobs(file)
    out, err, sound = export_text(
        jobs if job is None else [_find(jobs, job)], namespace=namespace, image=image,
        now=clock_of(context).now_ms() // 1000, as_json=as_json,
    )  # fmt: skip
    say(out, nl=False)
    say(err, nl=False, err=True)
    return 0 if sound else 1


def _paths(given: "Sequence[str]") -> list[Path]:
    from gnomon.apps.krond.state import usual_sources

    if given:
        return [read_file(path) for path in given]
    if not (usual := usual_sources()).exists():
        missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(usual))
        missing.add_note("name a krontab file or a directory of them: --file PATH")
        raise missing
    return [usual]


def _jobs(file: str | None) -> "list[Job]":
    from gnomon.apps.krond.files import load

    loading = load(_paths([] if file is None else [file]))
    if loading.error_count:
        raise KrontabError(loading.report, count=loading.error_count)
    return loading.jobs


def _find(jobs: "Sequence[Job]", name: str) -> "Job":
    found = [job for job in jobs if name in (job.name, job.identity)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(job.identity if found else job.name for job in found or jobs) or "no jobs"
    raise DefinitionError(
        "is in several files" if found else "is no job",
        where="job",
        got=name,
        hint=f"write one of {known}" if found else f"there is {known}",
    )


def _which(path: Path, job: "Job", **more: "Json") -> "dict[str, Json]":
    return {"file": str(path), "job": job.name, "identity": job.identity, **more}


def _at(text: str | None, context: click.Context) -> int:
    if text is None:
        return clock_of(context).now_ms() // 1000
    return to_epoch(parse_instant(text, where="at"), where="at")


def _editable(file: str, *, is_new: bool = False) -> "tuple[Path, Krontab]":
    """The path and what stands there, which must be without errors."""
    from gnomon.apps.krond.files import load_file
    from gnomon.apps.krond.krontab import read_krontab
    from gnomon.apps.krond.krontab.problem import report

    path = Path(os.path.abspath(read_file(file)))
    krontab = read_krontab("", file=str(path)) if is_new else load_file(path)
    if krontab.errors:
        raise KrontabError(
            report(krontab.file, krontab.text, krontab.errors), count=len(krontab.errors)
        )
    return path, krontab


def _write(path: Path, text: str, krontab: "Krontab") -> None:
    from gnomon.apps.krond.files import replace_text

    replace_text(path, text, old=krontab.text if path.exists() else None)
