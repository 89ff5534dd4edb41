"""
A worker to be killed: launches one process, says its run id, and waits for the end.

`python -m tests.shell.launcher.doomed_worker DIRECTORY TARGET release|hold`
"""

import asyncio
import json
import sys
from pathlib import Path

from gnomon.ports import Launched
from gnomon.shell.clock import SystemClock
from gnomon.shell.launcher.process import ProcessLauncher
from tests.shell.launcher.claims import a_claim


async def work(directory: str, target: str, what: str) -> None:
    launcher = ProcessLauncher(SystemClock(), directory=Path(directory))
    claim = a_claim(json.loads(target))
    launched = await launcher.launch(claim)
    assert isinstance(launched, Launched)
    if what == "release":
        await launcher.release(claim.key)
    print(launched.run_id, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(work(*sys.argv[1:]))
