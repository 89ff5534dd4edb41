"""A launcher without descriptors: it can start nothing, and says that it is not the run's fault."""

import asyncio
import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.ports import Failed, Launched, Strained
from gnomon.shell.clock import SystemClock
from gnomon.shell.launcher.process import ProcessLauncher
from gnomon.shell.launcher.strain import is_strain
from tests.clauses import clause
from tests.shell.launcher.claims import a_claim


@contextlib.contextmanager
def few_descriptors(left: int) -> Iterator[None]:
    """No more than so many can be opened."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, soft), hard))
    try:
        with contextlib.suppress(OSError):
            while True:
                held.append(os.open(os.devnull, os.O_RDONLY))
        for one in held[len(held) - left :]:
            os.close(one)
        del held[len(held) - left :]
        yield
    finally:
        for one in held:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@clause("LAUNCH-17")
@pytest.mark.parametrize("user", ["", "root"])
def test_however_few_descriptors_are_left_no_run_is_blamed(user: str, tmp_path: Path) -> None:
    target = {"command": ["true"], **({"user": user} if user and os.geteuid() == 0 else {})}

    async def scenario() -> list[Launched | Failed | Strained]:
        launcher, found = ProcessLauncher(SystemClock(), directory=tmp_path), []
        for left in range(1, 10):
            with few_descriptors(left):
                found.append(await launcher.launch(a_claim(target)))
        after = await launcher.launch(a_claim(target))
        await launcher.drain(grace_ms=0)
        return [*found, after]

    *strained, last = asyncio.run(scenario())
    assert {type(one) for one in strained[:3]} == {Strained}
    assert {type(one) for one in strained} <= {Strained, Launched, Failed}
    assert "Too many open files" in str(strained[0])
    assert not [
        one for one in strained if isinstance(one, Failed) and "earlier run" not in str(one)
    ]
    assert isinstance(last, Launched | Failed)


@clause("LAUNCH-17")
@pytest.mark.parametrize(
    ("number", "as_another", "expected"),
    [(24, False, True), (23, True, True), (12, True, True), (11, False, True), (11, True, False),
     (13, False, False), (2, False, False)],
)  # fmt: skip
def test_what_is_missing_is_the_workers_or_the_users(
    number: int, as_another: bool, expected: bool
) -> None:
    assert is_strain(OSError(number, "x"), as_another=as_another) is expected
