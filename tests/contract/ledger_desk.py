"""
A desk to work on a ledger from: the port's calls, with clock times of one day in place of integers.

The day is 2026-03-01, in UTC. Nothing here knows which store is behind the port.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from gnomon.core.engine import Change, Due, plan
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import read_schedule
from gnomon.ports import (
    Claim,
    Committed,
    Ended,
    Failed,
    Held,
    Launched,
    Ledger,
    Renewal,
    Report,
    RunRow,
    Saved,
    ScheduleRow,
)

__all__ = ["Desk", "at", "clock", "minutely"]

_Result = TypeVar("_Result")


def at(time: str) -> int:
    """`at("00:05:00")` is that instant of the day, in milliseconds."""
    return round(datetime.fromisoformat(f"2026-03-01T{time}+00:00").timestamp() * 1000)


def clock(at_ms: int | None) -> str | None:
    """The time of day of an instant: the reverse of `at`."""
    if at_ms is None:
        return None
    seconds, rest = divmod(at_ms - at("00:00:00"), 1000)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{rest:03d}" if rest else text


def minutely(name: str = "report", **more: object) -> Schedule:
    """A schedule with a period every minute."""
    return read_schedule({"schedule_id": name, "cron_expr": "* * * * *"} | more)


class Desk:
    """A ledger, and the loop it lives in."""

    def __init__(self, runner: asyncio.Runner, open_ledger: Callable[[], Ledger]) -> None:
        self._runner = runner
        self._open = open_ledger
        self.ledger = open_ledger()

    def do(self, call: Coroutine[object, object, _Result]) -> _Result:
        return self._runner.run(call)

    def reopen(self) -> None:
        self.close()
        self.ledger = self._open()

    def close(self) -> None:
        self.do(self.ledger.close())

    def save(self, name: str = "report", now: str = "00:00:30", **more: object) -> Saved:
        return self.do(self.ledger.save(minutely(name, **more), now_ms=at(now)))

    def load(self, now: str, *, limit: int = 100) -> list[Due]:
        return self.do(self.ledger.load(now_ms=at(now), limit=limit))

    def loaded(self, now: str, *, limit: int = 100) -> list[str]:
        return [due.schedule.schedule_id for due in self.load(now, limit=limit)]

    def plan(self, now: str) -> list[Change]:
        return plan(self.load(now), now_ms=at(now))

    def commit(
        self, changes: Sequence[Change], now: str, *, owner: str = "anna", confirmed: bool = False
    ) -> list[Claim]:
        return list(self.held(changes, now, owner=owner, confirmed=confirmed).claims)

    def held(
        self, changes: Sequence[Change], now: str, *, owner: str = "anna", confirmed: bool = False
    ) -> Committed:
        """What a commit says that it has written."""
        return self.do(
            self.ledger.commit(changes, owner=owner, confirmed=confirmed, now_ms=at(now))
        )

    def turn(self, now: str, *, owner: str = "anna", confirmed: bool = False) -> list[Claim]:
        return self.commit(self.plan(now), now, owner=owner, confirmed=confirmed)

    def claim(self, now: str = "00:01:00", **more: object) -> Claim:
        """The one claim of a new schedule's first turn."""
        self.save("report", "00:00:30", **more)
        (claim,) = self.turn(now)
        return claim

    def report(self, *reports: Report, now: str = "00:01:10") -> list[bool]:
        return self.do(self.ledger.report(reports, now_ms=at(now)))

    def launched(self, claim: Claim, now: str = "00:01:10") -> bool:
        return self.report(Launched(claim.key, claim.fence, "pid 7"), now=now)[0]

    def ended(self, claim: Claim, now: str = "00:01:20", *, success: bool = True) -> bool:
        return self.report(Ended(claim.key, claim.fence, success, "exit 0"), now=now)[0]

    def failed(self, claim: Claim, now: str = "00:01:20", *, permanent: bool = False) -> bool:
        return self.report(Failed(claim.key, claim.fence, "no such file", permanent), now=now)[0]

    def renew(self, claim: Claim, now: str, *, owner: str = "anna") -> Renewal:
        length_ms = claim.schedule.policy.lease // timedelta(milliseconds=1)
        runs = [Held(claim.key, claim.fence, length_ms)]
        return self.do(self.ledger.renew(runs, owner=owner, now_ms=at(now)))[0]

    def recover(self, now: str, *adopted: str, owner: str = "boris") -> list[tuple[str, int]]:
        return self.do(self.ledger.recover(owner=owner, adopted=adopted, now_ms=at(now)))

    def pause(self, now: str, *, until: str | None = None, name: str = "report") -> bool:
        until_ms = None if until is None else at(until)
        return self.do(
            self.ledger.pause(name, until_ms=until_ms, reason="holidays", now_ms=at(now))
        )

    def resume(self, now: str, *, name: str = "report") -> bool:
        return self.do(self.ledger.resume(name, now_ms=at(now)))

    def delete(self, now: str, *, name: str = "report") -> bool:
        return self.do(self.ledger.delete(name, now_ms=at(now)))

    def wake(self) -> str | None:
        return clock(self.do(self.ledger.next_wake_ms()))

    def get(self, name: str = "report") -> ScheduleRow:
        row = self.do(self.ledger.get(name))
        assert row is not None
        return row

    def rows(self, name: str = "report") -> list[RunRow]:
        """The rows of a schedule, oldest first."""
        return self.do(self.ledger.runs(name))[::-1]

    def row(self, name: str = "report") -> RunRow:
        (row,) = self.rows(name)
        return row

    def words(self, name: str = "report") -> list[str]:
        """What became of each period, oldest first."""
        return [
            " ".join(
                [clock(row.nominal * 1000) or ""]
                + ([f"to {clock(row.last_nominal * 1000)}"] if row.last_nominal else [])
                + [row.state]
                + ([f"{row.outcome}({row.reason})"] if row.reason else [row.outcome or "-"])
            )
            for row in self.rows(name)
        ]
