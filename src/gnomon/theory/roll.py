"""
The roll: every name that a trace has mentioned, and what is registered under it.

A task that comes anew owes nothing from before, and is owed at once if the minute is one of its
own; a name that stays keeps the run that a crash interrupted.

Spec: THEORY-3, THEORY-4.
"""

from gnomon.theory.memory import BOOT, NEVER, Name, Task
from gnomon.theory.positions import by_name
from gnomon.trace import Registration

__all__ = ["Roll"]


class Roll:
    """All names, and the list that was registered last."""

    def __init__(self) -> None:
        self.names: dict[str, Name] = {}
        self.listed: tuple[Registration, ...] | None = None
        self._has_crashed = False

    def name(self, text: str) -> Name:
        """The name, remembered or new."""
        name = self.names.get(text)
        if name is None:
            name = self.names[text] = Name(text)
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


def _enter(name: Name, task: Task, minute: int) -> None:
    if name.registered is None:
        name.is_orphaned = False
    name.registered = task
    task.pending = 0
    task.failed_t = NEVER
    if name.is_in_due_minute(task, minute):
        task.pending = BOOT
        task.begin_period()
