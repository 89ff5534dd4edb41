"""
What does a worker lack itself, so that it can start no run whatever?

Descriptors, memory and processes are the worker's and the machine's. Without them every launch
would fail alike, so that is no failure of a run.

Spec: LAUNCH-17.
"""

import errno
import resource

__all__ = ["DESCRIPTORS", "is_strain", "raise_limit"]

DESCRIPTORS = 65_536

_STRAINS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)


def is_strain(error: OSError, *, as_another: bool) -> bool:
    """Whether the worker lacks something, and not the run, which may be another user's."""
    if as_another and error.errno == errno.EAGAIN:
        return False  # that user has too many processes, and others have not
    return error.errno in _STRAINS


def raise_limit() -> int | None:
    """Let this process have many files open; what was allowed before is what commands find."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return None
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return soft
