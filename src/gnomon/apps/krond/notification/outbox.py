"""
The outbox: messages wait here until they are sent, and no job waits for them.

`tell` only puts something down. Beside the runtime a few are sent at a time; what fails is tried
again a little later, three times in all. The outbox holds a limited number: when nothing can be
sent for long, the oldest are given up, and that is logged.

Spec: NOTIFY-5, NOTIFY-6, NOTIFY-11.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from gnomon.apps.krond.happening import Happening
from gnomon.apps.krond.notice import Occasion
from gnomon.apps.krond.notification.message import OUTPUT_MAX, Call, Mail, Message, messages
from gnomon.apps.krond.notification.sender import Sender, SendError
from gnomon.ports import Clock
from gnomon.shell.observe.log import log_facts

__all__ = ["WAITING_MAX", "Notifier", "send_stubbornly"]

WAITING_MAX = 1_000
"""How many happenings wait to be told at most."""
AT_ONCE = 4
WAITS_MS = (1_000, 15_000)
"""How long to wait before the second try, and before the third."""


class Notifier:
    """Tells whom jobs want told."""

    def __init__(self, clock: Clock, sender: Sender, *, host: str) -> None:
        self._clock = clock
        self._sender = sender
        self._host = host
        self._waiting: deque[Happening] = deque()
        self._unschedulable: set[str] = set()
        """The jobs whose newest period was unschedulable."""
        self._arrived = asyncio.Event()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._sending = 0

    def tell(self, happening: Happening) -> None:
        """Note what is to be told; returns at once."""
        notice = happening.job.notice
        if self._is_known(happening):
            return
        if not (
            notice.ping or (happening.occasion in notice.on and (notice.mail or notice.webhook))
        ):
            return
        if len(self._waiting) >= WAITING_MAX:
            lost = self._waiting.popleft()
            _log_loss(lost, "too many are waiting")
        self._waiting.append(happening)
        self._quiet.clear()
        self._arrived.set()

    def _is_known(self, happening: Happening) -> bool:
        """Whether it is unschedulable as the period before it was, which has been told."""
        job = happening.job.schedule_id
        if happening.occasion is not Occasion.UNSCHEDULABLE:
            self._unschedulable.discard(job)
            return False
        if job in self._unschedulable:
            return True
        self._unschedulable.add(job)
        return False

    async def work(self) -> None:
        """Send what is put down, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(self._send_one_by_one())

    async def finish(self, *, grace_ms: int) -> None:
        """Send what is left, but not for longer than this; `work` need not go on meanwhile."""
        work = asyncio.ensure_future(self.work())
        quiet = asyncio.ensure_future(self._quiet.wait())
        grace = asyncio.ensure_future(self._clock.sleep_ms(grace_ms))
        await asyncio.wait((quiet, grace), return_when=asyncio.FIRST_COMPLETED)
        for task in (work, quiet, grace):
            task.cancel()
        await asyncio.gather(work, quiet, grace, return_exceptions=True)

    async def _send_one_by_one(self) -> None:
        while True:
            while not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
            happening = self._waiting.popleft()
            self._sending += 1
            try:
                await self._send(happening)
            except asyncio.CancelledError:
                self._waiting.appendleft(happening)  # `finish` may still send it
                raise
            finally:
                self._sending -= 1
                if not self._sending and not self._waiting:
                    self._quiet.set()

    async def _send(self, happening: Happening) -> None:
        output = _tail(happening.output) if happening.job.notice.mail else ""
        for message in messages(happening, host=self._host, output=output):
            await send_stubbornly(self._sender, message, self._clock, _facts(happening))


async def send_stubbornly(
    sender: Sender, message: Message, clock: Clock, facts: Mapping[str, object]
) -> bool:
    """Send a message, with a few tries; whether it was. What cannot be sent is logged."""
    for number in range(len(WAITS_MS) + 1):
        try:
            await sender.send(message)
        except SendError as error:
            last = number == len(WAITS_MS) or not error.again
            log_facts(
                logging.WARNING if last else logging.INFO,
                "notification failed" if last else "notification is tried again",
                {"to": _address(message), "message": str(error), **facts},
            )
            if last:
                return False
            await clock.sleep_ms(WAITS_MS[number])
        else:
            return True
    raise AssertionError("the last try returns")


def _address(message: Message) -> str:
    match message:
        case Mail(to=to):
            return ",".join(to)
        case Call(url=url):
            return url.partition("?")[0]


def _log_loss(happening: Happening, why: str) -> None:
    log_facts(logging.WARNING, "notification failed", {**_facts(happening), "message": why})


def _facts(happening: Happening) -> dict[str, object]:
    return {"identity": happening.job.identity, "periodId": happening.period_id}


def _tail(path: Path | None) -> str:
    """The end of what a job printed; empty when that is not to be had."""
    with contextlib.suppress(OSError):
        if path is not None:
            with path.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(size - 4 * OUTPUT_MAX, 0))
                return file.read().decode("utf-8", "replace")
    return ""
