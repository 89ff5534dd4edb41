"""`gnomon decide`: one decision, drawn for a person and recorded for a program."""

from datetime import UTC, datetime

import gnomon.core.decision as decision
from tests.acceptance.command_line import gnomon, gnomon_process
from tests.clauses import clause

NOMINAL = "2026-03-01T02:00:00Z"
ARGUMENTS = ["decide", "--identity", "prod/backup", "--nominal", NOMINAL]


@clause("CLI-2", "CLI-12")
def test_the_json_is_the_record_of_the_decision() -> None:
    done = gnomon_process(
        *ARGUMENTS, "--zone", "Europe/Riga", "--window", "around,1h", "--dist", "skewLate,shape=3",
        "--seed", "daily", "--salt", "s", "--only", "hours=3-5", "--avoid", "dow=sat", "--json",
    )  # fmt: skip

    assert (
        done.json
        == decision.decide(
            identity="prod/backup",
            nominal_at=datetime(2026, 3, 1, 2, tzinfo=UTC),
            zone="Europe/Riga",
            window="around,1h",
            distribution="skewLate,shape=3",
            seed="daily",
            salt="s",
            only="hours=3-5",
            avoid="dow=sat",
        ).to_json()
    )


@clause("CLI-12")
def test_a_decision_can_be_computed_again_from_the_json() -> None:
    done = gnomon(*ARGUMENTS, "--window", "after,6h", "--only", "hours=3", "--json")

    assert decision.recompute(done.json).to_json() == done.json


@clause("CLI-12")
def test_a_constraint_may_be_given_in_parts() -> None:
    parts = gnomon(*ARGUMENTS, "--avoid", "hours=9-17", "--avoid", "dow=mon-fri", "--json")

    assert parts.json["avoid"] == "hours=9-17;dow=mon-fri"


@clause("CLI-13")
def test_the_text_draws_the_window_with_both_instants() -> None:
    done = gnomon(*ARGUMENTS, "--zone", "Europe/Riga", "--window", "after,1h")

    assert done.code == 0
    assert done.lines[0] == "Chosen: 2026-03-01T02:41:00Z (Sun 2026-03-01 04:41:00 +02:00)"
    assert done.lines[-2:] == [
        "2026-03-01T02:00:00Z |N----------------------------------------*-------------------|"
        " 2026-03-01T03:00:00Z",
        "                      N nominal  * chosen",
    ]


@clause("CLI-13")
def test_a_window_of_one_second_is_one_mark() -> None:
    done = gnomon(*ARGUMENTS)

    assert done.lines[-2:] == [
        "2026-03-01T02:00:00Z |#| 2026-03-01T02:00:00Z",
        "                      # nominal and chosen",
    ]


@clause("CLI-3", "CLI-13")
def test_an_unschedulable_period_is_an_answer() -> None:
    done = gnomon(*ARGUMENTS, "--window", "around,1h", "--only", "hours=9")

    assert done.code == 0
    assert done.lines[0] == "Unschedulable: none of 64 candidates is allowed"
    assert done.lines[-1].strip() == "N nominal"


@clause("CLI-13")
def test_a_single_second_that_is_not_allowed_is_said_as_such() -> None:
    done = gnomon(*ARGUMENTS, "--only", "hours=9")

    assert done.lines[0] == "Unschedulable: the only second of the window is not allowed"


@clause("CLI-12")
def test_the_reason_in_the_json_is_the_one_of_the_record() -> None:
    done = gnomon(*ARGUMENTS, "--only", "hours=9", "--json")

    assert done.json["reason"] == "no candidate accepted within MaxAttempts"


@clause("CLI-13")
def test_the_text_says_what_the_decision_was_made_from() -> None:
    done = gnomon(
        *ARGUMENTS, "--window", "before,30m", "--dist", "normal", "--seed", "weekly",
        "--salt", "blue", "--avoid", "dow=sat",
    )  # fmt: skip

    shown = dict(line.strip().split("  ", 1) for line in done.lines[1 : done.lines.index("")])
    assert {name: value.strip() for name, value in shown.items() if name != "zone"} == {
        "identity": "prod/backup",
        "nominal": "2026-03-01T02:00:00Z (2026-03-01 02:00:00 +00:00)",
        "window": "before, 30m0s",
        "distribution": "normal, mu mid, sigma 5m0s",
        "seed": "weekly, period key 2026-W09",
        "salt": "blue",
        "seed hash": "8205924fac6a890c29c13e12d4c56738819a66c247d69324a59665ad420b777d",
        "avoid": "dow=sat",
        "attempts": "1 of at most 64",
    }
