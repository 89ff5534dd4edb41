"""
Drafts: a job as pieces of text by name, before anybody has asked what they mean.

Both forms of a file, lines and YAML, have the same names: modifiers say when, fields say what. In a
line a modifier is written `@win(after,2h)` and a field `user=backup`.

Spec: KRONTAB-6.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from gnomon.apps.daemon.krontab.piece import Piece
from gnomon.apps.daemon.krontab.problem import Problems

__all__ = ["FIELDS", "MODIFIERS", "SCHEDULE", "SEPARATORS", "Draft", "unknown"]

SCHEDULE = "schedule"
"""The name of what stands first: the cron expression."""

SEPARATORS = {
    "tz": "", "dst": "", "dialect": "", "win": ",", "dist": ",", "seed": ",", "policy": ",",
    "only": ";", "avoid": ";",
}  # fmt: skip
"""What stands between the parts of a modifier; nothing when it has one."""

MODIFIERS = tuple(SEPARATORS)
FIELDS = (
    "name", "command", "shell", "user", "group", "cwd", "umask", "timeout", "grace", "stdout",
    "stderr", "env", "mail", "webhook", "ping", "notify", "description",
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Draft:
    """One job, as it was written."""

    start: Piece
    """Where the job begins."""
    before: int
    """How many problems had been found when it began."""
    last_line: int
    indent: int
    """How many blanks stand before it; in YAML, before the hyphen."""
    sigil: str
    """What modifiers begin with: `@` in a line, nothing in YAML."""
    pieces: dict[str, tuple[Piece, ...]] = field(default_factory=dict)
    """Modifiers in parts, `env` as often as it stands there, everything else as one piece."""
    whole: bool = True
    """Whether the end of it was found, so that what is missing is missing."""

    def first(self, name: str) -> Piece | None:
        found = self.pieces.get(name, ())
        return found[0] if found else None

    def label(self, name: str) -> str:
        """What the author calls it."""
        return f"{self.sigil}{name}" if name in SEPARATORS else name

    def put(self, name: str, piece: Piece, parts: Sequence[Piece], problems: Problems) -> None:
        """Add what was written under a name; only `env` may be written again."""
        if name == "env":
            parts = (*self.pieces.get(name, ()), *parts)
        elif name in self.pieces:
            hint = "join the clauses with ;" if SEPARATORS.get(name) == ";" else "write it once"
            problems.error(piece, self.label(name), "stands here for the second time", hint=hint)
            return
        self.pieces[name] = tuple(parts)


def unknown(name: str, *, sigil: str = "", among: Sequence[str]) -> str:
    """What to write instead of a name that is not known."""
    close = get_close_matches(name[:64].lower(), among, n=1)
    if close:
        return f"did you mean {sigil}{close[0]}?"
    return f"write one of {', '.join(sigil + one for one in among)}"
