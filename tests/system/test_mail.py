"""Mail through a real agent: what it is handed arrives in a mailbox of this machine."""

import asyncio
import time
from pathlib import Path

from gnomon.shell.observe.notify.call import UrlCaller
from gnomon.shell.observe.notify.mail import MailRoute
from gnomon.shell.observe.notify.message import Mail
from gnomon.shell.observe.notify.outbox import MachineSender
from tests.clauses import clause
from tests.system.packages import provide

MAILBOX = Path("/var/mail/root")
PATIENCE_S = 30


@clause("NOTIFY-7")
def test_a_mail_arrives_with_its_headers_and_its_lines() -> None:
    agent = provide("sendmail", "dma")
    stamp = f"stamp-{time.time_ns()}"
    mail = Mail(
        to=("root",), subject=f"[here] backup failed: {stamp}", body="one\n.\nFrom two\n",
        at_ms=1_772_332_860_000, headers=(("X-Gnomon-Job", "/etc/krond.d/site:backup"),),
    )  # fmt: skip
    sender = MachineSender(MailRoute(sender="root", sendmail=agent), UrlCaller("gnomon-krond"))

    asyncio.run(sender.send(mail))
    sender.close()

    text = _delivered(stamp)
    assert "X-Gnomon-Job: /etc/krond.d/site:backup" in text
    assert "\none\n.\n" in text


def _delivered(stamp: str) -> str:
    """The mailbox, once the mail is in it; the agent delivers in its own time."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if MAILBOX.exists() and stamp in (text := MAILBOX.read_text(errors="replace")):
            return text.partition(stamp)[2]
        time.sleep(0.1)
    raise AssertionError("the mail did not arrive")
