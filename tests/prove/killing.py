"""
Prove that a program survives kill -9: `python -m tests.prove kill kill-krond kill-service ...`.

Worlds of ten kills each, several at a time, because a world spends most of its time waiting for the
next second. Writes a page of docs/evidence when 1,000 kills were run. A problem prints the line
that runs its world again. What is killed, and what is counted, is a `Killing`.
"""

from dataclasses import dataclass

from tests.kube.binaries import MissingClusterError, find_binaries
from tests.oracle.random_cases import SEED
from tests.prove.chunk import KILLS_PER_WORLD, Chunk
from tests.prove.page import Found, counts, figures, notes_of, page, part, table
from tests.prove.runner import Run, run_all, write_report

__all__ = ["KILLINGS", "KILLS", "Killing", "prove"]

KILLS = 1_000

_JUDGE = (
    "A judge that shares no code with Gnomon compares that file with the ledger and both with the "
    "calendar, and `gnomon doctor` examines the ledger."
)
_COMMANDS = (
    "{} at chosen points (before and after every call of the ledger and the launcher, inside "
    "transactions, right after the birth of a process) and from outside. In some lives it is "
    "stopped at such a point before (SIGSTOP), for longer than its leases, and up to five periods.",
    "Each command writes a line of its own into a file.",
    _JUDGE,
)
_ONCE = (
    "Executed without a line means that the worker was killed between writing down the launch and "
    "letting the command begin, or that the run was replaced before it came to write; "
    '[what "once" means](../explanation/what-once-means.md) says why this side was chosen.'
)
_OUTCOMES = ("outcome ", "outcome", "periods")
_DIED = ("died ", "where it died", "times")
_STOPPED = ("stopped ", "where it was stopped, and went on later", "times")


@dataclass(frozen=True, slots=True, kw_only=True)
class Killing:
    """A program that is killed: what the page says of it, and what is counted."""

    title: str
    said: tuple[str, ...]
    counted: tuple[tuple[str, str], ...]
    """The notes that are counted, each with what it is called in the table."""
    owed: str = ""
    """What the answers of a world are called, where there are some."""
    none: str
    """What there must be none of."""
    afterwards: tuple[str, ...] = ()
    tables: tuple[tuple[str, str, str], ...] = (_OUTCOMES, _DIED, _STOPPED)
    """The beginnings of notes that have a table of their own, each with its two headings."""
    at_a_time: int = 8
    """Worlds; they mostly wait."""
    kills: int = KILLS
    """How many make the whole proof."""
    on_cluster: bool = False
    """Whether it needs the Kubernetes of the tests."""


def _commands(program: str, title: str) -> Killing:
    first, *others = _COMMANDS
    return Killing(
        title=title,
        said=(first.format(program), *others),
        owed="periods owed",
        counted=(
            ("executed", "periods executed, says the ledger"),
            ("lines", "commands that left a line"),
            ("unseen", "executed without a line"),
        ),
        none="periods executed twice, without an outcome, or with two",
        afterwards=(_ONCE,),
    )


