"""
One life of an embedded executor: `python -m tests.shell.executor.one_life N FOLDER FENCE`

It carries out a chain of three nodes and prints how that ended, unless it kills itself at the N-th
point before or after a call of the record of DAG runs; 0 for never. Each node leaves a line.
"""

import asyncio
import sys
from pathlib import Path

from gnomon.shell.store import dag
from tests.kill.mine import Bomb, mined
from tests.shell.executor.embedded_stage import open_stage, shell_node

__all__ = ["CALLS"]

CALLS = ("begin", "write", "end")
_LINE = 'echo "$GNOMON_NODE $GNOMON_ATTEMPT" >> lines.txt'


async def live(folder: Path, fence: int) -> None:
    async with open_stage(folder) as stage:
        end = await stage.run(
            *(shell_node(name, _LINE) for name in "abc"), edges="ab bc", fence=fence
        )
        print(end.status, end.detail, end.fence)


if __name__ == "__main__":
    Bomb.left = int(sys.argv[1])
    for name in CALLS:
        call = getattr(dag.SqliteDagRuns, name)
        setattr(dag.SqliteDagRuns, name, mined(name, call))
    asyncio.run(live(Path(sys.argv[2]), int(sys.argv[3])))
