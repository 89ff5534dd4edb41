"""
What the monitor remembers: a few fields for each name and each task, and one for each open call.

Everything that the past can mean for the axioms is in these fields; `definitions` says in formulas
what they stand for. Slots, because there may be many of them and each event touches one.

Spec: THEORY-3 to THEORY-6.
"""

from gnomon.trace import CallId, Registration

__all__ = ["BOOT", "DUE", "NEVER", "RETRY", "Call", "Name", "Task"]

NEVER = -1
DUE, RETRY, BOOT = 1, 2, 4


class Task:
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

    def __init__(self, registration: Registration, name: "Name") -> None:
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


class Name:
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
        self.tasks: dict[Registration, Task] = {}
        self.registered: Task | None = None
        self.is_running = False
        self.is_orphaned = False
        """A crash interrupted a run, which is owed."""
        self.started: Task | None = None
        """What was started last; its end is told by the name alone."""
        self.is_cut_off = False
        """There was a crash, and no start since."""
        self.due_minute = NEVER
        """The minute of the last due while nothing was registered."""
        self.cron_minutes: dict[str, int] = {}
        """The minute of the last due of each cron text."""

    def task(self, registration: Registration) -> Task:
        """The task of that registration, remembered or new."""
        task = self.tasks.get(registration)
        if task is None:
            task = self.tasks[registration] = Task(registration, self)
        return task

    def forget(self) -> None:
        """Drop every task but the one that is registered and the one that was started last."""
        kept = (self.registered, self.started)
        self.tasks = {one: task for one, task in self.tasks.items() if task in kept}
        crons = {task.cron for task in self.tasks.values()}
        minutes = self.cron_minutes.items()
        self.cron_minutes = {cron: minute for cron, minute in minutes if cron in crons}

    def is_in_due_minute(self, task: Task, minute: int) -> bool:
        """Whether the present minute is one of the task's own."""
        return minute in (task.due_minute, self.due_minute, self.cron_minutes.get(task.cron))


class Call:
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
