"""
Deliberate mistakes in the operator: each is made by replacing one piece.

A mutant is what a tired programmer could have written; half of them are parts of the protocol that
look as if they could be left out. None of them may survive the judge.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import NamedTuple
from unittest.mock import patch

from gnomon.apps.operator import asking, claim, job, one_pass, periods, repair, status, tend
from gnomon.apps.operator.asking import Asking, Flow, Heard, Question, Steps
from gnomon.apps.operator.definition import Definition
from gnomon.apps.operator.job import JobView, read_job, release
from gnomon.apps.operator.periods import Outlook, first_status
from gnomon.apps.operator.status import Active, Opened, Result, Status, add_entries, end_runs
from gnomon.core.policy import is_too_late
from gnomon.core.schedule import Overlap, Schedule
from gnomon.ports.kubernetes import Answer, Found, Object, PutStatus
from gnomon.simulation.operator.plan import World
from tests.simulation.operator.clock_mutants import (
    own_clock_believed,
    step_during_a_question_ignored,
)

__all__ = ["MUTANTS", "Mutant"]

Patch = AbstractContextManager[object]


class Mutant(NamedTuple):
    name: str
    world: World
    """The worlds that find it."""
    make: Callable[[], Patch]
    first_seed: int = 1
    """From which world on it is looked for; shortly before it happens."""


def _asking(wrong: Callable[[Question], Question]) -> Patch:
    """What is asked is changed on its way."""
    ask = Asking.ask

    def wrongly(self: Asking, question: Question) -> Generator[Question, Heard, Answer | Found]:
        return (yield from ask(self, wrong(question)))

    return patch.object(Asking, "ask", wrongly)


def _without_version() -> Patch:
    def wrong(question: Question) -> Question:
        if isinstance(question, PutStatus):
            return question._replace(resource_version="")
        return question

    return _asking(wrong)


def _old_candidate_adopted() -> Patch:
    """The name of a candidate does not say what it was made from, and any is taken."""
    name = job._name

    def without_spec(kronjob: str, uid: str, period: int, *parts: object) -> str:
        return name(kronjob, uid, period, parts[-1])

    def of_any_spec(one: Object) -> JobView:
        view = read_job(one)
        return view._replace(spec_hash=_Any(view.spec_hash), revision=_AnyNumber(view.revision))

    @contextmanager
    def both() -> Iterator[None]:
        with patch.object(job, "_name", without_spec), patch.object(claim, "read_job", of_any_spec):
            yield

    return both()


class _Any(str):
    """Equal to every text."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = str.__hash__


