"""
The commands about krontab files: lint, explain, next, add, remove, format, import, export.

They read files, and some write them; none of them speaks to krond, which takes a changed file when
it is told to reload. Each imports what does its work when it is called.

Spec: KRONTAB-31 to KRONTAB-37, KROND-40, CRONJOB-9.
"""

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.options import (
    CountOption,
    JsonOption,
    answer_text,
    clock_of,
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

krontab_app = typer.Typer(
    help="Check, explain and change krontab files, from which krond runs jobs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

PathsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PATH]...",
        help="Krontab files or directories of them; left out, /etc/krond.d or ~/.config/krond.",
        show_default=False,
    ),
]
PathOption = Annotated[
    str | None,
    typer.Option(
        "--file", metavar="PATH", help="A krontab file or a directory; left out, krond's own."
    ),
]
FileOption = Annotated[
    str, typer.Option("--file", metavar="FILE", help="A krontab file.", show_default=False)
]
JobArgument = Annotated[
    str,
    typer.Argument(metavar="JOB", help="The name of a job, or its identity.", show_default=False),
]
AtOption = Annotated[
    str | None,
    typer.Option("--at", metavar="INSTANT", help="RFC 3339 with an offset; left out, now."),
]


@krontab_app.command("lint")
def lint_command(
    context: typer.Context,
    paths: PathsArgument = None,
    file: PathOption = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings too.")] = False,
    as_json: JsonOption = False,
) -> int:
    """Say everything that is wrong with krontab files."""
    from gnomon.apps.krond.files import load, passed_over
    from gnomon.apps.krond.krontab import Severity, advise
    from gnomon.apps.krond.machine_check import examine
    from gnomon.cli.krontab_view import Linted, lint_text, not_counted

    now = clock_of(context).now_ms() // 1000
    places = _paths([*(paths or []), *([file] if file is not None else [])])
    files = [
        Linted.of(krontab, [*krontab.problems, *advise(krontab, now=now), *examine(krontab)])
        for krontab in load(places).krontabs
    ]
    files += [not_counted(one) for place in places for one in passed_over(place)]
    say(lint_text(files, as_json=as_json), nl=False)
    bad = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    return 1 if any(one.count(severity) for one in files for severity in bad) else 0


@krontab_app.command("next")
def next_command(
    context: typer.Context,
    job: Annotated[
        str | None,
        typer.Argument(metavar="[JOB]", help="A job; left out, all.", show_default=False),
    ] = None,
    file: PathOption = None,
    at: AtOption = None,
    count: Annotated[
        str | None,
        typer.Option("--count", metavar="N", help="How many of each; left out, 5 of one job."),
    ] = None,
    as_json: JsonOption = False,
) -> str:
    """Show the next periods of a job, or of all, with the second that is chosen for each."""
    from gnomon.cli.krontab_view import next_text

    jobs = _jobs(file)
    chosen = jobs if job is None else [_find(jobs, job)]
    number = read_count(count or ("1" if job is None else "5"))
    return next_text(
        chosen, at=_at(at, context), count=number, single=job is not None, as_json=as_json
    )


@krontab_app.command("explain")
def explain_command(
    context: typer.Context,
    job: JobArgument,
    file: PathOption = None,
    at: AtOption = None,
    count: CountOption = "3",
    as_json: JsonOption = False,
) -> str:
    """Say in words when a job runs and why, and how the second of a period is chosen."""
    from gnomon.cli.krontab_view import explain_text

    return explain_text(
        _find(_jobs(file), job), at=_at(at, context), asked=at is not None,
        count=read_count(count), as_json=as_json,
    )  # fmt: skip


@krontab_app.command("add")
def add_command(
    line: Annotated[
        str, typer.Argument(metavar="LINE", help="A job, in quotes.", show_default=False)
    ],
    file: FileOption,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of a job of this name.")
    ] = False,
    as_json: JsonOption = False,
) -> str:
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
def remove_command(job: JobArgument, file: FileOption, as_json: JsonOption = False) -> str:
    """Remove a job from a krontab file; what krond knows about it stays."""
    from gnomon.apps.krond.krontab.edit import find_entry, remove_job

    path, krontab = _editable(file)
    text = remove_job(krontab, job)
    _write(path, text, krontab)
    said = f"{job} is no longer in {path}; krond reload takes it\n"
    return answer_text(said, _which(path, find_entry(krontab, job).job), as_json=as_json)


@krontab_app.command("format")
def format_command(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A krontab file.", show_default=False)
    ],
    write: Annotated[bool, typer.Option("--write", help="Change the file.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Only say whether it would.")] = False,
    to: Annotated[
        str | None, typer.Option("--to", metavar="FORM", help="Print it as lines or yaml.")
    ] = None,
    as_json: JsonOption = False,
) -> int:
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
def import_command(
    crontabs: Annotated[
        list[str],
        typer.Argument(
            metavar="CRONTAB...",
            help="Files, directories of them, or - for what crontab -l prints.",
            show_default=False,
        ),
    ],
    system: Annotated[
        bool | None,
        typer.Option(
            "--system/--no-system",
            help="Whether lines name a user, as in /etc/crontab; left out, the lines tell.",
            show_default=False,
        ),
    ] = None,
    user: Annotated[
        str, typer.Option("--user", metavar="NAME", help="Whose crontab it is.", show_default=False)
    ] = "",
    zone: Annotated[
        str | None,
        typer.Option("--zone", metavar="ZONE", help="Cron's zone; left out, this machine's."),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Print the krontab file for crontabs, and say what changes."""
    from gnomon.cli.krontab_import import Asked, import_text, local_zone

    if user and system:
        raise DefinitionError(
            "cannot be given with --system, whose lines name a user", where="user", got=user,
            hint="leave one of them out",
        )  # fmt: skip
    asked = Asked(crontabs, system, user, zone or local_zone())
    out, err, sound = import_text(asked, as_json=as_json)
    say(out, nl=False)
    say(err, nl=False, err=True)
    return 0 if sound else 1


@krontab_app.command("export")
def export_command(
    context: typer.Context,
    job: Annotated[
        str | None,
        typer.Argument(metavar="[JOB]", help="A job; left out, all.", show_default=False),
    ] = None,
    file: PathOption = None,
    kubernetes: Annotated[
        bool, typer.Option("--kubernetes", help="As KronJobs, for kubectl apply.")
    ] = False,
    image: Annotated[
        str, typer.Option("--image", metavar="IMAGE", help="The image that holds the programs.")
    ] = "",
    namespace: Annotated[
        str, typer.Option("--namespace", metavar="NAME", help="Where the KronJobs will be.")
    ] = "default",
    as_json: JsonOption = False,
) -> int:
    """Print the jobs of krontab files as KronJobs, and say what changes."""
    from gnomon.cli.kronjob_view import export_text

    if not kubernetes:
        raise DefinitionError(
            "must say what the jobs are exported to", where="export", got="",
            hint="write gnomon krontab export --kubernetes --image IMAGE",
        )  # fmt: skip
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
        "is in several files" if found else "is no job", where="job", got=name,
        hint=f"write one of {known}" if found else f"there is {known}",
    )  # fmt: skip


def _which(path: Path, job: "Job", **more: "Json") -> "dict[str, Json]":
    return {"file": str(path), "job": job.name, "identity": job.identity, **more}


def _at(text: str | None, context: typer.Context) -> int:
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
