"""
Crontabs become krontab files: what cron had, in the words of krond, with what changes said.

Read is what cron reads: settings such as `PATH=...`, five fields or a macro and a command, in
system crontabs with a user before it. Times are those of the zone that cron was in. Jobs run
beside themselves as with cron, and may start up to a minute late. A line that cannot be taken over
stays as a comment, and is said.

Spec: KRONTAB-28 to KRONTAB-30.
"""

import re
import shlex
from dataclasses import dataclass, field

from gnomon.apps.daemon.job import Job
from gnomon.apps.daemon.krontab.piece import Piece
from gnomon.apps.daemon.krontab.problem import Problem, Problems
from gnomon.apps.daemon.krontab.process import RESERVED, VARIABLE
from gnomon.apps.daemon.krontab.reader import read_krontab
from gnomon.apps.daemon.krontab.render import render_line

__all__ = ["Imported", "Note", "import_crontab"]

_SETTING = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|\"[^\"]*\"|'[^']*')\s*=\s*(.*)")
_FIELDS = re.compile(r"\s*-?(@\S+|(?:\S+\s+){4}\S+)(?:\s+(.*))?")
_USER = re.compile(r"(\S+)(?:\s+(.*))?")
_MACROS = {"@annually": "@yearly", "@midnight": "@daily"}
_NOT_SET = ("LOGNAME", "USER")
_MINUTES = re.compile(r"[0-9]{1,4}")
_WORD = re.compile(r"[a-z0-9]+")
_EVERY_NTH = re.compile(r"\*/([1-9])")
_POLICY = "@policy(concurrency=allow,deadline=1m)"


@dataclass(frozen=True, slots=True)
class Note:
    """What is different from now on, about one line of the crontab; 0 for all of it."""

    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of a crontab."""

    text: str
    """The krontab file."""
    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]
    """The lines that could not be taken over."""


@dataclass(slots=True)
class _Settings:
    """What the settings so far say about the lines below them."""

    zone: str
    env: dict[str, str] = field(default_factory=dict)
    exports: dict[str, str] = field(default_factory=dict)
    """What krond does not set for a job, so that its command must."""
    shell: str = "true"
    home: str = ""
    mail: str | None = None
    delay_minutes: int = 0


def import_crontab(text: str, *, system: bool, zone: str, file: str) -> Imported:
    """The krontab file for a crontab; `system` when its lines name a user, `zone` is cron's own."""
    problems, notes, lines = Problems(), [*_general(zone)], []
    settings, names = _Settings(zone=zone), set[str]()
    for number, line in enumerate(text.split("\n"), 1):
        setting = _SETTING.fullmatch(line)
        if not line.strip() or line.lstrip().startswith("#"):
            lines.append(line.strip())
        elif setting is not None:
            notes += _take_setting(setting, number, settings)
        else:
            piece = Piece(line, number, 1)
            found = _job_line(piece, settings, system, names, problems, notes)
            job = None if found is None else _read(found, piece, file, problems)
            lines.append(f"# not taken over: {line.strip()}" if job is None else render_line(job))
    return Imported(
        text="\n".join(lines).rstrip("\n") + "\n",
        notes=tuple(notes),
        problems=tuple(problems.found),
    )


def _general(zone: str) -> list[Note]:
    return [
        Note(0, f"times are read in {zone}, on every machine; cron takes the zone of the machine"),
        Note(0, "a run that is due while the last one goes on is started beside it, as with cron;"
                " say concurrency=forbid to skip it"),
        Note(0, "what a job prints is kept by krond; mail is sent to mail=, and only on failure"),
    ]  # fmt: skip


def _take_setting(setting: re.Match[str], number: int, settings: _Settings) -> list[Note]:
    name, value = setting[1].strip("\"'"), _plain(setting[2].strip())
    match name:
        case "SHELL":
            settings.shell = "true" if value == "/bin/sh" else value
        case "HOME":
            settings.home = value
        case "MAILTO":
            settings.mail = value
            if not value:
                return [Note(number, "nobody is told about failures, as MAILTO is empty")]
        case "CRON_TZ":
            settings.zone = value
        case "RANDOM_DELAY" if _MINUTES.fullmatch(value):
            settings.delay_minutes = int(value)
            return [
                Note(number, f"a delay of up to {value} minutes is a window, the same each time")
            ]
        case _ if name in _NOT_SET or not VARIABLE.fullmatch(name):
            return [Note(number, f"{name} cannot be set, and is left out")]
        case _ if RESERVED.fullmatch(name):
            settings.exports[name] = value
            return [Note(number, f"{name} is set by the command itself")]
        case _:
            settings.env[name] = value
            if name == "TZ":
                return [Note(number, "TZ is what the job sees; schedules are read in @tz")]
    return []


