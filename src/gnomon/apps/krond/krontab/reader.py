"""
A whole file: its jobs, and everything that is wrong with it.

A line that is empty or begins with `#` says nothing; each other line is a job, or above all jobs
the defaults of the file. A file whose name ends in `.yaml` or `.yml` is YAML. Reading never raises
for what stands in a file: it gives the jobs that could be read and all problems, in the order of
their places.

Spec: KRONTAB-5, KRONTAB-8, KRONTAB-11, KRONTAB-17, KRONTAB-48, KRONTAB-49.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gnomon.apps.krond.job import Job, check_name, identity_of, make_job
from gnomon.apps.krond.krontab.draft import DEFAULTS, OF_ONE_JOB, SCHEDULE, Draft, Piece
from gnomon.apps.krond.krontab.line_text import read_line
from gnomon.apps.krond.krontab.notify_options import read_notify_rule
from gnomon.apps.krond.krontab.policy_options import read_policy
from gnomon.apps.krond.krontab.problem import Problem, Problems, Severity
from gnomon.apps.krond.krontab.process_options import read_execution
from gnomon.apps.krond.krontab.timing_options import read_timing
from gnomon.errors import MissingExtraError

__all__ = ["YAML_ENDINGS", "Defaults", "Entry", "Krontab", "is_yaml", "read_krontab"]

YAML_ENDINGS = (".yaml", ".yml")

_Pieces = Mapping[str, tuple[Piece, ...]]
_BOM = "\ufeff"
_NAMELESS = "job"
_MISSING = {
    SCHEDULE: 'write e.g. "0 3 * * *" at the start',
    "name": "write e.g. name=nightly-backup",
    "command": "write e.g. command=/usr/bin/backup",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A job and where it stands."""

    job: Job
    line: int
    """Its first line, from 1."""
    last_line: int
    indent: int
    """How many blanks stand before it; in YAML, before the hyphen."""
    places: Mapping[str, tuple[int, int]]
    """Line and column of each field that was written here, and not in the defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What the jobs of a file have unless they say otherwise."""

    entry: Entry
    """As the job that says nothing of its own, and where the defaults stand."""
    pieces: _Pieces
    """As they were written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Krontab:
    """What a file says."""

    file: str
    text: str
    entries: tuple[Entry, ...]
    """The jobs that could be read; all of them when there are no errors."""
    problems: tuple[Problem, ...]
    defaults: Defaults | None = None

    @property
    def jobs(self) -> tuple[Job, ...]:
        return tuple(entry.job for entry in self.entries)

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(one for one in self.problems if one.severity is Severity.ERROR)


def is_yaml(file: str) -> bool:
    return file.lower().endswith(YAML_ENDINGS)


def read_krontab(
    text: str, *, file: str, yaml: bool | None = None, defaults: Defaults | None = None
) -> Krontab:
    """
    What the text of a file says.

    `file` is its absolute path, which stays unopened; unless `yaml` is given, its end says the
    form. `defaults` are those of the file that the text is to be a part of.
    """
    problems = Problems()
    lines: dict[str, int] = {}
    entries: list[Entry | None] = []
    usual = None if defaults is None else defaults.pieces
    for draft in _drafts(text, is_yaml(file) if yaml is None else yaml, problems):
        if not draft.is_defaults:
            entries.append(_read_draft(draft, file, lines, usual or {}, problems))
        elif usual is not None or entries:
            reason = "stand here for the second time" if usual is not None else "stand behind a job"
            hint = f"write one line @{DEFAULTS} above the first job"
            problems.error(draft.start, DEFAULTS, reason, got=f"@{DEFAULTS}", hint=hint)
        else:
            usual, entry = _read_defaults(draft, file, problems)
            defaults = None if entry is None else Defaults(entry=entry, pieces=usual)
    found = sorted(problems.found, key=lambda problem: (problem.line, problem.column))
    return Krontab(
        file=file,
        text=text,
        entries=tuple(entry for entry in entries if entry is not None),
        problems=tuple(found),
        defaults=defaults,
    )


def _drafts(text: str, yaml: bool, problems: Problems) -> Iterator[Draft]:
    if text.startswith(_BOM):
        problems.error(
            Piece(text[:1], 1, 1), "file", "begins with a byte order mark",
            hint='save it as "UTF-8", not as "UTF-8 with BOM"',
        )  # fmt: skip
        text = text[1:]
    if yaml:
        try:
            from gnomon.apps.krond.krontab.yaml_text import read_yaml
        except ImportError as error:
            raise MissingExtraError("a krontab file in YAML", extra="yaml") from error
        yield from read_yaml(text, problems)
        return
    returns = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.endswith("\r"):
            returns += 1
            if returns == 1:
                problems.error(
                    Piece(line, number, len(line)), "line", "ends in a carriage return",
                    hint="save the file with the line ends of Unix",
                )  # fmt: skip
            line = line[:-1]
        if line.strip() and not line.lstrip().startswith("#"):
            draft = read_line(line, number, problems)
            if draft is not None:
                yield draft


def _read_defaults(draft: Draft, file: str, problems: Problems) -> tuple[_Pieces, Entry | None]:
    """What they give to jobs, which is nothing where they are wrong, and the job they make."""
    for name in OF_ONE_JOB:
        for piece in draft.pieces.pop(name, ())[:1]:
            reason, hint = "belongs to one job, and not to all", "write it where the job is"
            problems.error(piece, name, reason, got=piece.text, hint=hint)
    pieces = dict(draft.pieces)
    for name, text in (("name", DEFAULTS), (SCHEDULE, "0 0 1 1 *"), ("command", "true")):
        draft.pieces[name] = (draft.start._replace(text=text),)
    entry = _read_draft(draft, file, {}, {}, problems)
    return (pieces if entry else dict.fromkeys(pieces, ())), entry


def _read_draft(
    draft: Draft, file: str, lines: dict[str, int], usual: _Pieces, problems: Problems
) -> Entry | None:
    places = {key: (found[0].line, found[0].column) for key, found in draft.pieces.items() if found}
    draft.inherit(usual)
    name = _name(draft, lines, problems)
    timing = read_timing(draft, identity_of(file, name), problems)
    policy, suspend = read_policy(draft, problems)
    execution = read_execution(draft, problems)
    notify = read_notify_rule(draft, problems)
    for field, hint in _MISSING.items():
        if draft.whole and field not in draft.pieces:
            problems.error(draft.start, field, "is missing", hint=hint)
    if timing is None or execution is None or len(problems.found) > draft.before:
        return None
    description = draft.first("description")
    job = make_job(
        name=name,
        decider=timing.decider,
        recurrence=timing.recurrence,
        policy=policy,
        execution=execution,
        suspend=suspend,
        notify=notify,
        description="" if description is None else description.text,
    )
    return Entry(
        job=job, line=draft.start.line, last_line=draft.last_line, indent=draft.indent,
        places=places,
    )  # fmt: skip


def _name(draft: Draft, lines: dict[str, int], problems: Problems) -> str:
    """The name of the job, or one that stands for it as long as others look at the rest."""
    piece = draft.first("name")
    if piece is None:
        return _NAMELESS
    with problems.at(piece, "name"):
        check_name(piece.text)
        if piece.text in lines:
            problems.error(
                piece, "name", f"is used on line {lines[piece.text]} already", got=piece.text,
                hint="give each job a name of its own",
            )  # fmt: skip
        lines.setdefault(piece.text, piece.line)
        return piece.text
    return _NAMELESS
