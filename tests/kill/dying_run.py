"""
`gnomon` with a bomb in it: `python -m tests.kill.dying_run N ARGUMENTS...`

The process kills itself, with SIGKILL, at the N-th point it passes; with -N it stops itself there,
with SIGSTOP, and with 0 it does neither. Points lie before and after every call of the ledger and
the launcher, inside every transaction right before its commit, and between the birth of a process
and everything that is done about it. The last line it writes says which point it was. The leases of
krond's runs are short, so that they are over while it is stopped. Everything else is the product,
put together by the product.
"""

import subprocess
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path

from gnomon.apps.krond import job
from gnomon.cli import main
from gnomon.compose import krond, run
from gnomon.core.schedule import Policy
from gnomon.shell.launcher.process import ProcessLauncher, _Run
from gnomon.shell.launcher.process_start import ProcessStart
from gnomon.shell.store import sqlite as store
from gnomon.shell.store.sqlite import SqliteLedger
from tests.kill.mine import LEDGER_CALLS, Bomb, MinedDatabase, mined
from tests.kill.world import LEASE_S

LAUNCHER_CALLS = ("launch", "release", "adopt", "end", "ended", "drain")


class MinedLauncher(ProcessLauncher):
    """A launcher with a point right after a process was born."""

    def _admit(
        self, start: ProcessStart, process: "subprocess.Popen[bytes]", gate: int, path: Path | None,
        cwd: str,
    ) -> _Run:  # fmt: skip
        Bomb.point("inside launch")
        return super()._admit(start, process, gate, path, cwd)


def lay_mines() -> None:
    ledger = type(
        "MinedLedger",
        (SqliteLedger,),
        {name: mined(name, getattr(SqliteLedger, name)) for name in LEDGER_CALLS},
    )
    launcher = type(
        "MinedProcessLauncher",
        (MinedLauncher,),
        {name: mined(name, getattr(MinedLauncher, name)) for name in LAUNCHER_CALLS},
    )
    for program in (run, krond):
        vars(program).update(SqliteLedger=ledger, ProcessLauncher=launcher)
    setattr(store, "Database", MinedDatabase)  # noqa: B010
    vars(job)["Policy"] = partial(Policy, lease=timedelta(seconds=LEASE_S))


if __name__ == "__main__":
    Bomb.lay(int(sys.argv[1]))
    lay_mines()
    sys.exit(main(sys.argv[2:]))
