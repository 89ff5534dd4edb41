"""
Prove the declarative scheduler in simulated worlds: `python -m tests.prove declarative`.

In 50,000 of them the process dies before and after every call of the journal, at one of them and at
two; 10,000 are storms; every story of five steps is played; then two years of twenty tasks and
thirty years of one, in pieces of ten days, with trouble from time to time. Writes
docs/evidence/declarative.md when all of it was run. A broken axiom is shown again by the line that
it prints: `python -m gnomon.simulation declarative`.
"""

from tests.prove.chunk import DECLARATIVE_DAYS
from tests.prove.runner import Run
from tests.prove.simulated import Part, Proof, prove_worlds

__all__ = ["WORLDS", "prove"]

WORLDS = 50_000
_PROOF = Proof(
    name="declarative",
    title="the declarative scheduler",
    said=(
        "The real `gnomon.Scheduler` over a real SQLite journal lives through simulated worlds on "
        "virtual time; [how Gnomon is tested](../explanation/how-gnomon-is-tested.md) says how.",
        "Its journal, with minutes and dues from an independent scan, is judged by the theory, and "
        "the callbacks' own record is held against it.",
    ),
    worlds=WORLDS,
    parts=(
        Part("declarative-crash", "the process dies at every call, once and twice", 50),
        Part("declarative-storm", "everything at once", 10),
        Part("declarative-search", "every story of five steps, with one task and with two", 16),
        Part("declarative-twenty", "two years of twenty tasks", 2 * 365 // DECLARATIVE_DAYS + 1),
        Part("declarative-one", "thirty years of one task", 30 * 365 // DECLARATIVE_DAYS + 1),
    ),
    answers="starts",
    columns={"calls": "calls", "events": "events judged", "starts": "runs"},
    promise="broken axioms",
)


def prove(how: Run, *, worlds: int, workers: int) -> bool:
    """Let the worlds happen, and say whether every axiom held in all of them."""
    return prove_worlds(_PROOF, how, worlds=worlds, workers=workers)
