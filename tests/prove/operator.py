"""
Prove that operators on a real Kubernetes keep their word: `python -m tests.prove kill-operator`.

Campaigns of a hundred faults each, one after the other, each with a cluster of its own (`make
kube`). Writes docs/evidence/kill-operator.md when 1,000 faults were struck. What a fault meets is
not drawn from a seed, so a finding may need several runs to show again.
"""

from collections.abc import Sequence

from tests.kube.binaries import KUBERNETES, MissingClusterError, find_binaries
from tests.oracle.random_cases import SEED
from tests.prove.chunk import FAULTS_PER_CAMPAIGN, Chunk, ChunkResult
from tests.prove.page import Found, counts, figures, notes_of, page, part, table
from tests.prove.runner import Run, run_all, write_report

__all__ = ["FAULTS", "prove"]

FAULTS = 1_000
_SAID = (
    "Two operators without a leader keep eight KronJobs on a real API server, etcd and Job "
    "controller; kwok completes the pods.",
    "Operators are killed with SIGKILL at each step (before a question to the API server, while it "
    "is on its way, after its answer) and from outside, stalled with SIGSTOP, cut off, silenced "
    "and delayed by a proxy; the API server and etcd are killed and started again; Jobs are "
    "deleted, KronJobs are edited, suspended, resumed and made again.",
    "A judge that shares no code with the operator reads the audit log of the API server: an "
    "execution is a Job that was ever seen unsuspended, or was ever given a pod.",
)


def prove(how: Run, *, faults: int) -> bool:
    """Strike, and say whether nothing was lost, doubled or told wrongly."""
    try:
        find_binaries()
    except MissingClusterError as error:
        print(f"kill-operator: {error}")
        return False
    numbers = range(0, -(-faults // FAULTS_PER_CAMPAIGN), how.sample)
    chunks = [Chunk(kind="kill-operator", index=index) for index in numbers]
    print(
        f"kill-operator: seed {SEED}, {len(chunks)} campaigns with {FAULTS_PER_CAMPAIGN} faults, "
        "one at a time"
    )
    state = run_all(chunks, "kill-operator", how, workers=1, unit="faults")
    found = _figures([state.results[chunk] for chunk in chunks], wall_s=state.wall_s)
    if path := how.report("kill-operator.md", whole=faults >= FAULTS):
        write_report(path, found, _page(found))
    print(
        f"{found['faults']} faults, {found['executions']} Jobs ran for {found['due']} periods that "
        f"had to run and others, {found['problems']} problems"
    )
    return not found["problems"]


def _figures(results: Sequence[ChunkResult], *, wall_s: float) -> Found:
    notes = notes_of(results)
    return figures(results, wall_s=wall_s) | {
        "seed": SEED,
        "kubernetes": KUBERNETES,
        "faults": sum(result.cases for result in results),
        "kinds": part(notes, "fault "),
        "kronjobs": notes["kronjobs"],
        "due": sum(result.answers for result in results),
        "executions": notes["executions"],
        "candidates": notes["candidates"],
        "requests": notes["requests"],
        "late_p50_ms": max((result.notes.get("late p50", 0) for result in results), default=0),
        "late_max_ms": max((result.notes.get("late max", 0) for result in results), default=0),
        "problems": sum(result.differences_found for result in results),
    }


def _page(found: Found) -> str:
    rows = [
        ("Kubernetes", found["kubernetes"]),
        ("faults", found["faults"]),
        ("KronJobs", found["kronjobs"]),
        ("periods that had to run", found["due"]),
        ("Jobs that ran", found["executions"]),
        ("Jobs that were made and never released", found["candidates"]),
        ("requests of the operators", found["requests"]),
        ("released after the chosen second, the worst median of a campaign, in ms",
         found["late_p50_ms"]),
        ("the same, at worst", found["late_max_ms"]),
        ("periods run twice, lost within their deadline, or told wrongly", found["problems"]),
    ]  # fmt: skip
    body = [*table(("what", "number"), rows), *counts(("fault", "times"), found["kinds"])]
    return page("operators on Kubernetes", _SAID, body, found)
