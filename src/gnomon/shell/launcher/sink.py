"""
Where does one output of a process go?

Into the file that the launcher keeps for its run (`capture`), to where the worker prints itself
(`inherit`), nowhere (`discard`), to the end of a file (`file:PATH`), or to the system's log
(`syslog`), where each write of the process is one message. A file is opened with the rights of the
process's own user, so that no user can have a file written that the user could not write; one
that cannot be opened is an `OSError`, and the process is not started.

Spec: LAUNCH-13.
"""

import contextlib
import os
import socket
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gnomon.errors import DefinitionError
from gnomon.shell.launcher.account import Account
from gnomon.shell.launcher.rights import files_of

__all__ = ["CAPTURE", "USUAL_UMASK", "Sinks", "check_sink"]

CAPTURE, INHERIT, _DISCARD, _SYSLOG = "capture", "inherit", "discard", "syslog"
_FILE = "file:"
_WORDS = (CAPTURE, INHERIT, _DISCARD, _SYSLOG)
SYSTEM_LOG = "/dev/log"
USUAL_UMASK = 0o022


def check_sink(text: str, *, where: str) -> str:
    """The text, if it names a place for output."""
    if text in _WORDS or (text.startswith(_FILE) and len(text) > len(_FILE)):
        return text
    raise DefinitionError(
        "is no place for output", where=where, got=text,
        hint=f"write one of {', '.join(_WORDS)}, or file:PATH",
    )  # fmt: skip


class Sinks(NamedTuple):
    """How the outputs of one process are opened."""

    account: Account
    place: int
    """Where paths that are not absolute begin, as an open directory."""
    umask: int
    capture: Callable[[], int]
    """Opens the file that the launcher keeps."""

    @contextlib.contextmanager
    def opened(self, stdout: str, stderr: str) -> Iterator[tuple[int | None, int | None]]:
        """Descriptors for the process; None for the worker's own. They are closed afterwards."""
        with contextlib.ExitStack() as closing:
            found: dict[str, int] = {}
            for sink in {stdout, stderr} - {INHERIT}:  # what goes to one place goes there in order
                found[sink] = self._open(sink)
                closing.callback(os.close, found[sink])
            yield found.get(stdout), found.get(stderr)

    def _open(self, sink: str) -> int:
        if sink == CAPTURE:
            return self.capture()
        if sink == _DISCARD:
            return os.open(os.devnull, os.O_WRONLY)
        if sink == _SYSLOG:
            return _system_log()
        path = sink.removeprefix(_FILE)
        try:
            with files_of(self.account):
                return _append_to(path, self.place, self.umask)
        except OSError as error:
            said = f"the file for the output cannot be opened: {error.strerror}"
            raise OSError(error.errno, said, path) from error


def _append_to(path: str, place: int, umask: int) -> int:
    # A pipe that was named may have no reader; then the launcher must not wait for one.
    flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=place)
    except FileExistsError:
        descriptor = os.open(path, flags, dir_fd=place)
    else:
        os.fchmod(descriptor, 0o666 & ~umask)
    os.set_blocking(descriptor, True)
    return descriptor


def _system_log() -> int:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        try:
            log.connect(SYSTEM_LOG)
        except OSError as error:
            raise OSError(error.errno, f"the system's log cannot be reached ({error})") from error
        return log.detach()
