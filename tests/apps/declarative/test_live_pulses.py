"""What the live monitor is told: no more than needed, and from recurrences of any kind."""

from dataclasses import dataclass

import gnomon
from gnomon.apps.declarative.callback import Callback
from gnomon.apps.declarative.live_pulses import LivePulses
from gnomon.apps.declarative.registration import Registration
from gnomon.core.recurrence import Recurrence
from gnomon.trace import Event, Kind
from gnomon.trace import Registration as Listed
from tests.apps.declarative.test_own_recurrence import START, Fragile
from tests.clauses import clause

CALLBACK = Callback(print, is_async=False, takes_context=False)


def enlist(pulses: LivePulses, name: str, recurrence: Recurrence, *, t: int, wall: int,
           retry_ms: int = 0) -> list[Event]:  # fmt: skip
    """A list of one task is accepted: the pulses that come with it."""
    text = repr(recurrence)
    one = Registration(
        name=name, cron=text, recurrence=recurrence, callback=CALLBACK, retry_ms=retry_ms
    )
    pulses.know([one])
    accepted = [Listed(name, text, retry_ms)]
    begun_ms = wall // 60 * 60_000
    return list(pulses.enlist(accepted, t=t, through_ms=wall * 1000, new_ms=begun_ms - 1))


@clause("LIVE-2")
def test_of_many_occurrences_at_one_look_the_first_and_the_last_are_told() -> None:
    pulses = LivePulses()
    list(pulses.until(0, (START + 30) * 1000))
    enlist(pulses, "a", gnomon.cron("*/10 * * * *", zone="UTC"), t=0, wall=START + 30)

    found = list(pulses.until(86_400_000, (START + 86_430) * 1000))

    assert [(event.kind, event.t) for event in found] == [
        (Kind.MINUTE_START, 570_000), (Kind.DUE, 570_000),
        (Kind.MINUTE_START, 86_370_000), (Kind.DUE, 86_370_000),
    ]  # fmt: skip


@clause("LIVE-4")
def test_what_a_clock_leaps_over_is_due_when_that_is_seen() -> None:
    pulses = LivePulses()
    list(pulses.until(0, (START + 30) * 1000))
    enlist(pulses, "a", gnomon.cron("7 * * * *", zone="UTC"), t=0, wall=START + 30)

    found = list(pulses.until(30_000, (START + 3_660) * 1000))

    assert [(event.kind, event.t) for event in found] == [
        (Kind.MINUTE_START, 30_000), (Kind.DUE, 30_000), (Kind.MINUTE_START, 30_000),
    ]  # fmt: skip


@clause("LIVE-2", "LIVE-4")
def test_a_task_that_is_new_in_a_minute_of_its_own_is_due_at_once() -> None:
    pulses = LivePulses()
    minutely = gnomon.cron("* * * * *", zone="UTC")

    first = enlist(pulses, "a", minutely, t=5, wall=START + 30)
    again = enlist(pulses, "a", minutely, t=6, wall=START + 31)
    other = enlist(pulses, "a", minutely, t=7, wall=START + 32, retry_ms=9)

    assert [len(found) for found in (first, again, other)] == [1, 0, 1]


@clause("LIVE-2")
def test_the_pulses_keep_no_more_than_the_present_list() -> None:
    pulses = LivePulses()
    yearly = [gnomon.cron(f"{minute} 3 1 1 *", zone="UTC") for minute in range(60)]
    for turn in range(1_000):
        name = f"t{turn % 7}"
        assert enlist(pulses, name, yearly[turn % 60], t=turn, wall=START) == []
        pulses.started(name)
        pulses.ended(name, failed_t=turn)

    assert len(pulses._dues) < 70
    assert len(pulses._retries) < 70
    assert len(pulses._recurrences) == 1


@dataclass(frozen=True)
class Stubborn(Fragile):
    """Says that it occurs when it has just occurred."""

    def _next(self, after: int) -> int | None:
        return after - after % 60 if after >= self.until else super()._next(after)


@clause("LIVE-5")
def test_a_recurrence_that_does_not_go_forward_does_not_stop_the_pulses() -> None:
    pulses = LivePulses()
    enlist(pulses, "a", Stubborn(START + 120), t=0, wall=START + 30)

    found = [event.kind for event in pulses.until(300_000, (START + 330) * 1000)]

    assert found.count(Kind.DUE) == 2
    assert pulses.unknown == {"a"}
