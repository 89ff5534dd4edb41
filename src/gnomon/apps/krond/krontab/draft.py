"""
Drafts: a job as pieces of text by name, before a reader has asked what they mean.

Both forms of a file, lines and YAML, have the same names: modifiers say when, fields say what. In a
line a modifier is written `@win(after,2h)` and a field `user=backup`. The defaults of a file are a
draft too, and the drafts of jobs take from it what they do not say themselves.

Spec: KRONTAB-6, KRONTAB-48, KRONTAB-49.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from gnomon.apps.krond.krontab.piece import Piece
from gnomon.apps.krond.krontab.problem import Problems

__all__ = [
    "AT_BOOT",
    "DEFAULTS",
    "FIELDS",
    "MODIFIERS",
    "NOT_AT_BOOT",
    "OF_ONE_JOB",
    "SCHEDULE",
    "SEPARATORS",
    "Draft",
    "unknown",
]

SCHEDULE = "schedule"
"""The name of what stands first: the cron expression."""
DEFAULTS = "defaults"
"""The name of what holds for all jobs of a file."""
OF_ONE_JOB = ("name", SCHEDULE, "command", "ping", "description")
"""What no two jobs have in common."""

SEPARATORS = {
    "tz": "", "dst": "", "dialect": "", "win": ",", "dist": ",", "seed": ",", "policy": ",",
    "only": ";", "avoid": ";",
}  # fmt: skip
"""What stands between the parts of a modifier; nothing when it has one."""

MODIFIERS = tuple(SEPARATORS)
AT_BOOT = "@reboot"
"""The schedule of what runs when the machine has been booted."""
NOT_AT_BOOT = ("dst", "dialect", "win", "dist", "seed", "only", "avoid")
"""The modifiers that say something about a time, which a boot has not."""
FIELDS = (
    "name", "command", "shell", "user", "group", "cwd", "umask", "timeout", "grace", "stdout",
    "stderr", "env", "mail", "webhook", "ping", "notify", "description",
)  # fmt: skip
_IN_PARTS = ("env", "policy")
"""What a job takes from the defaults key by key; of everything else it takes the whole."""


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
    is_defaults: bool = False
    """Whether it is no job, and says what holds for all jobs of the file."""

    def first(self, name: str) -> Piece | None:
        found = self.pieces.get(name, ())
        return found[0] if found else None

    @property
    def at_boot(self) -> bool:
        """Whether it runs at boot, and not at times."""
        schedule = self.first(SCHEDULE)
        return schedule is not None and schedule.text.strip().lower() == AT_BOOT

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

    def inherit(self, defaults: Mapping[str, tuple[Piece, ...]]) -> None:
        """Take what it does not say itself, and can have; an empty value takes nothing."""
        at_boot = self.at_boot
        for name, usual in defaults.items():
            if at_boot and name in NOT_AT_BOOT and name not in self.pieces:
                continue
            own = self.pieces.get(name, usual)
            if own and not own[0].text and (name == "env" or len(own) == 1):
                own = own[1:]
            elif name in _IN_PARTS and own is not usual:
                said = set(map(_key, own))
                own = (*(piece for piece in usual if _key(piece) not in said), *own)
            self.pieces[name] = own
            if not own:
                del self.pieces[name]


def _key(piece: Piece) -> str:
    return piece.text.partition("=")[0].strip()


def unknown(name: str, *, sigil: str = "", among: Sequence[str]) -> str:
    """What to write instead of a name that is not known."""
    close = get_close_matches(name[:64].lower(), among, n=1)
    if close:
        return f"did you mean {sigil}{close[0]}?"
    return f"write one of {', '.join(sigil + one for one in among)}"
