"""
Crontabs become krontab files: what cron had, in the words of krond, with what changes said.

Read is what cron reads: settings such as `PATH=...`, five fields or a macro and a command, in
system crontabs with a user before it. Times are those of the zone that cron was in. Jobs run
beside themselves as with cron, and may start up to a minute late. A line that cannot be taken over
stays as a comment, and is said with its place.

Spec: KRONTAB-28, KRONTAB-30, KRONTAB-39 to KRONTAB-42.
"""

import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass, field

from gnomon.apps.krond.job import Job
from gnomon.apps.krond.krontab.draft import AT_BOOT, Piece
from gnomon.apps.krond.krontab.notify_options import ADDRESS
from gnomon.apps.krond.krontab.problem import Problem, Problems, Severity
from gnomon.apps.krond.krontab.process_options import RESERVED, VARIABLE
from gnomon.apps.krond.krontab.reader import read_krontab
from gnomon.apps.krond.krontab.render import render_line
from gnomon.importers.crontab_command import Executed, is_cut, name_of, read_command
from gnomon.importers.crontab_form import (
    JOB,
    SETTING,
    is_known_user,
    is_only_user,
    may_be_user,
)
from gnomon.importers.crontab_time import When, looks_like_a_field, read_when

__all__ = ["Imported", "Note", "Source", "general_notes", "import_crontab"]

_NOT_SET = ("LOGNAME", "USER")
_MINUTES = re.compile(r"[0-9]{1,4}")
_POLICY = "@policy(concurrency=allow,deadline=1m)"
_POLICY_AT_BOOT = "@policy(concurrency=allow)"
_FROM_SETTING = {"mail": "MAILTO", "cwd": "HOME", "shell": "SHELL", "@tz": "CRON_TZ"}
"""Which setting of cron a field of krond comes from."""


@dataclass(frozen=True, slots=True)
class Note:
    """What is different from now on, about one line of the crontab; 0 for all of it."""

    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A crontab, and how it is to be read."""

    text: str
    file: str
    zone: str
    """That of cron."""
    system: bool = False
    """Whether its lines name a user."""
    user: str = ""
    """Whose crontab it is; empty for the user of krond."""
    users: Collection[str] = frozenset()
    """The users of this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of a crontab."""

    text: str
    """The krontab file."""
    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]
    """The lines that could not be taken over, and those that were probably meant otherwise."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(one for one in self.problems if one.severity is Severity.ERROR)


@dataclass(slots=True)
class _Settings:
    """What the settings so far say about the lines below them."""

    zone: str
    env: dict[str, str] = field(default_factory=dict)
    exports: dict[str, str] = field(default_factory=dict)
    """What krond does not set for a job, so that its command must."""
    places: dict[str, Piece] = field(default_factory=dict)
    """Where each was set."""
    shell: str = "true"
    home: str = ""
    mail: str | None = None
    delay_minutes: int = 0


@dataclass(slots=True)
class _Reader:
    """What reading a crontab has found so far."""

    source: Source
    names: set[str]
    settings: _Settings
    problems: Problems = field(default_factory=Problems)
    notes: list[Note] = field(default_factory=list)
    comment: str = ""
    """What stands right above, if that is a comment."""


def import_crontab(source: Source, names: set[str]) -> Imported:
    """The krontab file for a crontab; `names` are taken, and grow by those that are given."""
    reader = _Reader(source, names, _Settings(zone=source.zone))
    lines = [
        _take_line(line.removesuffix("\r"), number, reader)
        for number, line in enumerate(source.text.split("\n"), 1)
    ]
    return Imported(
        text="\n".join(line for line in lines if line is not None).rstrip("\n") + "\n",
        notes=tuple(reader.notes),
        problems=tuple(reader.problems.found),
    )


def general_notes(zone: str) -> tuple[Note, ...]:
    """What is different for every line."""
    return (
        Note(0, f"times are read in {zone}, on every machine; cron takes the zone of the machine"),
        Note(0, "a run that is due while the last one goes on is started beside it, as with cron;"
                " say concurrency=forbid to skip it"),
        Note(0, "what a job prints is kept by krond; mail is sent to mail=, and only when a run"
                " fails or is missed"),
    )  # fmt: skip


def _take_line(line: str, number: int, reader: _Reader) -> str | None:
    """The line of the krontab file for a line; None for a setting, which its jobs have."""
    setting = SETTING.fullmatch(line)
    if not line.strip() or line.lstrip().startswith("#"):
        said = line.strip().lstrip("# \t")
        reader.comment = "" if JOB.fullmatch(said) and looks_like_a_field(said.split()[0]) else said
        return line.strip()
    if setting is not None:
        _take_setting(setting, number, reader)
        return None
    piece = Piece(line, number, 1)
    job = _take_job(piece, reader)
    reader.comment = ""
    return f"# not taken over: {line.strip()}" if job is None else render_line(job)


