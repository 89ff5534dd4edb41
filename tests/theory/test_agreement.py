"""The quick monitor and the slow formulas, held against each other on random traces."""

import pytest

from gnomon.theory import Monitor
from gnomon.theory.monitor import check, is_metered
from gnomon.trace import Event, Header
from tests.clauses import clause
from tests.theory.agreement import compare, disagreements
from tests.theory.random_traces import random_trace

TRACES = 3_000
CHUNK = 250


@clause("THEORY-1", "THEORY-2")
@pytest.mark.parametrize("first", range(0, TRACES, CHUNK))
def test_monitor_and_formulas_agree_on_random_traces(first: int) -> None:
    different, _ = compare(range(first, first + CHUNK))

    assert different == []


@clause("THEORY-2")
def test_random_traces_break_every_axiom_that_can_be_broken() -> None:
    broken = set[str]()
    for seed in range(600):
        trace = random_trace(seed)
        monitor = Monitor(witnesses=trace.witnesses, is_metered=trace.is_metered)
        monitor.see_all(trace.events)
        broken |= {axiom for axiom, found in monitor.findings().items() if found.violation}

    assert broken == {
        "S1", "S2", "S3", "S4", "S5", "S6", "L1", "L2", "L3",
        "EA1", "EA2", "EA3", "EA5", "EA6", "EA7",
    }  # fmt: skip


class Forgetful(Monitor):
    """Sees no retry."""

    def _retry_due(self, event: Event) -> None:
        pass


def test_a_monitor_that_forgets_is_found_out() -> None:
    assert any(disagreements(random_trace(seed), Forgetful) for seed in range(300))


@clause("THEORY-9")
@pytest.mark.parametrize("first", range(0, 1_000, 250))
def test_under_its_fitted_witnesses_a_trace_keeps_the_liveness_axioms(first: int) -> None:
    for seed in range(first, first + 250):
        trace = random_trace(seed)
        fitted = check(Header(), trace.events, witnesses=trace.witnesses).witnesses
        monitor = Monitor(witnesses=fitted, is_metered=is_metered(trace.events))
        monitor.see_all(trace.events)
        findings = monitor.findings()
        late = [axiom for axiom in ("L1", "L2", "L3") if findings[axiom].violation]
        assert late == [], f"seed {seed} with {fitted}"
