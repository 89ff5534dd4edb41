"""The pages about periods and policies agree with the tables and defaults of the code."""

import re

from gnomon.core.engine import USUAL
from gnomon.core.ledger.lifecycle import REASONS, Outcome, Status
from gnomon.core.schedule import Catchup, Overlap, PauseRule, Uncertain
from gnomon.core.schedule_record import KEYS, read_schedule, write_schedule
from tests.clauses import clause
from tests.tidy.markdown import code_words
from tests.tidy.states import LIVES, shown
from tests.tidy.tree import ROOT

LIFE = ROOT / "docs" / "explanation" / "life-of-a-period.md"
POLICIES = ROOT / "docs" / "reference" / "policies.md"


def rows(page_text: str) -> dict[str, list[str]]:
    """The tables of a page, each row by the code word in its first cell."""
    cells = [line.strip("| ").split(" | ") for line in page_text.splitlines() if "|" in line]
    return {found[1]: row[1:] for row in cells if (found := re.match(r"`(\w+)`", row[0]))}


@clause("LIFE-1")
def test_the_picture_shows_every_step_and_no_other() -> None:
    assert shown(LIVES["period"]) == LIVES["period"].drawn()


@clause("LIFE-2", "LIFE-3")
def test_the_page_lists_every_outcome_with_its_reasons() -> None:
    table = rows(LIFE.read_text(encoding="utf-8"))

    assert {outcome: set(re.findall(r"`(\w+)`", table[outcome][1])) for outcome in Outcome} == {
        outcome: {reason.value for reason in reasons if reason}
        for outcome, reasons in REASONS.items()
    }


@clause("LIFE-4")
def test_the_page_names_every_status() -> None:
    assert set(Status) <= code_words(LIFE)


@clause("SCHED-2", "SCHED-8")
def test_the_reference_lists_every_key_with_its_default() -> None:
    table = rows(POLICIES.read_text(encoding="utf-8").partition("## overlap_policy")[0])
    written = write_schedule(read_schedule({"schedule_id": "a", "every": "1h"}))
    defaults = {key: table[key][1].strip("`") for key in table}
    policies = [*KEYS[KEYS.index("overlap_policy") :], "jitter_ms", "window", "distribution"]

    assert tuple(table) == KEYS
    assert {key: defaults[key] for key in policies} == {
        key: "null"
        if key == "target"
        else str(written[key] if written[key] is not None else "none")
        for key in policies
    }


@clause("SCHED-2")
def test_the_reference_lists_every_policy_and_every_limit() -> None:
    table = rows(POLICIES.read_text(encoding="utf-8"))

    assert {*Overlap, *Catchup, *PauseRule, *Uncertain} <= set(table)
    assert {name: table[name][0] for name in USUAL._fields} == {
        name: str(value) for name, value in USUAL._asdict().items()
    }
