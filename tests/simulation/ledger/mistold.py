"""Deliberate mistakes in what workers tell: each is made by replacing one piece of the runtime."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from unittest.mock import patch

from gnomon.core.engine import Change
from gnomon.ports import Committed
from gnomon.ports.ledger_rows import Renewal
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.worker import worker
from gnomon.simulation.ledger.world import _Hearer

__all__ = ["ended_as_lost", "what_did_not_hold", "without_a_word"]

Patch = AbstractContextManager[object]


def what_did_not_hold() -> Patch:
    """A commit says that all it was given is written, whatever it has dropped."""
    commit = SqliteLedger.commit

    async def say_all(
        self: SqliteLedger, changes: Sequence[Change], *, owner: str, confirmed: bool, now_ms: int
    ) -> Committed:
        held = await commit(self, changes, owner=owner, confirmed=confirmed, now_ms=now_ms)
        return held._replace(changes=changes)

    return patch.object(SqliteLedger, "commit", say_all)


def without_a_word() -> Patch:
    """Lost runs of deleted schedules are settled, and no worker tells of it."""
    told = _Hearer.committed

    def keep_silent(self: _Hearer, held: Committed) -> None:
        kept = [one for one in held.changes if one.following is not None or one.wake_ms is not None]
        told(self, held._replace(changes=kept))

    return patch.object(_Hearer, "committed", keep_silent)


def ended_as_lost() -> Patch:
    """A worker takes a run that has ended for one that another worker has."""
    lose = worker.Worker._lose

    def tell(self: worker.Worker, key: str, fence: int, _: Renewal) -> None:
        lose(self, key, fence, Renewal.TAKEN)

    return patch.object(worker.Worker, "_lose", tell)
