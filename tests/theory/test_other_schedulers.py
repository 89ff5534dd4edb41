"""
Other schedulers before the judge: recorded by `python -m benchmarks.theory.recorders`.

The dues come from the scan of every minute. APScheduler 3 with its own defaults forgets a run that
a crash interrupted, drops one that was due during an outage, runs one that the spring gap
swallowed, and runs one twice in the autumn fold, where the declarative scheduler's rules say once.
"""

import pytest

from gnomon.theory import Party, check
from gnomon.trace import parse_trace
from tests.clauses import clause
from tests.theory.minute_pulses import scanned
from tests.tidy.tree import ROOT

TRACES = ROOT / "examples" / "traces"


@clause("THEORY-11", "THEORY-18")
@pytest.mark.parametrize(("scenario", "broken", "explanation"), [
    ("crash", ["L1"], "'backup' is owed since position 12 (t 330000) and has not started"),
    ("outage", ["L1"], "'backup' is owed since position 36 (t 1800000) and has not started"),
    ("gap", ["S1"], "'backup' started and nothing asked for it"),
    ("fold", ["S1", "S2"], "'backup' started and nothing asked for it"),
])  # fmt: skip
def test_what_apscheduler_breaks_is_named(
    scenario: str, broken: list[str], explanation: str
) -> None:
    lines = (TRACES / f"apscheduler-{scenario}.jsonl").read_text(encoding="utf-8").splitlines()
    header, events = parse_trace(lines)
    report = check(header, scanned(header, list(events)))

    assert [axiom for axiom, one in report.verdicts.items() if one.verdict == "false"] == broken
    assert report.blame is Party.SCHEDULER
    assert report.first is not None
    assert report.first.explanation.startswith(explanation)
