"""
Has a scheduler lost its store: to another owner, or because it is damaged or gone?

Then it starts and writes nothing any more, and says so once.

Spec: OWNER-4, RUN-16.
"""

import asyncio
import logging

from gnomon.apps.declarative.events import LogEvent, log
from gnomon.errors import OwnershipLostError, StoreError

__all__ = ["Loss"]


class Loss:
    """The error by which a store was lost, once there is one."""

    def __init__(self) -> None:
        self.error: StoreError | None = None
        self.event = asyncio.Event()

    def is_due_to(self, error: Exception) -> bool:
        """Whether the store is of no use any more."""
        if not isinstance(error, StoreError) or not error.lasts:
            return False
        is_taken = isinstance(error, OwnershipLostError)
        event = LogEvent.OWNERSHIP_LOST if is_taken else LogEvent.STORE_LOST
        log(logging.CRITICAL, event, error=str(error))
        self.error = error
        self.event.set()
        return True
