"""
Measure the workflow host beside DBOS and Procrastinate: `python -m benchmarks.workflow [--quick]`.

Each engine in its own process and, if it is a peer, in its own environment; rounds interleaved, and
the best of each counts. What is compared is one event dealt with durably, one after the other, on
the same disk; the engines do not do the same for it, and the report says what each does.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg

from benchmarks.harness.contender import ROOT
from benchmarks.harness.environment import Unavailable, provide_environment
from benchmarks.harness.machine import this_machine
from tests.postgres.server import Server

ENGINES = "benchmarks.workflow.engines"
PEERS = {
    "dbos": ("dbos", "psycopg[binary]"),
    "procrastinate": ("procrastinate", "psycopg[binary]"),
}
CELLS = (
    ("gnomon", "SQLite, one workflow", ("events",), "file"),
    ("gnomon", "SQLite, ten workflows", ("many",), "file"),
    ("dbos", "SQLite", (), "file"),
    ("gnomon", "PostgreSQL, one workflow", ("events",), "url"),
    ("gnomon", "PostgreSQL, ten workflows", ("many",), "url"),
    ("dbos", "PostgreSQL", (), "url"),
    ("procrastinate", "PostgreSQL", (), "url"),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workflow")
    parser.add_argument("--quick", action="store_true", help="fewer events, one round")
    quick = parser.parse_args().quick
    count, rounds = (100, 1) if quick else (1_000, 3)
    server = Server()
    server.create(fsync=True)
    try:
        with TemporaryDirectory(prefix="workflow-", dir=_home()) as folder:
            best = _rates(server, Path(folder), count, rounds)
            latency = _gnomon("latency", 100 if quick else 500, Path(folder) / "latency.sqlite3")
            idle = _gnomon("idle", 100 if quick else 1_000, Path(folder) / "idle.sqlite3")
    finally:
        server.remove()
    print(f"\n{this_machine()}\n")
    for (engine, where), rate in best.items():
        print(f"{engine:14} {where:26} {rate}")
    print(f"publish to prepare: p50 {latency['p50_ms']:.1f} ms, p99 {latency['p99_ms']:.1f} ms")
    print(f"idle workflows: {idle['percent_of_a_core']:.2f} % of a core")
    return 0


def _rates(server: Server, folder: Path, count: int, rounds: int) -> dict[tuple[str, str], str]:
    """Events a second, the best of all rounds; or why there are none."""
    pythons = {name: _python(name) for name in PEERS}
    best: dict[tuple[str, str], float] = {}
    failed: dict[tuple[str, str], str] = {}
    for turn in range(rounds):
        for place, (engine, where, arguments, kind) in enumerate(CELLS):
            python = pythons.get(engine, sys.executable)
            if not python.startswith("/"):
                failed[engine, where] = python
                continue
            name = f"bench_{turn}_{place}"
            store = str(folder / f"{name}.sqlite3") if kind == "file" else _database(server, name)
            try:
                found = _run(python, f"{ENGINES}.{engine}", *arguments, str(count), store)
            except subprocess.SubprocessError as error:
                failed[engine, where] = f"failed: {str(getattr(error, 'stderr', error))[-300:]}"
                continue
            best[engine, where] = max(best.get((engine, where), 0), count / found["seconds"])
            print(f"round {turn + 1}: {engine} on {where}: {count / found['seconds']:,.0f}/s")
    texts = {key: f"{rate:8,.0f} events/s" for key, rate in best.items()}
    return texts | {key: text for key, text in failed.items() if key not in best}


def _gnomon(what: str, count: int, store: Path) -> dict[str, float]:
    return _run(sys.executable, f"{ENGINES}.gnomon", what, str(count), str(store))


def _run(python: str, module: str, *arguments: str) -> dict[str, float]:
    done = subprocess.run(
        [python, "-m", module, *arguments], cwd=ROOT, check=True, capture_output=True, text=True,
        timeout=600,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _python(name: str) -> str:
    found = provide_environment(
        f"workflow-{name}", PEERS[name], constraints=ROOT / "benchmarks" / "constraints.txt",
        under=ROOT / ".bench" / "venvs", progress=print,
    )  # fmt: skip
    return f"left out: {found.reason}" if isinstance(found, Unavailable) else str(found.python)


def _database(server: Server, name: str) -> str:
    import asyncio

    async def create() -> None:
        connection = await asyncpg.connect(server.url())
        await connection.execute(f"CREATE DATABASE {name}")
        await connection.close()

    asyncio.run(create())
    return server.url(name)


def _home() -> Path:
    home = ROOT / ".bench"
    home.mkdir(exist_ok=True)
    return home


if __name__ == "__main__":
    sys.exit(main())