def _take_setting(found: re.Match[str], number: int, reader: _Reader) -> None:
    settings = reader.settings
    name, value = found[1].strip("\"'"), _plain(found[2].strip())
    settings.places[name] = Piece(found[2], number, found.start(2) + 1)

    def note(text: str) -> None:
        reader.notes.append(Note(number, text))

    match name:
        case "SHELL":
            settings.shell = "true" if value == "/bin/sh" else value
        case "HOME":
            settings.home = value
        case "MAILTO":
            settings.mail = value
            if not value:
                note("krond sends no mail about failures, as MAILTO is empty")
            elif not all(ADDRESS.fullmatch(one.strip()) for one in value.split(",")):
                settings.mail = None
                note(f"krond sends no mail about failures, as {value!r} is no address")
        case "CRON_TZ":
            settings.zone = value
        case "RANDOM_DELAY" if _MINUTES.fullmatch(value):
            settings.delay_minutes = int(value)
            note(f"a delay of up to {value} minutes is a window, the same each time")
        case _ if name in _NOT_SET or not VARIABLE.fullmatch(name):
            note(f"{name} cannot be set, and is left out")
        case _ if RESERVED.fullmatch(name):
            settings.exports[name] = value
            note(f"{name} is set by the command itself")
        case _:
            settings.env[name] = value
            if name == "TZ":
                note("TZ is what the job sees; schedules are read in @tz")


def _take_job(line: Piece, reader: _Reader) -> Job | None:
    """The job of a line; None when there is none, which has been said."""
    problems, found = reader.problems, JOB.fullmatch(line.text)
    if found is None:
        problems.error(
            line.part(0), "crontab", "is no line of a crontab", got=line.text,
            hint="a line is five fields and a command",
        )  # fmt: skip
        return None
    rest = line.part(found.start(2)) if found[2] else line._replace(text="")
    if rest.text and looks_like_a_field(rest.text.split()[0]):
        problems.error(
            rest, "crontab", "has more than five fields", got=rest.text.split()[0],
            hint="cron has none for seconds or years; if the first is the second, write it in the"
                 f" krontab file: {found[1]} {rest.text.split()[0]} name=... command=...",
        )  # fmt: skip
        return None
    user, rest = _split_user(rest, reader)
    if not rest.text:
        hint = "a system crontab has a user before it" if reader.source.system else (
            "write five fields and a command, or say --system if the last word is a user"
        )  # fmt: skip
        problems.error(line.part(0), "crontab", "has no command", got=line.text, hint=hint)
        return None
    when = read_when(line.part(found.start(1), found.end(1)), problems)
    if when is None or user is None:
        return None
    executed = read_command(rest.text)
    _say(when, executed, rest, reader)
    name = name_of(executed.body, reader.comment, reader.names)
    text = " ".join(_words(when, name, executed.command, user, reader.settings))
    return _read(text, line, rest, reader)


def _split_user(rest: Piece, reader: _Reader) -> tuple[str | None, Piece]:
    """The user that a line names, and the command; None for a word that can be no user."""
    source, problems = reader.source, reader.problems
    word = rest.text.split()[0] if rest.text else ""
    if not source.system:
        is_one = is_only_user(word, source.users) and len(rest.text.split()) > 1
        if is_one and not source.user:
            problems.warn(
                rest, "crontab", "begins with the name of a user", got=word,
                hint="if it is a system crontab, take it over with --system",
            )  # fmt: skip
        return source.user, rest
    if word and not may_be_user(word):
        problems.error(
            rest, "user", "is no user", got=word,
            hint="leave --system out if it is the crontab of a user",
        )  # fmt: skip
        return None, rest.part(len(word))
    if word and not is_known_user(word, source.users):
        problems.warn(
            rest, "user", "is not known on this machine", got=word,
            hint="leave --system out if it is the crontab of a user; else create the user",
        )  # fmt: skip
    return word, rest.part(len(word))


def _say(when: When, executed: Executed, rest: Piece, reader: _Reader) -> None:
    reader.notes += [Note(rest.line, note) for note in when.notes]
    if executed.percent < 0:
        return
    if is_cut(executed.body):
        reader.problems.warn(
            rest.part(executed.percent), "command", "is cut at a bare %, and no shell can read it",
            got=executed.body, hint=r"cron cuts it too; write \% in the crontab, or % here",
        )  # fmt: skip
    else:
        note = r"% ends the command, and the rest is its input; write \% if a percent was meant"
        reader.notes.append(Note(rest.line, note))


def _words(when: When, name: str, command: str, user: str, settings: _Settings) -> list[str]:
    exported = (f"export {name}={shlex.quote(value)}; " for name, value in settings.exports.items())
    at_boot = when.schedule == AT_BOOT
    minutes = 0 if at_boot else settings.delay_minutes + when.window_minutes
    words = [when.schedule]
    words += [f"@tz({settings.zone})"] if settings.zone != "UTC" else []
    words += [f"@dialect({when.dialect})"] if when.dialect else []
    words += [f"@win(after,{minutes}m)"] if minutes else []
    words += [_POLICY_AT_BOOT if at_boot else _POLICY]
    words += [f"name={name}", f"command={_quoted(''.join(exported) + command)}"]
    words += [f"shell={_quoted(settings.shell)}"]
    words += [f"user={user}"] if user else []
    words += [f"cwd={_quoted(settings.home)}"] if settings.home else []
    words += [f"mail={_quoted(settings.mail)}"] if settings.mail else []
    return words + [f"env={key}={_quoted(value)}" for key, value in settings.env.items()]


def _read(text: str, line: Piece, command: Piece, reader: _Reader) -> Job | None:
    """The job of a new line; what is wrong with that is said where it comes from."""
    krontab = read_krontab(text, file=reader.source.file, yaml=False)
    for error in krontab.errors:
        setting = reader.settings.places.get(_FROM_SETTING.get(error.where, ""))
        place = setting or (command if error.where == "command" else line.part(0))
        reader.problems.error(place, error.where, error.reason, got=error.got, hint=error.hint)
    return None if krontab.errors else krontab.jobs[0]


def _plain(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
