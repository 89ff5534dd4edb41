"""
Prove the operator in simulated worlds: `python -m tests.prove operator-worlds`.

In 8,000 worlds operators die before and after every call, and after a call that arrives when they
are dead, at one of them and at two; 2,000 are storms and 250 are days on which clocks change.
Writes docs/evidence/operator-worlds.md when all of it was run. A finding prints the line that shows
it again.
"""

from tests.prove.chunk import OPERATOR_CHUNK
from tests.prove.runner import Run
from tests.prove.simulated import Part, Proof, prove_worlds

__all__ = ["WORLDS", "prove"]

WORLDS = 8_000
_PROOF = Proof(
    name="operator-worlds",
    title="the operator in simulated worlds",
    said=(
        "Operators live through simulated worlds on virtual time, with their watches, queues and "
        "Leases, over an API server in memory that keeps the contract of a real one.",
        "Calls die, are lost and arrive late; watches lag; people delete Jobs, take their names, "
        "edit, suspend, make again and wipe statuses between a call and its answer; the server "
        "refuses; clocks are set.",
        "A judge that shares no code with the operator reads what the server stored; the audit log "
        "of a real cluster is judged by the same rules.",
    ),
    worlds=WORLDS,
    parts=(
        Part(
            "operator-crash", "operators die at every call, once and twice",
            WORLDS // OPERATOR_CHUNK,
        ),
        Part("operator-storm", "everything at once", WORLDS // 4 // OPERATOR_CHUNK),
        Part("operator-calendar", "days on which clocks change", WORLDS // 32 // OPERATOR_CHUNK),
    ),
    answers="due",
    columns={
        "calls": "calls", "due": "periods that had to run", "executions": "Jobs that ran",
        "candidates": "Jobs made and never released",
    },
    promise="broken promises",
)  # fmt: skip


def prove(how: Run, *, worlds: int, workers: int) -> bool:
    """Let the worlds happen, and say whether nothing ran twice and nothing was lost."""
    return prove_worlds(_PROOF, how, worlds=worlds, workers=workers)