def _job_line(
    line: Piece, settings: _Settings, system: bool, names: set[str], problems: Problems,
    notes: list[Note],
) -> str | None:  # fmt: skip
    """The line of a krontab file that says the same; None when there is none."""
    found = _FIELDS.fullmatch(line.text)
    if found is None:
        problems.error(
            line.part(0), "crontab", "is no line of a crontab", got=line.text,
            hint="a line is five fields and a command",
        )  # fmt: skip
        return None
    rest, user = found[2] or "", ""
    if system:
        split = _USER.fullmatch(rest)
        user, rest = (split[1], split[2] or "") if split else ("", "")
    if not rest.strip():
        hint = "a system crontab has a user before it" if system else "is it a system crontab?"
        problems.error(line.part(0), "crontab", "has no command", got=line.text, hint=hint)
        return None
    schedule, only = _schedule(found[1])
    command, has_input = _command(rest)
    exported = (f"export {name}={shlex.quote(value)}; " for name, value in settings.exports.items())
    command = f"{''.join(exported)}{command}"
    if has_input:
        notes.append(Note(line.line, "what stood behind % is handed to the command by printf"))
    if only:
        notes.append(
            Note(line.line, "other days are recorded as unschedulable, because cron wants both the"
                 " day of month and the day of week when one of them begins with *")
        )  # fmt: skip
    return " ".join(_words(schedule, only, _name(rest, names), command, user, settings))


def _words(
    schedule: str, only: str, name: str, command: str, user: str, settings: _Settings
) -> list[str]:
    words = [schedule]
    words += [f"@tz({settings.zone})"] if settings.zone != "UTC" else []
    words += [f"@win(after,{settings.delay_minutes}m)"] if settings.delay_minutes else []
    words += [f"@only({only})"] if only else []
    words += [_POLICY, f"name={name}", f"command={_quoted(command)}", f"shell={settings.shell}"]
    words += [f"user={user}"] if user else []
    words += [f"cwd={_quoted(settings.home)}"] if settings.home else []
    words += [f"mail={_quoted(settings.mail)}"] if settings.mail else []
    return words + [f"env={key}={_quoted(value)}" for key, value in settings.env.items()]


def _schedule(text: str) -> tuple[str, str]:
    """The schedule in the standard dialect, and the constraint that it needs beside, if any."""
    if text.startswith("@"):
        return _MACROS.get(text.lower(), text), ""
    minute, hour, day, month, weekday = text.split()
    # To cron a field that begins with * restricts nothing, so that both fields must match; to the
    # standard dialect */2 does restrict, and one of the two fields suffices.
    if day.startswith("*") and day != "*" and weekday != "*":
        return f"{minute} {hour} {day} {month} *", f"dow={_stepped(weekday)}"
    if weekday.startswith("*") and weekday != "*" and day != "*":
        return f"{minute} {hour} {day} {month} *", f"dow={_stepped(weekday)}"
    return " ".join((minute, hour, day, month, weekday)), ""


def _stepped(weekday: str) -> str:
    """`*/2` as the list of weekdays that it stands for; other fields as they are."""
    found = _EVERY_NTH.fullmatch(weekday)
    return weekday if found is None else ",".join(map(str, range(0, 7, int(found[1]))))


def _command(text: str) -> tuple[str, bool]:
    r"""The command, and whether it has an input: `%` is a line feed there, and `\%` a percent."""
    parts = [part.replace("\0", "%") for part in text.replace("\\%", "\0").split("%")]
    if len(parts) == 1:
        return parts[0].strip(), False
    lines = " ".join(shlex.quote(part) for part in parts[1:])
    return f"printf '%s\\n' {lines} | {{ {parts[0].strip()}; }}", True


def _name(command: str, names: set[str]) -> str:
    """A name from the program, that no other job has."""
    words = command.split()
    program = next((word for word in words if "=" not in word), words[0]).rpartition("/")[2]
    stem = "-".join(_WORD.findall(program.rpartition(".")[0].lower() or program.lower())) or "job"
    stem, number = stem[:80], 1
    while (name := stem if number == 1 else f"{stem}-{number}") in names:
        number += 1
    names.add(name)
    return name


def _read(found: str, line: Piece, file: str, problems: Problems) -> Job | None:
    """The job of a new line; what is wrong with that is said of the old one."""
    krontab = read_krontab(found, file=file, yaml=False)
    for error in krontab.errors:
        problems.error(line.part(0), error.where, error.reason, got=error.got, hint=error.hint)
    return None if krontab.errors else krontab.jobs[0]


def _plain(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
