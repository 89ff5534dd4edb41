"""A stage for the embedded executor: a real file, real processes, and what was said about runs."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gnomon.core.dag.value import Json
from gnomon.ports import Clock
from gnomon.ports.dag import DagRun, DagRuns, NodeState
from gnomon.ports.executor import Accepted, Feedback, Meta
from gnomon.shell.clock import SystemClock
from gnomon.shell.executor.command_node import CommandNodes
from gnomon.shell.executor.embedded import EmbeddedExecutor
from gnomon.shell.executor.http_node import HttpNodes
from gnomon.shell.executor.node_runners import NodeRunners
from gnomon.shell.executor.python_node import PythonNodes
from gnomon.shell.executor.secrets import Secrets
from gnomon.shell.http.address_rule import read_rule
from gnomon.shell.http.outgoing import Outgoing
from gnomon.shell.launcher.process import ProcessLauncher
from gnomon.shell.store.dag import SqliteDagRuns
from gnomon.shell.store.sqlite import SqliteLedger
from tests.core.dag.dags import dag_text

__all__ = ["FUNCTIONS", "Stage", "a_meta", "function_node", "open_stage", "shell_node"]

FUNCTIONS = "tests.shell.executor.functions"


def a_meta(key: str = "key", *, fence: int = 1, attempt: int = 1, params: str = "{}") -> Meta:
    return Meta(
        workflow_id="report", version=1, user_id="anna", schedule_id="report.main",
        scheduled_for=1_772_323_200, idempotency_key=key, fence=fence, attempt=attempt,
        params=params,
    )  # fmt: skip


def shell_node(name: str, text: str, **fields: Json) -> dict[str, Json]:
    return {"id": name, "type": "command", "shell": text, "grace": "5s", **fields}


def function_node(
    name: str, function: str, timeout: str | None = None, **arguments: Json
) -> dict[str, Json]:
    more: dict[str, Json] = {} if timeout is None else {"timeout": timeout}
    callable_name = f"{FUNCTIONS}:{function}"
    return {"id": name, "type": "python", "callable": callable_name, "arguments": arguments, **more}


class Stage:
    """One executor, and everything that it has said."""

    def __init__(self, executor: EmbeddedExecutor, dag_runs: DagRuns) -> None:
        self.executor = executor
        self.dag_runs = dag_runs
        self.said: list[Feedback] = []

    async def run(
        self, *nodes: Json, edges: str = "", key: str = "key", fence: int = 1, params: str = "{}"
    ) -> Feedback:
        """Carry a DAG out, and return what is said about its end."""
        taken = await self.start(*nodes, edges=edges, key=key, fence=fence, params=params)
        assert isinstance(taken, Accepted)
        return await self.end_of(key)

    async def start(
        self, *nodes: Json, edges: str = "", key: str = "key", fence: int = 1, params: str = "{}"
    ) -> object:
        pairs = [dict(zip(("from", "to"), pair, strict=True)) for pair in edges.split()]
        text = dag_text(nodes=list(nodes), edges=[dict(one) for one in pairs])
        meta = a_meta(key, fence=fence, params=params)
        return await self.executor.run(json.dumps(json.loads(text)), meta)

    async def end_of(self, key: str = "key") -> Feedback:
        """Wait for the end of a run."""
        while True:
            for feedback in self.said:
                if feedback.key == key and feedback.is_end:
                    self.said.remove(feedback)
                    return feedback
            self.said += await self.executor.feedback()

    async def get(self, key: str = "key") -> DagRun:
        found = await self.dag_runs.get(key)
        assert found is not None
        return found

    async def states(self, key: str = "key") -> dict[str, NodeState]:
        return {row.node_id: row.state for row in (await self.get(key)).nodes}

    async def details(self, key: str = "key") -> dict[str, str]:
        return {row.node_id: row.detail for row in (await self.get(key)).nodes}

    async def log(self, node: str, key: str = "key") -> str:
        return await self.dag_runs.log(key, node) or ""


@asynccontextmanager
async def open_stage(
    folder: Path, *, clock: Clock | None = None, side_by_side: int = 8,
    dag_runs: DagRuns | None = None,
) -> AsyncIterator[Stage]:  # fmt: skip
    clock = clock or SystemClock()
    ledger = SqliteLedger.open(folder / "ledger.sqlite3")
    kept = dag_runs or SqliteDagRuns(ledger.database)
    runners = NodeRunners(
        commands=CommandNodes(ProcessLauncher(clock, directory=folder / "output", cwd=folder)),
        requests=HttpNodes(Outgoing(clock, rule=read_rule(networks=["127.0.0.0/8"]))),
        functions=PythonNodes([FUNCTIONS], clock),
        secrets=Secrets(folder / "secrets"),
    )
    executor = EmbeddedExecutor(kept, clock, runners, side_by_side=side_by_side)
    try:
        yield Stage(executor, kept)
        await executor.drain(grace_ms=0)
    finally:
        await executor.close()
        await ledger.close()
        await asyncio.sleep(0)
