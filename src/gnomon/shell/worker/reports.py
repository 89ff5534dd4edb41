"""
What has still to be written to the ledger about runs?

Reports wait here and are written in batches. One is let go only after the ledger has answered, so
that an end is not lost when the ledger fails. When a run ends before its launch was written, the
end says it all, and the launch is dropped; a launch is held back for one turn, because many runs
are short. What the end does not say, how the run is called and when it began, it takes from there.

Spec: RUN-5.
"""

from gnomon.ports import Ended, Failed, Launched, Ledger, Observer, Report

__all__ = ["Reports"]

_Place = tuple[str, int]
"""A run is one try of a key: its key and its fencing number."""


class Reports:
    """Reports in the order in which they came, at most one for each run."""

    def __init__(self, batch: int, observer: Observer) -> None:
        self._batch, self._observer = batch, observer
        self._waiting: dict[_Place, Report] = {}
        self._new: dict[_Place, Launched] = {}
        """Launches that no turn has seen yet."""

    def __len__(self) -> int:
        return len(self._waiting) + len(self._new)

    def add_launch(self, launched: Launched) -> None:
        place = launched[0], launched[1]
        known = self._waiting.get(place)
        if known is None:
            self._new[place] = launched
        elif type(known) is Ended:  # the run was over before its launcher returned
            self._waiting[place] = _with_launch(known, launched)

    def add_end(self, report: Ended | Failed) -> None:
        place = report[0], report[1]
        former: Report | None = self._new.pop(place, None) or self._waiting.get(place)
        if type(former) is Launched and type(report) is Ended:
            report = _with_launch(report, former)
        if former is None or type(former) is Launched:
            self._waiting[place] = report

    def has_end(self, key: str, fence: int) -> bool:
        """Whether a run is known to be over, though the ledger does not know it yet."""
        return isinstance(self._waiting.get((key, fence)), Ended)

    async def write(self, ledger: Ledger, *, now_ms: int) -> list[Report]:
        """Write what waits, but for new launches; return what was refused."""
        due = list(self._waiting.items())
        self._waiting |= self._new
        self._new.clear()
        refused = []
        for first in range(0, len(due), self._batch):
            batch = due[first : first + self._batch]
            answers = await ledger.report([report for _, report in batch], now_ms=now_ms)
            self._let_go(batch)
            told = [(report, yes) for (_, report), yes in zip(batch, answers, strict=True)]
            self._observer.reported([report for report, accepted in told if accepted])
            refused += [report for report, accepted in told if not accepted]
        return refused

    def _let_go(self, batch: list[tuple[_Place, Report]]) -> None:
        waiting = self._waiting
        for place, report in batch:
            # While the ledger wrote the launch, the run may have ended; that still waits.
            if waiting[place] is report:
                del waiting[place]


def _with_launch(end: Ended, launched: Launched) -> Ended:
    """The end of a run, with what only its launch has said."""
    _, _, run_id, _, started_ms = launched
    if end.run_id is not None and end.started_ms is not None:
        return end
    return end._replace(
        run_id=run_id if end.run_id is None else end.run_id,
        started_ms=started_ms if end.started_ms is None else end.started_ms,
    )
