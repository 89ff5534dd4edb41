"""
Which tasks does this file register? TOML, or Python that makes a list of registrations.

A TOML file has a table for each task: `[[task]]` with `name`, `cron` and, if wanted, `retry_delay`.
A Python file is run, as the program would run it when imported, and its lists of registrations are
taken: what `gnomon.collect()` made, or a list of tuples. Its callbacks are not called.

Spec: SIMULATE-3.
"""

import runpy
import sys
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from gnomon.apps.declarative.registration import read_registrations
from gnomon.core.civil.duration import parse_duration
from gnomon.errors import DefinitionError
from gnomon.simulation.declarative.outage import Planned

__all__ = ["load_tasks"]

RETRY_DELAY = timedelta(minutes=1)
_KEYS = {"name", "cron", "retry_delay"}
_HINT = 'write [[task]], name = "backup", cron = "0 3 * * *", retry_delay = "5m"'


def load_tasks(path: Path, *, zone: str) -> list[Planned]:
    """The tasks of a file; an error names the first that is wrong."""
    found = _python(path) if path.suffix == ".py" else _toml(path.read_bytes())
    if not found:
        raise DefinitionError("must register at least one task", where="file", got="", hint=_HINT)
    read_registrations([(*one[:2], _nothing, one.retry_delay) for one in found], zone=zone)
    return found


def _toml(data: bytes) -> list[Planned]:
    try:
        document: Mapping[str, object] = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DefinitionError(f"must be TOML: {error}", where="file", got="", hint=_HINT) from error
    tables = document.get("task")
    if not isinstance(tables, list) or set(document) != {"task"}:
        got = ", ".join(document)
        raise DefinitionError("must have tables [[task]] only", where="file", got=got, hint=_HINT)
    return [_table(number, table) for number, table in enumerate(tables, 1)]


def _table(number: int, table: object) -> Planned:
    where = f"task {number}"
    if not isinstance(table, dict) or not {"name", "cron"} <= set(table) <= _KEYS:
        raise DefinitionError("must have name and cron", where=where, got=table, hint=_HINT)
    for key, value in table.items():
        if not isinstance(value, str):
            raise DefinitionError("must be text", where=f"{where}, {key}", got=value, hint=_HINT)
    delay = table.get("retry_delay")
    length = RETRY_DELAY if delay is None else parse_duration(delay, where=f"{where}, retry_delay")
    return Planned(table["name"], table["cron"], length)


def _python(path: Path) -> list[Planned]:
    sys.path.insert(0, str(path.parent))
    try:
        names = runpy.run_path(str(path), run_name="gnomon_simulated")
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        raise DefinitionError(
            "must run when it is imported", where="file", got=text,
            hint='put what starts the program under if __name__ == "__main__":',
        ) from error  # fmt: skip
    finally:
        sys.path.remove(str(path.parent))
    found: dict[int, list[Planned]] = {}
    for value in names.values():
        if _is_list_of_registrations(value):
            found[id(value)] = [Planned(one[0], one[1], one[3]) for one in value]
    return [one for listed in found.values() for one in listed]


def _is_list_of_registrations(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(
            isinstance(one, list | tuple)
            and len(one) == 4
            and callable(one[2])
            and isinstance(one[3], timedelta)
            for one in value
        )
    )


def _nothing() -> None:
    """Is registered where a callback belongs, and never called."""
