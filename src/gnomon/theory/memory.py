"""
What the monitor remembers: a few fields for each name and each task, one for each open call, and
the events of the present instant.

Everything that the past can mean for the axioms is in these fields; `axioms` says in formulas what
they stand for. Slots, because there may be many of them and each event touches one.

A task that comes anew owes nothing from before, and is owed at once if the minute is one of its
own; a name that stays keeps the run that a crash interrupted. Two actions may not happen at one
instant (EA3), nor may compute and a crash (EA1); everywhere else the events of one instant are
taken one after the other, in the order of their lines.

Spec: THEORY-3 to THEORY-6, EA1, EA3.
"""

from gnomon.theory.positions import ACTIONS, by_name
from gnomon.trace import CallId, Event, Kind, Registration

__all__ = [
    "BOOT",
    "DUE",
    "NEVER",
    "RETRY",
    "Instant",
    "KnownName",
    "KnownNames",
    "KnownTask",
    "OpenCall",
]

NEVER = -1
DUE, RETRY, BOOT = 1, 2, 4

_ACTION, _COMPUTE, _CRASH = "action", "compute", "crash"
_NATURES = {
    **dict.fromkeys(ACTIONS, _ACTION),
    Kind.COMPUTE: _COMPUTE,
    Kind.CRASH: _CRASH,
}
_AGAINST = {_ACTION: ("EA3", _ACTION), _COMPUTE: ("EA1", _CRASH), _CRASH: ("EA1", _COMPUTE)}
_SAYS = {"EA1": "compute at the instant of a crash", "EA3": "two actions at the same instant"}


class KnownTask:
    """A task as it is registered: name, cron text and delay."""

    __slots__ = (
        "cron",
        "due_minute",
        "failed_t",
        "is_doomed",
        "is_trying",
        "name",
        "owed_compute",
        "owed_position",
        "owed_t",
        "pending",
        "retry_ms",
        "succeeded",
    )

    def __init__(self, registration: Registration, name: "KnownName") -> None:
        self.name = name
        self.cron = registration.cron
        self.retry_ms = registration.retry_ms
        self.pending = 0
        """Which of DUE, RETRY and BOOT ask for a start."""
        self.due_minute = NEVER
        """The number of the minute in which it was due last."""
        self.failed_t = NEVER
        """When the last run failed, if nothing has started since."""
        self.succeeded = False
        """A run that began after the last boundary has succeeded."""
        self.is_trying = False
        """A run that began after the last boundary has not ended."""
        self.is_doomed = False
        """A run is going on whose success would be one too many."""
        self.owed_position = NEVER
        """Since when a start is an obligation; NEVER when it is none."""
        self.owed_t = 0
        self.owed_compute = 0

    def begin_period(self) -> None:
        """A boundary: what was achieved before counts no more."""
        self.succeeded = self.is_trying = False


class KnownName:
    """All that goes by one name."""

    __slots__ = (
        "cron_minutes",
        "due_minute",
        "is_cut_off",
        "is_orphaned",
        "is_running",
        "registered",
        "started",
        "tasks",
        "text",
    )

    def __init__(self, text: str) -> None:
        self.text = text
        self.tasks: dict[Registration, KnownTask] = {}
        self.registered: KnownTask | None = None
        self.is_running = False
        self.is_orphaned = False
        """A crash interrupted a run, which is owed."""
        self.started: KnownTask | None = None
        """What was started last; its end is told by the name alone."""
        self.is_cut_off = False
        """There was a crash, and no start since."""
        self.due_minute = NEVER
        """The minute of the last due while nothing was registered."""
        self.cron_minutes: dict[str, int] = {}
        """The minute of the last due of each cron text."""

    def task(self, registration: Registration) -> KnownTask:
        """The task of that registration, remembered or new."""
        task = self.tasks.get(registration)
        if task is None:
            task = self.tasks[registration] = KnownTask(registration, self)
        return task

    def forget(self) -> None:
        """Drop every task but the one that is registered and the one that was started last."""
        kept = (self.registered, self.started)
        self.tasks = {one: task for one, task in self.tasks.items() if task in kept}
        crons = {task.cron for task in self.tasks.values()}
        minutes = self.cron_minutes.items()
        self.cron_minutes = {cron: minute for cron, minute in minutes if cron in crons}

    def is_in_due_minute(self, task: KnownTask, minute: int) -> bool:
        """Whether the present minute is one of the task's own."""
        return minute in (task.due_minute, self.due_minute, self.cron_minutes.get(task.cron))


class OpenCall:
    """A call of initialize() that has not returned."""

    __slots__ = ("call", "faults", "is_excused", "is_valid", "registrations")

    def __init__(
        self,
        call: CallId,
        registrations: tuple[Registration, ...],
        *,
        is_valid: bool,
        is_excused: bool,
        faults: int,
    ) -> None:
        self.call = call
        self.registrations = registrations
        self.is_valid = is_valid
        self.is_excused = is_excused
        """The scheduler was up, or another call was going on, when it began."""
        self.faults = faults
        """How many faults there had been when it began."""


class KnownNames:
    """All names, and the list that was registered last."""

    def __init__(self) -> None:
        self.names: dict[str, KnownName] = {}
        self.listed: tuple[Registration, ...] | None = None
        self._has_crashed = False

    def name(self, text: str) -> KnownName:
        """The name, remembered or new."""
        name = self.names.get(text)
        if name is None:
            name = self.names[text] = KnownName(text)
            name.is_cut_off = self._has_crashed
        return name

    def register(self, listed: tuple[Registration, ...], minute: int) -> None:
        """A new list takes the place of the old one."""
        self.listed = listed
        wanted = by_name(listed)
        for name in self.names.values():
            if name.text not in wanted:
                name.registered = None
        for registration in wanted.values():
            name = self.name(registration.name)
            task = name.task(registration)
            if name.registered is not task:
                _enter(name, task, minute)

    def forget(self) -> None:
        """Drop the names, and the tasks of names, that are neither registered nor running."""
        idle = [
            name for name in self.names.values() if name.registered is None and not name.is_running
        ]
        for name in idle:
            del self.names[name.text]
        for name in self.names.values():
            if len(name.tasks) > 1 or len(name.cron_minutes) > 1:
                name.forget()

    def crash(self) -> None:
        """Every run is interrupted; each is owed, and a boundary for all tasks of its name."""
        self._has_crashed = True
        for name in self.names.values():
            name.is_cut_off = True
            for task in name.tasks.values():
                task.is_trying = task.is_doomed = False
                if name.is_running:
                    task.begin_period()
            if name.is_running:
                name.is_running = False
                name.is_orphaned = True


class Instant:
    """What has happened at the present instant."""

    def __init__(self) -> None:
        self._natures: set[str | None] = set()

    def add(self, event: Event, before: Event | None) -> tuple[str, str] | None:
        """An event at the instant of the one before it: the axiom that this breaks, and why."""
        if before is not None and not before.same:
            self._natures = {_NATURES.get(before.kind)}
        nature = _NATURES.get(event.kind)
        axiom, other = _AGAINST.get(nature, ("", "")) if nature else ("", "")
        broken = other in self._natures
        self._natures.add(nature)
        return (axiom, _SAYS[axiom]) if broken else None


def _enter(name: KnownName, task: KnownTask, minute: int) -> None:
    if name.registered is None:
        name.is_orphaned = False
    name.registered = task
    task.pending = 0
    task.failed_t = NEVER
    if name.is_in_due_minute(task, minute):
        task.pending = BOOT
        task.begin_period()
