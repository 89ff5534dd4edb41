"""An unprivileged user for tests: root is refused nothing, so tests of refusals need one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["nobodys_directory", "unprivileged"]

_NOBODY = 65_534


@contextmanager
def nobodys_directory() -> Iterator[Path]:
    """A directory that an unprivileged user may enter and write to."""
    with TemporaryDirectory() as name:
        if os.geteuid() == 0:
            os.chown(name, _NOBODY, _NOBODY)
        yield Path(name)


@contextmanager
def unprivileged() -> Iterator[None]:
    """Run the block as an unprivileged user, when root runs the tests."""
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(_NOBODY)
    try:
        yield
    finally:
        if was_root:
            os.seteuid(0)
