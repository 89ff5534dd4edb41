"""Stores that an older version of Gnomon wrote, as SQL, and what is looked for in them."""

from pathlib import Path

from gnomon.ports.dag import DagRuns, DagStore

__all__ = ["LEDGER_10", "POSTGRES_10", "check_dags"]

_HERE = Path(__file__).parent
LEDGER_10 = (_HERE / "ledger_10.sql").read_text(encoding="utf-8")
POSTGRES_10 = (_HERE / "postgres_10.sql").read_text(encoding="utf-8")
_NEXT_DAY_MS = 1_772_409_600_000  # 2026-03-02T00:00:00Z


async def check_dags(dags: DagStore, runs: DagRuns) -> None:
    """Two versions of a DAG, of which the first was removed, another DAG, and two runs."""
    newest = await dags.newest_of_each(user_id="anna")
    assert [(one.workflow_id, one.version) for one in newest] == [("other", 1), ("report", 2)]
    assert await dags.load("anna", "report", 1) is None
    assert await dags.highest("anna", "report") == 2
    assert await dags.remove("anna", "other", now_ms=_NEXT_DAY_MS) == 1
    assert await dags.load("anna", "other", 1) is None

    done, busy = await runs.get("done"), await runs.get("busy")
    assert done is not None
    assert busy is not None
    assert (done.status, done.nodes[0].detail, busy.status) == ("SUCCESS", "exit 0", "STARTED")
    assert await runs.log("done", "a") == "hello\n"
    taken = await runs.begin(busy._replace(fence=7))
    assert (taken.fence, taken.run_id) == (7, "run:busy")
    assert await runs.retain(before_ms=done.started_ms + 60_000, limit=10) == 1
    assert await runs.log("done", "a") is None