class _AnyNumber(int):
    """Equal to every number."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = int.__hash__


def _released_before_claimed() -> Patch:
    make = claim._candidate

    def release_at_once(
        self: Asking, status: Status, definition: Definition, opened: Opened
    ) -> Generator[Question, Heard, object]:
        found = yield from make(self, status, definition, opened)
        if isinstance(found, JobView):
            yield from self.ask(release(self.namespace, found.name, found.uid, definition))
        return found

    return patch.object(claim, "_candidate", release_at_once)


def _made_unsuspended() -> Patch:
    make = job.candidate

    def running(*arguments: object, **words: object) -> dict[str, object]:
        made = make(*arguments, **words)  # type: ignore[arg-type]
        spec = made["spec"]
        assert isinstance(spec, dict)
        return {**made, "spec": {**spec, "suspend": False}}

    return patch.object(claim, "candidate", running)


def _swept_too_soon() -> Patch:
    return patch.object(Status, "is_handled", lambda self, nominal: True)


def _released_beside() -> Patch:
    """Under `replace`, nothing waits for the end of the older Job."""
    further = tend._further

    def alone(
        asking: Asking, entry: Active, job: JobView, status: Status, definition: Definition,
        ends: tend.Ends,
    ) -> Generator[Question, Heard, None]:  # fmt: skip
        newest = max(one.period for one in status.active)
        if entry.period == newest:
            status = replace(status, active=(entry,))
        return (yield from further(asking, entry, job, status, definition, ends))

    return patch.object(tend, "_further", alone)


def _skipped_unasked() -> Patch:
    """Under `forbid`, the status is believed, and no result is written down in between."""

    def skip(asking: Asking, entry: Active) -> Generator[Question, Heard, JobView | str | None]:
        yield from ()
        return JobView(entry.job, entry.uid, asking.uid, entry.period, "", 0, *_RUNS, "", "", None)

    return patch.object(claim, "ask_job", skip)


_RUNS = (False, False, False)


def _unseen_is_gone() -> Patch:
    def gone(asking: Asking, entry: Active) -> Generator[Question, Heard, JobView | str | None]:
        yield from ()
        return None

    return patch.object(tend, "ask_job", gone)


def _born_too_early() -> Patch:
    def begin(definition: Definition, *, created: int, generation: int, now: int) -> Status:
        status = first_status(definition, created=created, generation=generation, now=now)
        return replace(status, cursor=created - 60)

    return patch.object(one_pass, "first_status", begin)


def _wiped_is_new() -> Patch:
    def begin(asking: Asking, definition: Definition) -> Steps:
        return (yield from one_pass._begin(asking, definition))

    return patch.object(one_pass, "repair", begin)


def _repair_forgets_what_ran() -> Patch:
    """Jobs that were released are neither active nor handled after a repair."""
    mend = repair.repaired

    def forgetful(asking: Asking, definition: Definition, jobs: Sequence[JobView]) -> Status:
        held = [one for one in jobs if one.is_candidate]
        return replace(mend(asking, definition, held), cursor=asking.now - 60, ahead=())

    return patch.object(repair, "repaired", forgetful)


def _repair_deletes() -> Patch:
    """Candidates are deleted, though the status that is lost may have claimed them."""
    mend = repair.repaired

    def ending(asking: Asking, definition: Definition, jobs: Sequence[JobView]) -> Status:
        status = mend(asking, definition, jobs)
        return replace(status, active=(), recent=())

    return patch.object(repair, "repaired", ending)


def _records_forget_what_runs() -> Patch:
    """A Job is active no more when the next one is claimed."""
    add = add_entries

    def forget(status: Status, entries: Sequence[object], *, records_max: int) -> Status:
        return replace(
            add(status, entries, records_max=records_max),  # type: ignore[arg-type]
            active=(),
        )

    return patch.object(claim, "add_entries", forget)


def _end_is_not_asked() -> Patch:
    """What is deleted counts as ended at once."""
    delete = tend._delete

    def ended(asking: Asking, job: JobView, *rest: object) -> Generator[Question, Heard, None]:
        yield from delete(asking, job, *rest)  # type: ignore[arg-type]
        if job.uid in asking.jobs:
            asking.jobs[job.uid] = job._replace(end="Failed")

    return patch.object(tend, "_delete", ended)


def _deadline_ignored() -> Patch:
    def never(*arguments: object, **words: object) -> bool:
        return False

    @contextmanager
    def both() -> Iterator[None]:
        with (
            patch.object(claim, "is_too_late", never), patch.object(periods, "is_too_late", never),
        ):  # fmt: skip
            yield

    return both()


def _missed_too_soon() -> Patch:
    late = is_too_late

    def sooner(fire_ms: int, deadline: object, *, now_ms: int) -> bool:
        return late(fire_ms, deadline, now_ms=now_ms + 8_000)  # type: ignore[arg-type]

    return patch.object(periods, "is_too_late", sooner)


def _edit_starts_anew() -> Patch:
    """An edit of the timing opens what has passed once more."""
    take_up = periods.take_up

    def again(*arguments: object, now: int, generation: int) -> Status:
        status = take_up(*arguments, now=now, generation=generation)  # type: ignore[arg-type]
        old = arguments[1]
        assert isinstance(old, Status)
        if status.timing == old.timing:
            return status
        return replace(status, cursor=now - 60, ahead=())

    return patch.object(one_pass, "take_up", again)


def _mended_starts_anew() -> Patch:
    def anew(identity: str, old: Status, new: Definition, *, generation: int, now: int) -> Status:
        found = periods.take_up(identity, old, new, generation=generation, now=now)
        return replace(found, cursor=now) if old.has(status.ConditionKind.INVALID_SPEC) else found

    return patch.object(one_pass, "take_up", anew)


def _edit_drops_what_is_open() -> Patch:
    return patch.object(periods, "_let_go", lambda identity, status, definition, now: status)


def _suspension_ignored() -> Patch:
    look = periods.look

    def on(status: Status, definition: Definition, *, now: int) -> Outlook:
        return look(status, replace(definition, suspend=False), now=now)

    return patch.object(one_pass, "look", on)


def _cursor_passes_what_is_open() -> Patch:
    def past(status: Status, schedule: Schedule, done: Sequence[int], *, now: int) -> Status:
        left = tuple(one for one in status.opened if one.period not in set(done))
        return replace(status, opened=left, cursor=max([status.cursor, *done]))

    return patch.object(claim, "handled", past)


def _forbid_ignored() -> Patch:
    start = claim.start

    def beside(
        asking: Asking, status: Status, definition: Definition, eligible: Sequence[Opened]
    ) -> Steps:
        if definition.schedule.policy.overlap is not Overlap.SKIP:
            return (yield from start(asking, status, definition, eligible))
        policy = replace(definition.schedule.policy, overlap=Overlap.ALLOW)
        schedule = replace(definition.schedule, policy=policy)
        allowing = replace(definition, schedule=schedule)
        return (yield from start(asking, status, allowing, eligible))

    return patch.object(one_pass, "start", beside)


def _deleted_is_made_again() -> Patch:
    """A Job that has gone without an end gives its period back."""

    def give_back(status: Status, ends: tend.Ends) -> Status:
        gone = {uid for uid, (result, _, _) in ends.items() if result is Result.DELETED}
        back = {one.period for one in status.active if one.uid in gone}
        opened = [Opened(period, period, "") for period in back]
        status = end_runs(status, ends)
        return replace(
            status, opened=(*status.opened, *opened),
            recent=[one for one in status.recent if getattr(one, "uid", "") not in gone],
        )  # fmt: skip

    return patch.object(tend, "end_runs", give_back)


def _deleted_is_success() -> Patch:
    def glossed(status: Status, ends: tend.Ends) -> Status:
        well = {uid: (Result.SUCCEEDED, "", when) for uid, (_, _, when) in ends.items()}
        return end_runs(status, well)

    return patch.object(tend, "end_runs", glossed)


def _end_is_never_told() -> Patch:
    return patch.object(tend, "_result", lambda job, now: (Result.REPLACED, "", now))


def _not_swept() -> Patch:
    def nothing(asking: Asking, status: Status, definition: Definition) -> Steps:
        yield from ()
        return Flow.ON

    return patch.object(one_pass, "sweep", nothing)


def _conflict_is_success() -> Patch:
    """Whatever is answered to a status, it counts as written."""
    put = asking.Asking.put_plain

    def sure(self: Asking, written: Object) -> Steps:
        before = self.kronjob
        found = yield from put(self, written)
        if self.kronjob is before or found is not Flow.AGAIN:
            return found
        self.kronjob = {**self.kronjob, "status": written}
        return found

    return patch.object(Asking, "put_plain", sure)


MUTANTS = (
    Mutant("a status is written without a version", World.STORM, _without_version),
    Mutant("a candidate of an old template is adopted", World.STORM, _old_candidate_adopted, 40),
    Mutant("released before it is claimed", World.STORM, _released_before_claimed),
    Mutant("made unsuspended", World.STORM, _made_unsuspended),
    Mutant("candidates are swept before their claim", World.STORM, _swept_too_soon, 90),
    Mutant("released beside what it replaces", World.STORM, _released_beside),
    Mutant("skipped without asking", World.STORM, _skipped_unasked, 770),
    Mutant("what is not seen is gone", World.STORM, _unseen_is_gone),
    Mutant("its own clock is believed", World.STORM, own_clock_believed, 20),
    Mutant("a step of the clock is ignored", World.STORM, step_during_a_question_ignored, 185),
    Mutant("born before its creation", World.STORM, _born_too_early),
    Mutant("a wiped status is a new one", World.STORM, _wiped_is_new, 10),
    Mutant("a repair forgets what ran", World.STORM, _repair_forgets_what_ran),
    Mutant("a repair forgets what is active", World.STORM, _repair_deletes, 22),
    Mutant("a claim forgets what is active", World.STORM, _records_forget_what_runs),
    Mutant("what is deleted has ended at once", World.STORM, _end_is_not_asked),
    Mutant("the deadline is ignored", World.STORM, _deadline_ignored, 88),
    Mutant("missed too soon", World.STORM, _missed_too_soon),
    Mutant("an edit starts anew", World.STORM, _edit_starts_anew, 10),
    Mutant("a spec that is mended starts anew", World.STORM, _mended_starts_anew),
    Mutant("an edit drops what is open", World.STORM, _edit_drops_what_is_open, 35),
    Mutant("a suspension is ignored", World.STORM, _suspension_ignored),
    Mutant("the cursor passes what is open", World.STORM, _cursor_passes_what_is_open),
    Mutant("forbid is ignored", World.STORM, _forbid_ignored),
    Mutant("what was deleted is made again", World.STORM, _deleted_is_made_again),
    Mutant("what was deleted has succeeded", World.STORM, _deleted_is_success),
    Mutant("an end is told as a replacement", World.STORM, _end_is_never_told),
    Mutant("nothing is swept", World.STORM, _not_swept),
    Mutant("a conflict is taken for success", World.STORM, _conflict_is_success),
)
