"""
What has an operator done? Counters as plain values, and the figures for Prometheus made of them.

Spec: OPERATOR-35.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gnomon.ports.kubernetes import Answer, Denied, Done, Find, Found
from gnomon.shell.observe.counts import Family, Lag, counter, gauge, histogram

__all__ = ["PREFIX", "Figures", "families_of"]

PREFIX = "gnomon_operator"


@dataclass(slots=True)
class Figures:
    """Counted since the process began."""

    passes: int = 0
    passes_in_trouble: int = 0
    bugs: int = 0
    """Passes that ended in an error of the program."""
    clock_jumps: int = 0
    events_dropped: int = 0
    questions: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By what was asked, of which kind, and what came of it."""
    told: Counter[str] = field(default_factory=Counter)
    """Events by reason."""
    lag: Lag = field(default_factory=Lag)
    """How late after their chosen seconds Jobs were released."""

    def asked(self, question: object, answer: Answer | Found) -> None:
        act = "find" if isinstance(question, Find) else type(question).__name__.lower()
        match answer:
            case Done() | Found():
                came = "done"
            case Denied(why):
                came = why.value
            case _:
                came = "no_answer"
        self.questions[act, str(getattr(question, "kind", "")), came] += 1


def families_of(figures: Figures, gauges: Mapping[str, tuple[str, float]]) -> Iterator[Family]:
    """The counters, and what is so at this moment: by name, its help and its value."""
    yield _counter("passes", "Looks at a KronJob that were taken to their end.", figures.passes)
    yield _counter(
        "passes_in_trouble", "Looks that something stood in the way of.", figures.passes_in_trouble
    )
    yield _counter("bugs", "Looks that ended in an error of the program.", figures.bugs)
    yield _counter("clock_jumps", "Times that the clock was set.", figures.clock_jumps)
    yield _counter("events_dropped", "Events that were not told.", figures.events_dropped)
    questions = _counter(
        "questions", "Questions to the API server, by kind and by what came of them."
    )
    for (act, kind, answer), number in sorted(figures.questions.items()):
        questions.add(number, act=act, kind=kind, answer=answer)
    told = _counter("events", "What was told of KronJobs, by reason.")
    for reason, number in sorted(figures.told.items()):
        told.add(number, reason=reason)
    yield from (questions, told)
    yield histogram(
        f"{PREFIX}_start_lateness_seconds",
        "How late after their chosen seconds Jobs were released.", figures.lag,
    )  # fmt: skip
    for name, (help_text, value) in gauges.items():
        yield gauge(f"{PREFIX}_{name}", help_text, value)


def _counter(name: str, help_text: str, *values: int) -> Family:
    return counter(f"{PREFIX}_{name}_total", help_text, *values)