KILLINGS = {
    "kill": _commands(
        "`gnomon run` with real commands is killed with SIGKILL, again and again,", "kill -9"
    ),
    "kill-krond": _commands(
        "krond, whose file is edited and whose jobs are suspended now and then, is killed with "
        "SIGKILL, again and again,",
        "kill -9 of krond",
    ),
    "kill-service": Killing(
        title="kill -9 of a worker of the service",
        said=(
            "A worker of the service is killed with SIGKILL, again and again, at chosen points "
            "(before and after every call of the ledger, the DAG store and the executor, "
            "around every callback, inside transactions) and from outside; in some lives it is "
            "stopped before (SIGSTOP), for longer than its leases. Every twentieth world is on "
            "PostgreSQL.",
            "Its executor is a process of its own, asked over HTTP, which makes one effect for "
            "each idempotency key and writes it to its own file; now and then it is too busy, does "
            "not answer, fails after the effect, or calls back twice and in the wrong order.",
            _JUDGE,
        ),
        owed="periods owed",
        counted=(
            ("executed", "periods executed, says the ledger"),
            ("lines", "effects, says the executor"),
            ("asked again", "asked again under a key that was known"),
            ("unseen", "uncertain, says the ledger, and without an effect"),
        ),
        none="lost, with two effects, or told wrongly",
        afterwards=(
            "Every executed period has one effect and ended in SUCCESS; none is left uncertain.",
            "Without an effect are only periods of the one schedule that skips runs and makes up "
            "for the latest of those it has missed: each is skipped(overlap) or missed(outage).",
        ),
        at_a_time=4,
    ),
    "kill-jobs": Killing(
        title="kill -9 of a worker whose runs are Jobs",
        said=(
            "A worker of the service whose runs are Jobs is killed with SIGKILL, again and again, "
            "at chosen points (before and after every call of the ledger, the DAG store, the "
            "record of DAG runs and the executor, before and after every question to the API "
            "server and while it is on its way, inside transactions) and from outside; in some "
            "lives it is stopped before (SIGSTOP), for longer than its leases.",
            "The API server, etcd and the Job controller are real; kwok completes the pods. Each "
            "world has a cluster of its own.",
            "A judge that shares no code with Gnomon reads the audit log of the API server: an "
            "effect is a Job that was ever seen unsuspended, or was ever given a pod. It compares "
            "them with the ledger and both with the calendar, and `gnomon doctor` examines the "
            "ledger.",
        ),
        owed="periods owed",
        counted=(
            ("executed", "periods executed, says the ledger"),
            ("lines", "Jobs that ran, says the audit log"),
            ("unseen", "uncertain, says the ledger, and without a Job"),
        ),
        none="keys with two Jobs that ran, periods lost or told wrongly",
        afterwards=(
            "Every executed period has one Job that ran and ended in SUCCESS; none is left "
            "uncertain.",
            "Without a Job are only periods of the one schedule that skips runs and makes up for "
            "the latest of those it has missed: each is skipped(overlap) or missed(outage).",
        ),
        at_a_time=1,
        kills=400,
        on_cluster=True,
    ),
    "kill-scheduler": Killing(
        title="kill -9 of a scheduler",
        said=(
            "A program with a `gnomon.Scheduler` and four callbacks is killed with SIGKILL, again "
            "and again, at chosen points (around every call of the journal, inside transactions, "
            "around and inside callbacks) and from outside.",
            "Each callback writes lines of its own into a file; a judge that shares no code with "
            "Gnomon compares that file with the journal and the calendar.",
        ),
        counted=(
            ("starts", "callbacks that began"),
            ("unseen", "starts written and never called, for death came first"),
        ),
        none="owed and lost, or started and not owed",
        tables=(_DIED,),
    ),
    "kill-workflow": Killing(
        title="kill -9 of a workflow",
        said=(
            "The web hook example runs as a process of its own and is killed with SIGKILL, again "
            "and again, by the HTTP server that it posts to: while a request is on its way, after "
            "it was taken, while it is asked about, and after the answer.",
            "The log of the server must show each order once.",
        ),
        counted=(("taken", "orders taken"), ("asked", "questions what became of one")),
        none="taken twice, or never, or not known",
        tables=(_DIED,),
    ),
}


def prove(kind: str, how: Run, *, kills: int, workers: int | None = None) -> bool:
    """Kill, and say whether nothing was lost, doubled or told wrongly."""
    killing = KILLINGS[kind]
    if killing.on_cluster:
        try:
            find_binaries()
        except MissingClusterError as error:
            print(f"{kind}: {error}")
            return False
    kills = min(kills, killing.kills)
    at_a_time = workers or killing.at_a_time
    worlds = range(0, -(-kills // KILLS_PER_WORLD), how.sample)
    chunks = [Chunk(kind=kind, index=index) for index in worlds]
    says = f"{len(chunks)} worlds of {KILLS_PER_WORLD} kills, {at_a_time} at a time"
    print(f"{kind}: seed {SEED}, {says}")
    state = run_all(chunks, kind, how, workers=at_a_time, unit="kills")
    results = [state.results[chunk] for chunk in chunks]
    notes = notes_of(results)
    found: Found = figures(results, wall_s=state.wall_s) | {
        "seed": SEED,
        "kills": sum(result.cases for result in results),
        "owed": sum(result.answers for result in results),
        "problems": sum(result.differences_found for result in results),
        "notes": dict(sorted(notes.items())),
    }
    if path := how.report(f"{kind}.md", whole=kills >= killing.kills):
        write_report(path, found, _page(killing, found))
    rows = ", ".join(f"{notes[name]} {says}" for name, says in killing.counted)
    print(f"{found['kills']} kills, {rows}, {found['problems']} problems")
    return not found["problems"]


def _page(killing: Killing, found: Found) -> str:
    notes = found["notes"]
    assert isinstance(notes, dict)
    rows = [
        ("kills", found["kills"]),
        *([(killing.owed, found["owed"])] if killing.owed else []),
        *((says, notes.get(name, 0)) for name, says in killing.counted),
        (killing.none, found["problems"]),
    ]
    body = table(("what", "number"), rows)
    if killing.afterwards:
        body += [*killing.afterwards, ""]
    for prefix, *head in killing.tables:
        body += counts(head, part(notes, prefix))
    return page(killing.title, killing.said, body, found)
