"""The outbox: jobs do not wait, failures are tried again, and what is lost is said."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from gnomon.shell.observe.notify.heartbeat import Heartbeat, TurnWatch
from gnomon.shell.observe.notify.message import Call, Message, SendError
from gnomon.shell.observe.notify.outbox import WAITING_MAX, Notifier
from gnomon.shell.observe.notify.rule import Occasion
from tests.clauses import clause
from tests.shell.observe.notify.happenings import happened
from tests.shell.virtual_time import VirtualClock, run_virtually


class Recorder:
    """A sender that keeps what it is given, and fails as it is told to."""

    def __init__(self, fails: Callable[[int], SendError | None] = lambda _: None) -> None:
        self.sent: list[tuple[int, Message]] = []
        self.tries = 0
        self._fails = fails

    async def send(self, message: Message) -> None:
        self.tries += 1
        error = self._fails(self.tries)
        if error is not None:
            raise error
        now = round(asyncio.get_running_loop().time() * 1000)
        self.sent.append((now, message))


def told(sender: Recorder, *occasions: Occasion, fields: str) -> None:
    """Tell of each, and let a minute pass."""

    async def scenario() -> None:
        clock = VirtualClock()
        notifier = Notifier(clock, sender, host="db1")
        work = asyncio.create_task(notifier.work())
        for occasion in occasions:
            notifier.tell(happened(occasion, fields))
        await notifier.finish(grace_ms=60_000)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)

    run_virtually(scenario())


@clause("NOTIFY-5")
def test_what_is_told_is_sent() -> None:
    sender = Recorder()

    told(sender, Occasion.SUCCESS, Occasion.FAILURE, fields="ping=https://e.org/p")

    assert sender.sent == [
        (0, Call(url="https://e.org/p")),
        (0, Call(url="https://e.org/p/fail")),
    ]


@clause("NOTIFY-11")
def test_that_periods_are_unschedulable_is_told_once_until_one_is_not() -> None:
    sender, none, ran = Recorder(), Occasion.UNSCHEDULABLE, Occasion.SUCCESS

    told(sender, *[none] * 20, ran, none, none, fields="mail=root notify=unschedulable")

    assert len(sender.sent) == 2


@clause("NOTIFY-5")
def test_what_fails_is_tried_again_a_little_later() -> None:
    sender = Recorder(lambda number: SendError("busy", again=True) if number < 3 else None)

    told(sender, Occasion.SUCCESS, fields="ping=https://e.org/p")

    assert sender.sent == [(16_000, Call(url="https://e.org/p"))]


@clause("NOTIFY-5")
@pytest.mark.parametrize(("again", "tries"), [(True, 3), (False, 1)])
def test_what_cannot_be_sent_is_given_up_and_logged(
    again: bool, tries: int, caplog: pytest.LogCaptureFixture
) -> None:
    sender = Recorder(lambda _: SendError("gone", again=again))

    with caplog.at_level(logging.WARNING, "gnomon.runtime"):
        told(sender, Occasion.SUCCESS, fields="ping=https://e.org/p?token=x")

    assert sender.tries == tries
    (line,) = caplog.records
    fields: object = getattr(line, "fields", None)
    assert fields == {
        "event": "notification failed",
        "to": "https://e.org/p",
        "message": "gone",
        "identity": "/etc/krond.d/site:backup",
        "periodId": "2026-03-01T02:00:00Z",
    }


@clause("NOTIFY-6")
def test_the_oldest_is_given_up_when_too_many_wait(caplog: pytest.LogCaptureFixture) -> None:
    sender = Recorder()
    occasions = [Occasion.FAILURE, *[Occasion.SUCCESS] * WAITING_MAX]

    with caplog.at_level(logging.WARNING, "gnomon.runtime"):
        told(sender, *occasions, fields="ping=https://e.org/p")

    assert len(sender.sent) == WAITING_MAX
    assert Call(url="https://e.org/p/fail") not in [message for _, message in sender.sent]
    assert [line.message for line in caplog.records if "too many" in line.message]


@clause("NOTIFY-6")
def test_a_notifier_that_finishes_waits_no_longer_than_its_grace() -> None:
    async def scenario() -> int:
        clock = VirtualClock()
        sender = Recorder(lambda _: SendError("busy", again=True))
        notifier = Notifier(clock, sender, host="db1")
        work = asyncio.create_task(notifier.work())
        notifier.tell(happened(Occasion.SUCCESS, "ping=https://e.org/p"))
        await notifier.finish(grace_ms=5_000)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        return clock.monotonic_ms()

    assert run_virtually(scenario()) == 5_000


@clause("NOTIFY-6")
def test_what_was_being_sent_when_the_work_ended_is_sent_at_the_end() -> None:
    sender = Recorder(lambda number: SendError("busy", again=True) if number == 1 else None)

    async def scenario() -> None:
        notifier = Notifier(VirtualClock(), sender, host="db1")
        work = asyncio.create_task(notifier.work())
        notifier.tell(happened(Occasion.SUCCESS, "ping=https://e.org/p"))
        await asyncio.sleep(0.5)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        await notifier.finish(grace_ms=5_000)

    run_virtually(scenario())

    assert sender.sent == [(500, Call(url="https://e.org/p"))]


@clause("NOTIFY-5")
def test_a_job_that_names_no_recipient_costs_nothing() -> None:
    sender = Recorder()

    told(sender, *Occasion, fields="notify=always")

    assert sender.tries == 0


@clause("NOTIFY-9")
def test_a_heart_beats_while_all_is_well() -> None:
    sender, well = Recorder(), [True, True, False, True]

    async def scenario() -> None:
        heart = Heartbeat(
            VirtualClock(), sender, url="https://e.org/krond", every_ms=60_000,
            is_well=lambda: well.pop(0),
        )  # fmt: skip
        beating = asyncio.create_task(heart.work())
        await asyncio.sleep(200)
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)

    run_virtually(scenario())

    assert [at for at, _ in sender.sent] == [0, 60_000, 180_000]


@clause("NOTIFY-9")
def test_a_krond_that_takes_no_turns_is_not_well() -> None:
    turns = [5, 6, 6, 6, 7]

    async def scenario() -> list[bool]:
        watch = TurnWatch(VirtualClock(), lambda: turns.pop(0))
        found = []
        for _ in range(5):
            found.append(watch.is_well())
            await asyncio.sleep(100)
        return found

    assert run_virtually(scenario()) == [True, True, True, False, True]
