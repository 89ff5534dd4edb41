"""
What is one piece of the proof, and what came of it?

The proof is cut into chunks that depend on nothing but their number, so that any process can run
any of them, in any order, and a broken run can go on where it stopped.
"""

import logging
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice

from gnomon.apps.declarative.log import LOGGER
from gnomon.simulation.declarative import world as declarative
from gnomon.simulation.declarative.plan import World, draw_spec
from gnomon.simulation.declarative.search import Act, play, stories
from gnomon.simulation.kit.campaign import Tally as Simulated
from gnomon.simulation.ledger import plan as ledger_plan
from gnomon.simulation.ledger import world as ledger
from gnomon.simulation.operator import plan as operator_plan
from gnomon.simulation.operator import world as operator
from gnomon.simulation.workflow import plan as workflow_plan
from gnomon.simulation.workflow import world as workflow
from tests.kill import hook_world, scheduler_world, service_world
from tests.kill.fleet import BLOWS_AT_A_MINUTE, run_fleet
from tests.kill.krond_world import KrondWorld
from tests.kill.world import run_world
from tests.kube import jobs_world
from tests.kube.campaign import run_campaign
from tests.oracle.compare import Tally, check_case, check_transition, spelled
from tests.oracle.fuzz_cases import HOSTILE, complaint, steps_max, steps_of, texts
from tests.oracle.random_cases import SEED, cases
from tests.oracle.transitions import transitions, zone_names
from tests.protocol.exploration import explore
from tests.protocol.operators import Protocol
from tests.protocol.searches import BROKEN
from tests.protocol.searches import SEARCHES as SEARCHES_OF_PROTOCOL
from tests.storm.world import run_alone
from tests.theory.agreement import compare
from tests.theory.state_search import SEARCHES, search

__all__ = [
    "CRASH_CHUNK",
    "DECLARATIVE",
    "DECLARATIVE_DAYS",
    "FAULTS_PER_CAMPAIGN",
    "FAULTS_PER_FLEET",
    "FUZZ_CHUNK",
    "KILLS_PER_WORLD",
    "KINDS",
    "OPERATIONS_PER_STORM",
    "OPERATOR",
    "OPERATOR_CHUNK",
    "RANDOM_CHUNK",
    "TRACES_PER_CHUNK",
    "WORKFLOW",
    "Chunk",
    "ChunkResult",
    "fill",
    "run",
]

KINDS = ("sweep", "random", "fuzz")
RANDOM_CHUNK = 2_000
FUZZ_CHUNK = 5_000
KILLS_PER_WORLD = 10
FAULTS_PER_CAMPAIGN = 100
FAULTS_PER_FLEET = 20
MINUTES_PER_FLEET = 2
"""Of those faults, two for each minute are struck at its start."""
CRASH_CHUNK = 1_000  # worlds, or as many more as the last seed takes to be complete
TRACES_PER_CHUNK = 500
OPERATIONS_PER_STORM = 3_000
DECLARATIVE = ("declarative-crash", "declarative-storm", "declarative-twenty", "declarative-one")
OPERATOR = ("operator-crash", "operator-storm", "operator-calendar")
OPERATOR_CHUNK = 125  # worlds
WORKFLOW = {
    "workflow-crash": 1_000, "workflow-storm": 1_000, "workflow-odd": 100, "workflow-outage": 100,
    "workflow-old": 20,
}  # fmt: skip
"""Worlds in a chunk: a world of days takes as long as fifty others."""
SEARCH_LENGTH = 5  # steps of each story
DECLARATIVE_DAYS = 10  # of each piece of a long world

_STEPS_SAMPLE = 25  # texts of each fuzz chunk whose steps are counted
_DIFFERENCES_MAX = 50  # per chunk; one is enough to fail, and the first ones tell the story
_FIRST_SEED = 1_000_000  # beyond the seeds of `make test`
_AXIOMS = 16
_POSTGRES_EVERY = 20  # of the worlds of the service
_YEAR_2000, _YEAR_2038 = 946_684_800, 2_145_916_800


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Chunk:
    kind: str
    index: int


