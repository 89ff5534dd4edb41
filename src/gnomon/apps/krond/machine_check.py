"""
What this machine lacks for a job: its user, its group, its program, its directory.

These are warnings. A user may come with the network and a program with the next package; a job that
lacks one when it is to start fails to start, and that is recorded.

Spec: KRONTAB-24.
"""

import grp
import os
import pwd
import shutil
from pathlib import Path

from gnomon.apps.krond.krontab.draft import Piece
from gnomon.apps.krond.krontab.problem import Problem, Problems
from gnomon.apps.krond.krontab.reader import Entry, Krontab
from gnomon.shell.launcher.command import PATH, missing_program_hint

__all__ = ["examine"]


def examine(krontab: Krontab) -> tuple[Problem, ...]:
    """Warnings about everything that the jobs of a file need and this machine does not have."""
    problems = Problems()
    for entry in krontab.entries:
        _about_accounts(entry, problems)
        _about_files(entry, problems)
    return tuple(problems.found)


def _about_accounts(entry: Entry, problems: Problems) -> None:
    execution = entry.job.execution
    for name, text, is_known in (
        ("user", execution.user, _has_user), ("group", execution.group, _has_group),
    ):  # fmt: skip
        if text and not is_known(text):
            problems.warn(
                _place(entry, name), name, "is not known on this machine", got=text,
                hint=f"create the {name}, or write another",
            )  # fmt: skip
    wants_other = execution.user and _user_id(execution.user) != os.geteuid()
    if wants_other and os.geteuid() != 0:
        problems.warn(
            _place(entry, "user"), "user", "can be had by root only", got=execution.user,
            hint="have root run krond, or leave the user out",
        )  # fmt: skip


def _about_files(entry: Entry, problems: Problems) -> None:
    execution = entry.job.execution
    cwd = execution.cwd or _home(execution.user)
    if execution.cwd and not Path(cwd).is_dir():
        problems.warn(
            _place(entry, "cwd"), "cwd", "is no directory on this machine", got=cwd,
            hint="create it, or write another",
        )  # fmt: skip
    program = execution.argv[0]
    path = dict(execution.env).get("PATH", PATH)
    found = Path(cwd, program).is_file() if "/" in program else shutil.which(program, path=path)
    if not found:
        problems.warn(
            _place(entry, "shell" if execution.shell else "command"), "command",
            "is no program on this machine", got=program,
            hint=missing_program_hint(program, cwd=cwd, path=path),
        )  # fmt: skip


def _user_id(user: str) -> int | None:
    try:
        return int(user) if user.isdigit() else pwd.getpwnam(user).pw_uid
    except KeyError:
        return None


def _has_user(user: str) -> bool:
    return _user_id(user) is not None


def _has_group(group: str) -> bool:
    try:
        return group.isdigit() or bool(grp.getgrnam(group))
    except KeyError:
        return False


def _home(user: str) -> str:
    user_id = _user_id(user) if user else os.geteuid()
    try:
        return pwd.getpwuid(os.geteuid() if user_id is None else user_id).pw_dir
    except KeyError:
        return "/"


def _place(entry: Entry, name: str) -> Piece:
    return Piece("", *entry.places.get(name, (entry.line, 1)))
