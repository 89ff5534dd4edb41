"""Laws of the engine under constraints: what had no second is told apart, however late."""

from collections import Counter

from hypothesis import given

from gnomon.core.engine import Limits
from gnomon.core.ledger.audit import audit
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import read_schedule
from tests.clauses import clause
from tests.core.engine.model import Model
from tests.core.engine.test_plan_laws import HISTORIES, LIMITS, START, Event, moments, schedules


@clause("ENGINE-11")
@given(schedules(), LIMITS, HISTORIES)
def test_what_had_no_second_is_called_unschedulable_and_nothing_else_is(
    schedule: Schedule, limits: Limits, history: list[Event]
) -> None:
    for _, change, _ in moments(Model(schedule, START - 1, limits), history):
        for fact in change.facts:
            if not fact.is_new or fact.state is not State.DONE or fact.reason is Reason.PAUSED:
                continue
            until = (fact.last_nominal or fact.nominal) + 1
            for nominal in schedule.recurrence.between_epochs(fact.nominal, until):
                has_none = schedule.decider.decide(nominal).chosen_at is None
                assert has_none is (fact.outcome is Outcome.UNSCHEDULABLE)


@clause("ENGINE-11", "ENGINE-13")
def test_a_week_away_from_a_job_for_office_hours_is_two_ranges_a_day() -> None:
    office = read_schedule({
        "schedule_id": "a", "cron_expr": "* * * * *", "avoid": "hours=0-8,17-23",
        "catchup_policy": "recent", "deadline": "0s",
    })  # fmt: skip
    midnight = START // 86_400 * 86_400
    model = Model(office, midnight - 1)

    changes = model.turns((midnight + 7 * 86_400 + 3_600) * 1000)

    assert [sum(fact.periods for fact in one.facts) for one in changes[:-1]] == [1_000] * 10
    told: Counter[tuple[str | None, str | None]] = Counter()
    for fact in model.facts():
        told[fact.outcome, fact.reason] += fact.periods
    assert told == {
        ("unschedulable", "constraints"): 7 * 16 * 60 + 61, ("missed", "deadline"): 7 * 8 * 60,
    }  # fmt: skip
    assert audit(*model.audited()) == []
