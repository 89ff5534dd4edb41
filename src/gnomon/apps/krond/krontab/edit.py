"""
Changing a file that people wrote: jobs come and go, and everything else stays as it is.

Each function gives the new text and changes nothing itself. The new text is read again before it is
given: it has exactly the jobs that it should have, or the change is refused, because a file that
cannot be changed safely is better changed by hand.

Spec: KRONTAB-25 to KRONTAB-27, KRONTAB-50.
"""

from gnomon.apps.krond.job import Job
from gnomon.apps.krond.krontab.problem import report
from gnomon.apps.krond.krontab.reader import Entry, Krontab, is_yaml, read_krontab
from gnomon.apps.krond.krontab.render import (
    render_defaults,
    render_line,
    render_yaml,
    yaml_defaults,
    yaml_item,
)
from gnomon.errors import DefinitionError, KrontabError

__all__ = ["add_job", "convert", "find_entry", "format_file", "parse_job", "remove_job"]


def parse_job(line: str, krontab: Krontab) -> Job:
    """The job that a line describes, as it would be in the file, under its defaults."""
    found = read_krontab(line, file=krontab.file, yaml=False, defaults=krontab.defaults)
    if found.errors:
        raise KrontabError(report("job", line, found.errors), count=len(found.errors))
    if len(found.jobs) != 1:
        raise DefinitionError(
            "must be one line with one job", where="job", got=line,
            hint="write e.g. '0 3 * * * name=backup command=/usr/bin/backup'",
        )  # fmt: skip
    return found.jobs[0]


def find_entry(krontab: Krontab, name: str) -> Entry:
    """The job of this name."""
    for entry in krontab.entries:
        if entry.job.name == name:
            return entry
    known = ", ".join(job.name for job in krontab.jobs) or "no jobs"
    raise DefinitionError("is no job of this file", where="job", got=name, hint=f"it has {known}")


def add_job(krontab: Krontab, line: str, *, replace: bool) -> str:
    """The file with one more job at its end, or with another in the place of its namesake."""
    job = parse_job(line, krontab)
    names = [one.name for one in krontab.jobs]
    if job.name in names and not replace:
        raise DefinitionError(
            "is in the file already", where="job", got=job.name,
            hint="choose another name, or say --replace",
        )  # fmt: skip
    lines = _lines(krontab)
    if job.name in names:
        entry = find_entry(krontab, job.name)
        lines[entry.line - 1 : entry.last_line] = _written(job, krontab, entry)
    elif is_yaml(krontab.file):
        lines = _appended(lines, job, krontab)
    else:
        lines.append(line.strip())
    return _checked(lines, krontab, {one.name: one for one in krontab.jobs} | {job.name: job})


def remove_job(krontab: Krontab, name: str) -> str:
    """The file without a job."""
    entry = find_entry(krontab, name)
    lines = _lines(krontab)
    del lines[entry.line - 1 : entry.last_line]
    return _checked(lines, krontab, {one.name: one for one in krontab.jobs if one.name != name})


def format_file(krontab: Krontab) -> str:
    """The file with each job written in the one way there is, and all else as it is."""
    lines = _lines(krontab)
    defaults, entries = _defaults(krontab), list(krontab.entries)
    entries += [] if defaults is None else [defaults]
    for entry in sorted(entries, key=lambda entry: entry.line, reverse=True):
        old = lines[entry.line - 1 : entry.last_line]
        if not any("#" in line for line in old) or not is_yaml(krontab.file):
            lines[entry.line - 1 : entry.last_line] = _written(entry.job, krontab, entry)
    return _checked(lines, krontab, {one.name: one for one in krontab.jobs})


def convert(krontab: Krontab, *, to_yaml: bool) -> str:
    """The defaults and the jobs as a whole file of one form."""
    defaults = _defaults(krontab)
    if to_yaml:
        return render_yaml(krontab.jobs, defaults)
    lines = [] if defaults is None else [render_defaults(defaults)]
    lines += [render_line(job, defaults) for job in krontab.jobs]
    return "".join(f"{line}\n" for line in lines)


def _defaults(krontab: Krontab) -> Entry | None:
    return None if krontab.defaults is None else krontab.defaults.entry


def _lines(krontab: Krontab) -> list[str]:
    lines = krontab.text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _written(job: Job, krontab: Krontab, entry: Entry) -> list[str]:
    defaults = _defaults(krontab)
    if entry is defaults and is_yaml(krontab.file):
        return [" " * entry.indent + line for line in yaml_defaults(entry)]
    if entry is defaults:
        return [render_defaults(entry)]
    if not is_yaml(krontab.file):
        return [render_line(job, defaults)]
    return _item(job, krontab, indent=entry.indent)


def _appended(lines: list[str], job: Job, krontab: Krontab) -> list[str]:
    """The lines of YAML with an item behind the last, indented as that one is."""
    if not krontab.entries:
        kept = [line for line in lines if line.strip() not in ("jobs:", "jobs: []", "{}")]
        return [*kept, "jobs:", *_item(job, krontab, indent=2)]
    last = max(krontab.entries, key=lambda entry: entry.last_line)
    return [
        *lines[: last.last_line],
        *_item(job, krontab, indent=last.indent),
        *lines[last.last_line :],
    ]


def _item(job: Job, krontab: Krontab, *, indent: int) -> list[str]:
    """The lines of one item of the list, with its hyphen in this column, from 0."""
    return [" " * indent + line for line in yaml_item(job, _defaults(krontab))]


def _checked(lines: list[str], krontab: Krontab, jobs: dict[str, Job]) -> str:
    """The new text, if it has exactly these jobs."""
    text = "".join(f"{line}\n" for line in lines)
    found = read_krontab(text, file=krontab.file)
    if found.errors or list(found.jobs) != list(jobs.values()):
        raise DefinitionError(
            "cannot be changed without changing more", where="file", got=krontab.file,
            hint="change it by hand, and say gnomon krontab lint",
        )  # fmt: skip
    return text
