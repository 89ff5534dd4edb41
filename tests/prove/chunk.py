"""
What is one piece of the proof, and what came of it?

The proof is cut into chunks that depend on nothing but their number, so that any process can run
any of them, in any order, and a broken run can go on where it stopped.
"""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice

from gnomon.simulation.campaign import Campaign, worlds
from gnomon.simulation.campaign import tally as judged
from tests.kill.fleet import run_fleet
from tests.kill.world import run_world
from tests.oracle.compare import Tally, check_case, check_transition, spelled
from tests.oracle.fuzz_cases import HOSTILE, complaint, steps_max, steps_of, texts
from tests.oracle.random_cases import SEED, cases
from tests.oracle.transitions import transitions, zone_names

__all__ = [
    "CRASH_CHUNK",
    "FAULTS_PER_FLEET",
    "FUZZ_CHUNK",
    "KILLS_PER_WORLD",
    "KINDS",
    "RANDOM_CHUNK",
    "Chunk",
    "ChunkResult",
    "plan",
    "run",
]

KINDS = ("sweep", "random", "fuzz")
RANDOM_CHUNK = 2_000
FUZZ_CHUNK = 5_000
KILLS_PER_WORLD = 10
FAULTS_PER_FLEET = 20
CRASH_CHUNK = 250  # worlds

_STEPS_SAMPLE = 25  # texts of each fuzz chunk whose steps are counted
_DIFFERENCES_MAX = 50  # per chunk; one is enough to fail, and the first ones tell the story
_FIRST_SEED = 1_000_000  # beyond the seeds of `make test`
_YEAR_2000, _YEAR_2038 = 946_684_800, 2_145_916_800


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Chunk:
    kind: str
    index: int


@dataclass(slots=True, kw_only=True)
class ChunkResult:
    """
    `cases` are transitions, questions, texts, kills, faults or worlds; `answers` are the
    comparisons made for them.
    """

    kind: str
    index: int
    cases: int = 0
    answers: int = 0
    steps_counted: int = 0
    steps_worst: float = 0.0  # the largest share of the bound that any counted text used
    seconds: float = 0.0
    differences_found: int = 0
    differences: list[str] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)

    @property
    def chunk(self) -> Chunk:
        return Chunk(kind=self.kind, index=self.index)

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def plan(kinds: tuple[str, ...], *, random_cases: int, fuzz_texts: int, sample: int) -> list[Chunk]:
    """All chunks of the given kinds; with `sample` n only every n-th of them."""
    counts = {
        "sweep": len(zone_names()),
        "random": -(-random_cases // RANDOM_CHUNK),
        "fuzz": -(-fuzz_texts // FUZZ_CHUNK),
    }
    return [
        Chunk(kind=kind, index=index) for kind in kinds for index in range(0, counts[kind], sample)
    ]


def run(chunk: Chunk) -> ChunkResult:
    started = time.perf_counter()
    result = ChunkResult(kind=chunk.kind, index=chunk.index)
    kinds = {"sweep": _sweep, "random": _random, "fuzz": _fuzz, "kill": _kill}
    kinds["workers-kill"] = _fleet
    kinds |= {campaign.value: _simulate for campaign in Campaign}
    found = kinds[chunk.kind](result)
    for difference in found:
        result.differences_found += 1
        if len(result.differences) < _DIFFERENCES_MAX:
            result.differences.append(difference)
    result.seconds = time.perf_counter() - started
    return result


def _sweep(result: ChunkResult) -> Iterator[str]:
    """Every transition of one zone."""
    tally = Tally()
    for transition in transitions(zone_names()[result.index], _YEAR_2000, _YEAR_2038):
        result.cases += 1
        yield from map(str, check_transition(transition, tally))
    result.answers = tally.answers


def _random(result: ChunkResult) -> Iterator[str]:
    tally = Tally()
    for case in cases(SEED, result.index, RANDOM_CHUNK):
        result.cases += 1
        yield from map(str, check_case(case, tally))
    result.answers = tally.answers


def _fuzz(result: ChunkResult) -> Iterator[str]:
    for text, dialect in texts(SEED, result.index, FUZZ_CHUNK):
        result.cases += 1
        result.answers += 1
        if found := complaint(text, dialect):
            yield _line(found, text, dialect)
    for text, dialect in _counted(result.index):
        steps, most = steps_of(text, dialect), steps_max(text)
        result.steps_counted += 1
        result.steps_worst = max(result.steps_worst, steps / most)
        if steps > most:
            yield _line(f"takes {steps} steps, more than {most}", text, dialect)


def _kill(result: ChunkResult) -> Iterator[str]:
    """One world in which `gnomon run` is killed again and again."""
    seed = f"{SEED}:{result.index}"
    outcome = run_world(seed, KILLS_PER_WORLD)
    result.cases = outcome.kills
    result.answers = outcome.verdict.periods
    result.notes = outcome.notes()
    for problem in outcome.problems:
        yield f"{problem}: python -m tests.kill.world {seed} {KILLS_PER_WORLD}"


def _fleet(result: ChunkResult) -> Iterator[str]:
    """One fleet of workers on PostgreSQL, to which everything happens."""
    seed = f"{SEED}:{result.index}"
    outcome = run_fleet(seed, FAULTS_PER_FLEET)
    result.cases = outcome.faults.total()
    result.answers = outcome.verdict.periods
    result.notes = outcome.notes()
    for problem in outcome.problems:
        yield f"{problem}: python -m tests.kill.fleet {seed} {FAULTS_PER_FLEET}"


def _simulate(result: ChunkResult) -> Iterator[str]:
    """Simulated worlds of one campaign; each chunk has a thousand seeds of its own."""
    campaign = Campaign(result.kind)
    first_seed = _FIRST_SEED + 1_000 * result.index
    found = judged(campaign, islice(worlds(campaign, first_seed), CRASH_CHUNK))
    result.cases, result.answers = found.worlds, found.starts
    result.notes = {f"met {name}": count for name, count in found.counters.items()}
    result.notes |= {f"rule {name}": count for name, count in found.by_rule.items()}
    result.notes |= {"simulated_s": found.simulated_s, "calls": found.calls}
    yield from found.troubles


def _counted(index: int) -> list[tuple[str, str]]:
    sample = list(texts(SEED, index, _STEPS_SAMPLE))
    if index == 0:
        sample += [(text, dialect) for text in HOSTILE for dialect in ("posix", "standard")]
    return sample


def _line(found: str, text: str, dialect: str) -> str:
    return f"{found}: python -m tests.prove replay parse {spelled(text)} --dialect {dialect}"
