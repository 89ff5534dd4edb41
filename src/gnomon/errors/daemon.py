"""
The exceptions of the daemon.

Spec: ERR-1.
"""

from typing import ClassVar

from gnomon.errors.root import DefinitionError

__all__ = ["KrontabError"]


class KrontabError(DefinitionError):
    """
    Krontab files cannot be used; nothing of them is.

    `report` has every error of every file with its line and column, ready to be printed, and
    `count` says how many there are. `str()` is the first line of it.
    """

    code: ClassVar[str] = "krontab"

    def __init__(self, report: str, *, count: int) -> None:
        self.report = report
        self.count = count
        first = report.partition("\n")[0].removeprefix("error: ")
        reason = first if count == 1 else f"{first} (and {count - 1} more)"
        super().__init__(reason, where="krontab", got=count)

    def _line(self) -> str:
        return self.reason
