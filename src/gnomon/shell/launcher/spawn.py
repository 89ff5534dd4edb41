"""
How does a process begin, and from which step on with whose rights?

It begins as a shell that waits at a pipe and does nothing else until it is released. As another
user it has that user's rights before its first step, and goes to its directory with them: to go
there first would be to go there with the rights of the worker.

Spec: LAUNCH-7, LAUNCH-15, LAUNCH-16.
"""

import errno
import subprocess
from collections.abc import Mapping, Sequence

from gnomon.shell.launcher.account import Account
from gnomon.shell.launcher.identity import Identity, identify

__all__ = ["begin", "identity_of", "stub"]

_STUB = 'read -r GNOMON_GO || exit 0; {prepare}exec "$@" </dev/null'
_ENTER = 'cd -P "$1" || exit 126; unset OLDPWD; shift; '


def stub(descriptors: int | None) -> str:
    """What a process does before it becomes its command, which may have so many files open."""
    return _STUB.format(prepare="" if descriptors is None else f"ulimit -S -n {descriptors}; ")


def begin(
    text: str, arguments: Sequence[str], account: Account, *, cwd: str, env: Mapping[str, str],
    stdin: int, outputs: tuple[int | None, int | None], umask: int | None,
) -> "subprocess.Popen[bytes]":  # fmt: skip
    """Start the shell that waits, with the text that it reads."""
    user, group, groups = account.identities
    becomes = user is not None
    line = [_ENTER + text, "gnomon", cwd] if becomes else [text, "gnomon"]
    return subprocess.Popen(  # noqa: S603 (the command is the schedule's own)
        ["/bin/sh", "-c", *line, *arguments],
        stdin=stdin, stdout=outputs[0], stderr=outputs[1], cwd="/" if becomes else cwd, env=env,
        umask=-1 if umask is None else umask, user=user, group=group, extra_groups=groups,
        start_new_session=True, close_fds=True,
    )  # fmt: skip


def identity_of(process: "subprocess.Popen[bytes]", cwd: str) -> Identity:
    """Which process that is, while it waits."""
    found = identify(process.pid)
    if found is not None:
        return found
    if process.poll() is not None:  # the directory was changed since it was tried
        raise OSError(errno.EACCES, "the working directory could not be entered any more", cwd)
    raise OSError(errno.ENOSYS, "nothing is known about the new process; is /proc there?")
