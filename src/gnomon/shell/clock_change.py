"""
Who says that the clock on the wall was set?

Linux does. A process sets a timer that is cancelled when the clock is set (timerfd_create(2)), and
waits for it. So a runtime need not find out at its next turn, which may be too late for something
that is due by the new time. Python 3.11 has no name for this call, hence the C library. A system
without the call tells the runtime nothing, and its next turn finds out.

Spec: RUN-15.
"""

import asyncio
import contextlib
import ctypes
import errno
import os
import time
from collections.abc import Callable, Iterator

__all__ = ["told_of_clock_changes"]

_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC
_ABSOLUTE, _CANCEL_ON_SET = 1 << 0, 1 << 1  # from linux/timerfd.h
_NEVER_S = 1 << 40


class _Spec(ctypes.Structure):
    """An itimerspec: how often, and when first."""

    _fields_ = (
        ("every_s", ctypes.c_long), ("every_ns", ctypes.c_long),
        ("first_s", ctypes.c_long), ("first_ns", ctypes.c_long),
    )  # fmt: skip


@contextlib.contextmanager
def told_of_clock_changes(tell: Callable[[], None]) -> Iterator[bool]:
    """Within this block, call `tell` whenever the clock is set; whether that works here."""
    library = ctypes.CDLL(None, use_errno=True)
    create = getattr(library, "timerfd_create", None)
    timer = -1 if create is None else create(time.CLOCK_REALTIME, _FLAGS)
    if timer < 0:
        yield False
        return
    loop = asyncio.get_running_loop()

    def arm() -> None:
        never = _Spec(0, 0, _NEVER_S, 0)
        library.timerfd_settime(timer, _ABSOLUTE | _CANCEL_ON_SET, ctypes.byref(never), None)

    def changed() -> None:
        try:
            os.read(timer, 8)
        except OSError as error:
            if error.errno == errno.ECANCELED:
                arm()
                tell()

    arm()
    loop.add_reader(timer, changed)
    try:
        yield True
    finally:
        loop.remove_reader(timer)
        os.close(timer)
