"""
Prove the workflow host in simulated worlds: `python -m tests.prove workflow`.

In 50,000 simulated worlds the process dies before and after calls of the store, of handlers, of
tools and of `reconcile`, at one of them and at two; 10,000 are storms, 2,000 have odd scripts and
stores, 1,000 have outages of hours and 200 last for days. Writes docs/evidence/workflow.md when all
of it was run. A finding prints the line that shows it again.
"""

from tests.prove.chunk import WORKFLOW
from tests.prove.runner import Run
from tests.prove.simulated import Part, Proof, prove_worlds

__all__ = ["WORLDS", "prove"]

WORLDS = 50_000
_PROOF = Proof(
    name="workflow",
    title="workflows",
    said=(
        "The real host over a real SQLite database lives through simulated worlds on virtual time.",
        "A system outside counts what was done to it; an audit that reads the tables with plain "
        "SQL compares.",
    ),
    worlds=WORLDS,
    parts=tuple(
        Part(kind, says, worlds // WORKFLOW[kind])
        for kind, says, worlds in (
            ("workflow-crash", "the process dies at every kind of call, once and twice", WORLDS),
            ("workflow-storm", "everything at once", 10_000),
            ("workflow-odd", "odd scripts and stores: circles, sign-ins, restored backups", 2_000),
            ("workflow-outage", "what is outside is away for minutes or hours", 1_000),
            ("workflow-old", "days in which what is over is forgotten", 200),
        )
    ),
    answers="mutations",
    columns={"calls": "calls", "runs": "runs", "mutations": "mutations"},
    promise="broken promises",
)


def prove(how: Run, *, worlds: int, workers: int) -> bool:
    """Let the worlds happen, and say whether nothing was made twice and nothing lost."""
    return prove_worlds(_PROOF, how, worlds=worlds, workers=workers)
