"""
The outbox: messages wait here until they are sent, and no job waits for them.

`tell` only puts something down. Beside the runtime a few are sent at a time; what fails is tried
again a little later, three times in all. The outbox holds a limited number: when nothing can be
sent for long, the oldest are given up, and that is logged. Messages leave this machine in threads
of their own.

Spec: NOTIFY-5 to NOTIFY-8, NOTIFY-11.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import assert_never

from gnomon.ports import Clock
from gnomon.shell.observe.log import log_facts
from gnomon.shell.observe.notify.call import UrlCaller
from gnomon.shell.observe.notify.mail import MailRoute
from gnomon.shell.observe.notify.message import (
    OUTPUT_MAX,
    Call,
    Happening,
    Mail,
    Message,
    Sender,
    SendError,
    messages,
)
from gnomon.shell.observe.notify.rule import Occasion

__all__ = ["WAITING_MAX", "MachineSender", "Notifier", "send_stubbornly"]

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
        rule = happening.job.notify
        if self._is_known(happening):
            return
        if not (rule.ping or (happening.occasion in rule.on and (rule.mail or rule.webhook))):
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
        output = _tail(happening.output) if happening.job.notify.mail else ""
        for message in messages(happening, host=self._host, output=output):
            await send_stubbornly(self._sender, message, self._clock, _facts(happening))


class MachineSender:
    """Sends from this machine: mail by its route, calls over HTTP."""

    def __init__(self, route: MailRoute, caller: UrlCaller) -> None:
        self._route = route
        self._caller = caller
        self._threads = ThreadPoolExecutor(AT_ONCE + 1, thread_name_prefix="gnomon-notify")

    async def send(self, message: Message) -> None:
        loop = asyncio.get_running_loop()
        match message:
            case Mail():
                await loop.run_in_executor(self._threads, self._route.deliver, message)
            case Call():
                await loop.run_in_executor(self._threads, self._caller.call, message)
            case _:
                assert_never(message)

    def close(self) -> None:
        """Take nothing more; what is being sent comes to its end by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)


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