@dataclass(slots=True, kw_only=True)
class ChunkResult:
    """
    `cases` are transitions, questions, texts, kills, faults, worlds, traces, states or operations;
    `answers` are the comparisons made for them.
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

    def add(self, difference: str) -> None:
        self.differences_found += 1
        if len(self.differences) < _DIFFERENCES_MAX:
            self.differences.append(difference)

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def run(chunk: Chunk) -> ChunkResult:
    """One chunk; whatever it raises is a finding, so that the others go on."""
    result = ChunkResult(kind=chunk.kind, index=chunk.index)
    started = time.perf_counter()
    try:
        fill(result)
    except Exception as error:
        result.add(f"raised {error!r}: python -m tests.prove chunk {chunk.kind} {chunk.index}")
    result.seconds = time.perf_counter() - started
    return result


def fill(result: ChunkResult) -> None:
    """Run the chunk of a result, and write down what came of it."""
    kinds = {"sweep": _sweep, "random": _random, "fuzz": _fuzz, "kill": _kill}
    kinds |= {"workers-kill": _fleet, "kill-krond": _kill}
    kinds |= {"agreement": _agree, "states": _search, "ledger-storm": _storm}
    kinds |= {world.value: _simulate_ledger for world in ledger_plan.World}
    kinds |= dict.fromkeys(DECLARATIVE, _simulate_declarative) | {"kill-scheduler": _kill_scheduler}
    kinds |= {"declarative-search": _search_stories, "kill-workflow": _kill_workflow}
    kinds |= dict.fromkeys(WORKFLOW, _simulate_workflow) | {"kill-service": _kill_service}
    kinds |= {"kill-jobs": _kill_jobs}
    kinds |= {"protocol": _explore, "kill-operator": _kill_operator} | dict.fromkeys(
        OPERATOR, _simulate_operator
    )
    for difference in kinds[result.kind](result):
        result.add(difference)


def _sweep(result: ChunkResult) -> Iterator[str]:
    """Every transition of one zone."""
    compared = Tally()
    for transition in transitions(zone_names()[result.index], _YEAR_2000, _YEAR_2038):
        result.cases += 1
        yield from map(str, check_transition(transition, compared))
    result.answers = compared.answers


def _random(result: ChunkResult) -> Iterator[str]:
    compared = Tally()
    for case in cases(SEED, result.index, RANDOM_CHUNK):
        result.cases += 1
        yield from map(str, check_case(case, compared))
    result.answers = compared.answers


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
    """One world in which `gnomon run`, or krond, is killed again and again."""
    seed, is_krond = f"{SEED}:{result.index}", result.kind == "kill-krond"
    outcome = run_world(seed, KILLS_PER_WORLD, KrondWorld if is_krond else None)
    result.cases = outcome.kills
    result.answers = outcome.verdict.periods
    result.notes = outcome.notes()
    for problem in outcome.problems:
        module = "krond_world" if is_krond else "world"
        yield f"{problem}: python -m tests.kill.{module} {seed} {KILLS_PER_WORLD}"


def _kill_operator(result: ChunkResult) -> Iterator[str]:
    """One cluster with two operators, to which everything happens."""
    report = run_campaign(f"{SEED}:{result.index}", FAULTS_PER_CAMPAIGN)
    result.cases, result.answers = report.faults.total(), report.due
    result.notes |= {f"fault {kind}": count for kind, count in report.faults.items()}
    result.notes |= {
        "kronjobs": report.kronjobs, "executions": report.executions,
        "candidates": report.candidates, "requests": report.requests,
    }  # fmt: skip
    if late := report.lateness_ms:
        result.notes |= {"late p50": late[len(late) // 2], "late max": late[-1]}
    again = f"python -m tests.prove chunk {result.kind} {result.index}"
    yield from (f"{complaint}: {again}" for complaint in report.complaints)


def _fleet(result: ChunkResult) -> Iterator[str]:
    """One fleet of workers on PostgreSQL, to which everything happens."""
    seed = f"{SEED}:{result.index}"
    anywhere = FAULTS_PER_FLEET - BLOWS_AT_A_MINUTE * MINUTES_PER_FLEET
    outcome = run_fleet(seed, anywhere, MINUTES_PER_FLEET)
    result.cases = outcome.faults.total()
    result.answers = outcome.verdict.periods
    result.notes = outcome.notes()
    for problem in outcome.problems:
        yield f"{problem}: python -m tests.kill.fleet {seed} {anywhere} {MINUTES_PER_FLEET}"


def _storm(result: ChunkResult) -> Iterator[str]:
    """Everybody at once on a ledger on PostgreSQL; in half of the storms no clock is right."""
    seed, apart = f"{SEED}:{result.index}", result.index % 4 > 1
    storm = run_alone(seed, OPERATIONS_PER_STORM, apart=apart)
    result.cases, result.answers = storm.operations, storm.claims
    result.notes = {f"call {name}": times for name, times in storm.calls.items()}
    result.notes |= {f"raised {what}": times for what, times in storm.raised.items()}
    words = f"{seed} {OPERATIONS_PER_STORM}{' apart' if apart else ''}"
    for problem in storm.problems:
        yield f"{problem}: python -m tests.storm.world {words}"


def _simulate_ledger(result: ChunkResult) -> Iterator[str]:
    """Simulated worlds of the ledger; each chunk has a thousand seeds of its own."""
    scenario, kind = ledger.SCENARIO, ledger_plan.World(result.kind)
    specs = scenario.whole_seeds(kind, _seed_of(result), CRASH_CHUNK)
    yield from _take_over(result, scenario.tally(specs), "starts")


def _simulate_declarative(result: ChunkResult) -> Iterator[str]:
    """Simulated worlds of the declarative scheduler."""
    scenario, seed = declarative.SCENARIO, _seed_of(result)
    match result.kind:
        case "declarative-crash":
            specs = scenario.whole_seeds(World.CRASH, seed, CRASH_CHUNK)
        case "declarative-storm":
            specs = scenario.whole_seeds(World.STORM, seed, CRASH_CHUNK)
        case _:
            tasks = 20 if result.kind == "declarative-twenty" else 1
            length_ms = DECLARATIVE_DAYS * 86_400_000
            specs = iter([draw_spec(World.LONG, seed, tasks=tasks, length_ms=length_ms)])
    yield from _take_over(result, scenario.tally(specs), "starts")


def _take_over(result: ChunkResult, found: Simulated, answers: str) -> Iterator[str]:
    """Write down what simulated worlds came to; one of their figures counts as the answers."""
    result.cases, result.answers = found.worlds, found.figures.pop(answers, 0)
    result.notes = {f"met {name}": count for name, count in found.counters.items()}
    result.notes |= {"simulated_s": found.simulated_s, "calls": found.calls, **found.figures}
    yield from found.troubles


def _seed_of(result: ChunkResult) -> int:
    return _FIRST_SEED + 1_000 * result.index


def _search_stories(result: ChunkResult) -> Iterator[str]:
    """Every story that begins with one act, with one task or with two."""
    tasks, first = 1 + result.index // len(Act), list(Act)[result.index % len(Act)]
    level = LOGGER.level
    LOGGER.setLevel(logging.CRITICAL + 1)
    for rest in stories(SEARCH_LENGTH - 1):
        result.cases += 1
        if complaints := play((first, *rest), tasks=tasks):
            yield f"{complaints[0]}: story {''.join((first, *rest))}, {tasks} tasks"
    LOGGER.setLevel(level)


def _kill_scheduler(result: ChunkResult) -> Iterator[str]:
    """One world in which a program with a scheduler is killed again and again."""
    seed = f"{SEED}:{result.index}"
    outcome = scheduler_world.run_world(seed, KILLS_PER_WORLD)
    result.cases = outcome.kills
    result.answers = outcome.verdict.starts
    result.notes = outcome.notes()
    for problem in outcome.problems:
        yield f"{problem}: python -m tests.kill.scheduler_world {seed} {KILLS_PER_WORLD}"


def _simulate_workflow(result: ChunkResult) -> Iterator[str]:
    """Simulated worlds of workflows."""
    kind = workflow_plan.World(result.kind.removeprefix("workflow-"))
    specs = islice(workflow.SCENARIO.worlds(kind, _seed_of(result)), WORKFLOW[result.kind])
    yield from _take_over(result, workflow.SCENARIO.tally(specs), "applications")


def _simulate_operator(result: ChunkResult) -> Iterator[str]:
    """Simulated worlds of the operator."""
    kind = operator_plan.World(result.kind.removeprefix("operator-"))
    specs = islice(operator.SCENARIO.worlds(kind, _seed_of(result)), OPERATOR_CHUNK)
    yield from _take_over(result, operator.SCENARIO.tally(specs), "due")


def _explore(result: ChunkResult) -> Iterator[str]:
    """One search of the protocol of the operator, or of one that lacks a part."""
    place = result.index - len(SEARCHES_OF_PROTOCOL)
    if place < 0:
        explored = explore(Protocol(), SEARCHES_OF_PROTOCOL[result.index])
        is_wrong = bool(explored.broken) or not explored.is_whole
    else:
        wrong = BROKEN[place]
        explored = explore(wrong.protocol, wrong.bounds, wanted=wrong.clause)
        is_wrong = explored.broken != wrong.clause
        result.notes["steps"] = len(explored.path)
    result.cases, result.answers = explored.states, explored.servers
    if is_wrong:
        yield f"{explored.broken or 'holds'}: {'; '.join(explored.path)}"


def _kill_workflow(result: ChunkResult) -> Iterator[str]:
    """One world in which the web hook example is killed again and again."""
    seed = f"{SEED}:{result.index}"
    outcome = hook_world.run_world(seed, KILLS_PER_WORLD)
    result.cases, result.answers = outcome.kills, outcome.taken
    result.notes = outcome.notes()
    for problem in outcome.problems:
        yield f"{problem}: python -m tests.kill.hook_world {seed} {KILLS_PER_WORLD}"


def _kill_service(result: ChunkResult) -> Iterator[str]:
    """One world in which a worker of the service is killed again and again."""
    seed = f"{SEED}:{result.index}"
    is_shared = result.index % _POSTGRES_EVERY == _POSTGRES_EVERY - 1
    world = service_world.run_world_on_postgres if is_shared else service_world.run_world
    outcome = world(seed, KILLS_PER_WORLD)
    result.cases = outcome.kills
    result.answers = outcome.verdict.periods
    result.notes = outcome.notes()
    where = " postgres" if is_shared else ""
    for problem in outcome.problems:
        yield f"{problem}: python -m tests.kill.service_world {seed} {KILLS_PER_WORLD}{where}"


def _kill_jobs(result: ChunkResult) -> Iterator[str]:
    """One cluster with a worker of the service that is killed again and again."""
    seed = f"{SEED}:{result.index}"
    outcome = jobs_world.run_world(seed, KILLS_PER_WORLD)
    result.cases = outcome.kills
    result.answers = outcome.verdict.periods
    result.notes = outcome.notes()
    for problem in outcome.problems:
        yield f"{problem}: python -m tests.kube.jobs_world {seed} {KILLS_PER_WORLD}"


def _agree(result: ChunkResult) -> Iterator[str]:
    """The monitor of the theory against its formulas."""
    first = _FIRST_SEED + TRACES_PER_CHUNK * result.index
    different, counts = compare(range(first, first + TRACES_PER_CHUNK))
    result.cases, result.answers = TRACES_PER_CHUNK, _AXIOMS * TRACES_PER_CHUNK
    result.notes = dict(counts)
    yield from different


def _search(result: ChunkResult) -> Iterator[str]:
    """All states of some tasks, for a conflict."""
    asked = SEARCHES[result.index]
    found = search(asked.configurations, reconcile=asked.reconcile)
    result.cases, result.answers = found.states, found.transitions
    yield from (f"{conflict}: {path}" for conflict, path in found.conflicts.items())


def _counted(index: int) -> list[tuple[str, str]]:
    sample = list(texts(SEED, index, _STEPS_SAMPLE))
    if index == 0:
        sample += [(text, dialect) for text in HOSTILE for dialect in ("posix", "standard")]
    return sample


def _line(found: str, text: str, dialect: str) -> str:
    return f"{found}: python -m tests.prove replay parse {spelled(text)} --dialect {dialect}"
