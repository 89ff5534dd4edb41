"""
The exceptions that every part of Gnomon raises, sorted by who must act.

`DefinitionError` is for the author of a schedule: something that was written cannot be meant.
It says where, what was got, why that is wrong, and what to write instead.
`StoreError` is for the operator of the machine, `IncompatibleStateError` for who upgrades it.
`NotFoundError` and `ConflictError` are for the caller of a service: what was asked about is not
there, or something that is there stands against it; nothing was changed.
Expected results are values, never exceptions: no occurrence is `None`, a period for which no
instant is allowed is an `Unschedulable`.

Each class has a stable `code`; the reference page for errors has one heading per code.

Spec: ERR-1 to ERR-5, CLI-61.
"""

import re
from datetime import datetime
from typing import ClassVar

__all__ = [
    "ConflictError",
    "DamagedStoreError",
    "DefinitionError",
    "FieldParseError",
    "GnomonError",
    "IncompatibleStateError",
    "InvalidCronExpressionError",
    "KrontabError",
    "LocatedError",
    "MissingExtraError",
    "NotFoundError",
    "StoreError",
    "StoreGoneError",
    "StoreHeldError",
    "harmless",
    "printable",
    "shown",
]

_GOT_MAX = 80
_TEXT_MAX = 200
_COMMANDS = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
    r"|\r(?!\n)|[\ud800-\udfff]"
)


class GnomonError(Exception):
    """The root of all of Gnomon's exceptions."""

    code: ClassVar[str] = "gnomon"

    def __reduce__(self) -> tuple[object, ...]:
        # An error is copied and sent between processes as it is, not made again from arguments.
        return _restore, (type(self), self.args, self.__dict__)


class DefinitionError(GnomonError, ValueError):
    """
    What the author wrote cannot be meant.

    `where` names the parameter or field, `got` is the offending value, `reason` says what is
    wrong with it, and `hint` what to write instead. `str()` is one line that holds all four, and
    each of them once: what a reason tells was got is not told again.
    """

    code: ClassVar[str] = "definition"

    def __init__(self, reason: str, *, where: str, got: object, hint: str = "") -> None:
        self.reason = reason
        self.where = where
        self.got = got
        self.hint = hint
        super().__init__(self._line())

    def _line(self) -> str:
        line = f"{printable(self.where)}: {self.reason}"
        if ", got " not in self.reason:
            line += f", got {shown(self.got)}"
        return f"{line}; {self.hint}" if self.hint else line


class FieldParseError(DefinitionError):
    """One field of a cron expression is wrong; the cause of an `InvalidCronExpressionError`."""

    code: ClassVar[str] = "cron-field"

    def __init__(
        self, reason: str, *, field_name: str, field_value: str, offset: int, hint: str
    ) -> None:
        self.offset = offset
        self.details = {"fieldValue": field_value, "fieldName": field_name}
        super().__init__(reason, where=field_name, got=field_value, hint=hint)


class InvalidCronExpressionError(DefinitionError):
    """
    A cron expression is wrong.

    The message is `Invalid cron expression "<expr>": <field> field <reason>`; `position` is the
    offset of the offending character in the text. The hint stands in `hint` and, in a traceback,
    in a note below the message.
    """

    code: ClassVar[str] = "cron-expression"

    def __init__(
        self, expression: str, *, field: str, reason: str, position: int, hint: str
    ) -> None:
        self.expression = expression
        self.field = field
        self.position = position
        self.details = {"expression": expression, "field": field, "reason": reason}
        super().__init__(reason, where=field, got=expression, hint=hint)
        if hint:
            self.add_note(f"hint: {hint} (position {position})")

    def _line(self) -> str:
        text = printable(self.expression)
        return f'Invalid cron expression "{text}": {self.field} field {self.reason}'


