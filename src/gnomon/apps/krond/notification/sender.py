"""
Senders as a contract: how a message leaves this process.

Spec: NOTIFY-5.
"""

from typing import Protocol

from gnomon.apps.krond.notification.message import Message

__all__ = ["SendError", "Sender"]


class SendError(Exception):
    """A message could not be sent; `again` says whether trying again may help."""

    def __init__(self, reason: str, *, again: bool) -> None:
        self.again = again
        super().__init__(reason)


class Sender(Protocol):
    """What sends messages."""

    async def send(self, message: Message) -> None:
        """Send it, or raise a SendError; a message may arrive twice."""
        ...
