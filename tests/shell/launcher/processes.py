"""Real processes that say when they are ready, and wait until they are told to go on."""

import asyncio
from pathlib import Path

from gnomon.ports import Claim, Ended, Launched
from gnomon.shell.clock import SystemClock
from gnomon.shell.launcher.process import ProcessLauncher
from tests.shell.launcher.claims import a_claim

__all__ = ["READY", "begin", "heard", "run_one", "say", "shell_with_fifo"]

READY = 'echo ready > "$FIFO"'


async def begin(launcher: ProcessLauncher, claim: Claim) -> str:
    launched = await launcher.launch(claim)
    assert isinstance(launched, Launched), launched
    await launcher.release(claim.key)
    return launched.run_id


def run_one(target: object, directory: Path, *, output_max: int = 65_536) -> tuple[Ended, str]:
    """Run a process to its end; how that was, and what it printed."""

    async def scenario() -> tuple[Ended, str]:
        launcher = ProcessLauncher(SystemClock(), directory=directory, output_max=output_max)
        claim = a_claim(target)
        await begin(launcher, claim)
        [end] = await launcher.ended()
        path = launcher.output.newest(claim.key)
        return end, path.read_text() if path else ""

    return asyncio.run(scenario())


def shell_with_fifo(text: str, fifo: Path, **more: object) -> dict[str, object]:
    return {"shell": text, "env": {"FIFO": str(fifo)}, **more}


def say(fifo: Path, word: str) -> None:
    """Tell the process something; returns when it listens."""
    fifo.write_text(f"{word}\n")


def heard(fifo: Path) -> str:
    """What the process says; returns when it has."""
    return fifo.read_text()
