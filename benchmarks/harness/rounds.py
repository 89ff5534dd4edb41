"""
In which order things are measured: every engine on every cell, round after round, the order
rotating.

A slow minute of the machine then falls on all engines alike, and none is always the one that runs
first. The best of all rounds stands for a (cell, engine): interference only ever adds time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.harness.protocol import Absent, Answers, Ask, Failed, Reply, Timed, Wish

__all__ = ["Measurement", "interleave", "measure"]

Asker = Callable[[str, Ask], Reply]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One cell on one engine: the best time, or the reason why there is none."""

    cell: str
    engine: str
    best: Timed | None
    rounds: int = 0
    missing: str | None = None


def interleave(
    cells: Sequence[str], engines: Sequence[str], *, rounds: int
) -> Iterator[tuple[int, str, str]]:
    """(round, cell, engine) for all of them; the first engine changes with every cell and round."""
    for turn in range(rounds):
        for index, cell in enumerate(cells):
            shift = (turn + index) % len(engines)
            for engine in [*engines[shift:], *engines[:shift]]:
                yield turn, cell, engine


def measure(
    cells: Sequence[str],
    engines: Sequence[str],
    *,
    rounds: int,
    seconds: float,
    ask: Asker,
    progress: Callable[[int], None],
) -> list[Measurement]:
    """Run the whole plan. An engine that cannot do a cell is not asked for it again."""
    timed: dict[tuple[str, str], list[Timed]] = {}
    missing: dict[tuple[str, str], str] = {}
    for turn, cell, engine in interleave(cells, engines, rounds=rounds):
        key = (cell, engine)
        if key == (cells[0], engines[turn % len(engines)]):
            progress(turn)
        if key in missing:
            continue
        match ask(engine, Ask(wish=Wish.TIME, cell=cell, seconds=seconds)):
            case Timed() as sample:
                timed.setdefault(key, []).append(sample)
            case Absent(reason=reason):
                missing[key] = reason
            case Failed(reason=reason):
                missing[key] = f"failed: {reason}"
            case Answers():
                missing[key] = "failed: answered where a time was wanted"
    return [_measurement(cell, engine, timed, missing) for cell in cells for engine in engines]


def _measurement(
    cell: str,
    engine: str,
    timed: dict[tuple[str, str], list[Timed]],
    missing: dict[tuple[str, str], str],
) -> Measurement:
    samples = timed.get((cell, engine), [])
    best = min(samples, key=lambda sample: sample.ns, default=None)
    reason = missing.get((cell, engine))
    return Measurement(
        cell=cell,
        engine=engine,
        best=best if reason is None else None,
        rounds=len(samples),
        missing=reason,
    )