class MissingExtraError(GnomonError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    code: ClassVar[str] = "missing-extra"

    def __init__(self, feature: str, *, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f'{feature} needs an extra; install it with: pip install "gnomon[{extra}]"'
        )


class StoreError(GnomonError):
    """
    A store cannot do its work; the operator must act, or wait.

    `where` names the file or the database, `reason` says what is wrong, `hint` what to do, and
    `transient` whether the same call may succeed later without anybody doing anything here. What
    was not committed has not happened.
    """

    code: ClassVar[str] = "store"
    lasts: ClassVar[bool] = False
    """Whether no later call can succeed, so that a process that uses the store has to end."""

    def __init__(self, reason: str, *, where: str, hint: str = "", transient: bool = False) -> None:
        self.reason = reason
        self.where = where
        self.hint = hint
        self.transient = transient
        super().__init__(_located(where, reason, hint))


class DamagedStoreError(StoreError):
    """What is stored cannot be read any more; it is left as it is."""

    code: ClassVar[str] = "store-damaged"
    lasts: ClassVar[bool] = True


class StoreGoneError(StoreError):
    """A file of a store was removed or replaced under the process that used it."""

    code: ClassVar[str] = "store-gone"
    lasts: ClassVar[bool] = True


class StoreHeldError(StoreError):
    """Another process owns the store; `holder` says which, and ownership ends with it."""

    code: ClassVar[str] = "store-held"

    def __init__(
        self, holder: str, *, where: str, hint: str = "stop that process, or use another file"
    ) -> None:
        self.holder = holder
        super().__init__(f"is held by {holder}", where=where, transient=True, hint=hint)


class IncompatibleStateError(GnomonError):
    """What is stored was written by a version of Gnomon that knows more than this one."""

    code: ClassVar[str] = "incompatible-state"

    def __init__(self, reason: str, *, where: str, hint: str = "") -> None:
        self.reason = reason
        self.where = where
        self.hint = hint
        super().__init__(_located(where, reason, hint))


def _restore(
    kind: type[GnomonError], args: tuple[object, ...], state: dict[str, object]
) -> GnomonError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


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


class NotFoundError(GnomonError, LookupError):
    """
    There is nothing of that name for this caller.

    What belongs to another tenant is not there either.
    """

    code: ClassVar[str] = "not-found"

    def __init__(self, *, where: str, got: str) -> None:
        self.where = where
        self.got = got
        self.reason = "is not known"
        self.hint = "check the name, and whose it is"
        super().__init__(f"{where}: is not known, got {shown(got)}")


class ConflictError(GnomonError):
    """What was asked for goes against what is there; ask again when that has changed."""

    code: ClassVar[str] = "conflict"

    def __init__(self, reason: str, *, where: str, got: object, hint: str = "") -> None:
        self.reason = reason
        self.where = where
        self.got = got
        self.hint = hint
        line = f"{where}: {reason}, got {shown(got)}"
        super().__init__(f"{line}; {hint}" if hint else line)


class LocatedError(Exception):
    """A definition that is wrong at a place in a file."""

    def __init__(self, error: DefinitionError, *, place: str, subject: str = "") -> None:
        self.error = error
        self.place = place
        self.subject = subject
        """What the place has named already, so that the error need not."""
        super().__init__(f"{place}: {error}")


def printable(text: str) -> str:
    """`text` as one line that any terminal can take, cut to a bearable length."""
    if len(text) > _TEXT_MAX:
        text = f"{text[: _TEXT_MAX - 1]}…"
    return text if text.isprintable() else "".join(map(_escaped, text))


def harmless(text: str) -> str:
    """
    `text` in as many lines as it has, with all that commands a terminal written as an escape.

    A terminal obeys escape sequences, returns to the beginning of a line, and marks that turn the
    direction of writing. Line feeds, tabs and the letters of every language stay.
    """
    return _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], text)


def _escaped(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def shown(value: object) -> str:
    """`value` as it appears in a message: an instant as text, else its repr; never too long."""
    try:
        text = repr(value.isoformat() if isinstance(value, datetime) else value)
    except Exception:  # a number with too many digits, or a repr that is itself wrong
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= _GOT_MAX else f"{text[: _GOT_MAX - 1]}…"


def _located(where: str, reason: str, hint: str) -> str:
    return f"{where}: {reason}; {hint}" if hint else f"{where}: {reason}"
