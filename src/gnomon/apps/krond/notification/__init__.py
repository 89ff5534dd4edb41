"""
Notification: what became of a job reaches the people and programs that its author named.

`message` says what is sent to whom (pure), `sender` is the port behind which it goes out, `outbox`
keeps it until it has, `machine` sends mail and calls URLs, and `heartbeat` says that krond lives.

Here belongs nothing that decides whether a job runs: what cannot be sent is logged, and no job
waits for a message.
"""

from gnomon.apps.krond.notification.heartbeat import Heartbeat, TurnWatch
from gnomon.apps.krond.notification.machine import MachineSender
from gnomon.apps.krond.notification.mail_route import MailRoute
from gnomon.apps.krond.notification.message import Call, Mail, Message, messages
from gnomon.apps.krond.notification.outbox import Notifier
from gnomon.apps.krond.notification.sender import Sender, SendError

__all__ = [
    "Call",
    "Heartbeat",
    "MachineSender",
    "Mail",
    "MailRoute",
    "Message",
    "Notifier",
    "SendError",
    "Sender",
    "TurnWatch",
    "messages",
]
