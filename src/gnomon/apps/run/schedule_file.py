"""
A file of schedules, in TOML or YAML, read into values.

The end of its name says which: `.yaml` and `.yml` are YAML (extra `yaml`), everything else is TOML.
Both have a list `schedule` of tables with the same keys. A file is read as a whole or refused with
the file, the schedule and the key that is wrong.

Of YAML only what TOML has too is taken: no aliases, which can make a small file enormous, and no
key twice.

Spec: CLI-14, CLI-15, CLI-17.
"""

import tomllib
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path

from gnomon.apps.run.schedule_table import Entry, Table, read_table
from gnomon.errors import DefinitionError, MissingExtraError
from gnomon.errors.root import LocatedError

__all__ = ["BYTES_MAX", "YAML_BYTES_MAX", "Entry", "load_schedules"]

BYTES_MAX = 16_000_000
"""The largest file that is read."""
YAML_BYTES_MAX = 1_000_000
"""The largest file of YAML, which takes far longer to read."""

_YAML = (".yaml", ".yml")
_TOML_HINT = 'write [[schedule]] and below it name = "..." and cron = "..."'
_YAML_HINT = 'write schedule: and below it - name: "..." and cron: "...", with the quotes'


def load_schedules(path: Path, *, to_run: bool = False) -> list[Entry]:
    """Every schedule of the file, in its order; `to_run` asks for all that running them takes."""
    is_yaml = path.suffix.lower() in _YAML
    bytes_max = YAML_BYTES_MAX if is_yaml else BYTES_MAX
    with path.open("rb") as file:
        data = file.read(bytes_max + 1)
    try:
        if len(data) > bytes_max:
            raise DefinitionError(
                f"must have at most {bytes_max} bytes", where="file", got=len(data), hint="split it"
            )
        tables = _tables(_yaml(data), _YAML_HINT) if is_yaml else _tables(_toml(data), _TOML_HINT)
    except DefinitionError as error:
        raise LocatedError(error, place=str(path)) from error
    return _entries(tables, path, to_run=to_run)


def _entries(tables: list[Table], path: Path, *, to_run: bool) -> list[Entry]:
    entries: dict[str, Entry] = {}
    for number, table in enumerate(tables, 1):
        place = f"{path}: schedule {_label(table, number)}"
        try:
            entry = read_table(table, to_run=to_run)
            if entry.name in entries:
                raise DefinitionError(
                    "must not be used twice", where="name", got=entry.name, hint="write another"
                )
        except DefinitionError as error:
            raise LocatedError(error, place=place, subject="schedule") from error
        entries[entry.name] = entry
    return list(entries.values())


def _toml(data: bytes) -> Mapping[str, object]:
    if data.startswith(BOM_UTF8):
        raise DefinitionError(
            "must be TOML in UTF-8 without a byte order mark", where="file", got=_start(data),
            hint='save it as "UTF-8", not as "UTF-8 with BOM"',
        )  # fmt: skip
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # also text that is not UTF-8, endless numbers
        reason = f"must be TOML in UTF-8 ({error})"
        raise DefinitionError(reason, where="file", got=_start(data), hint=_TOML_HINT) from None


def _yaml(data: bytes) -> Mapping[str, object]:
    try:
        from gnomon.shell.plain_yaml import YAMLError, load
    except ImportError as error:
        raise MissingExtraError("a schedule file in YAML", extra="yaml") from error
    try:
        found = load(data.decode("utf-8"))
    except (YAMLError, ValueError, RecursionError) as error:
        reason = f"must be YAML in UTF-8 ({' '.join(str(error).split())})"
        raise DefinitionError(reason, where="file", got=_start(data), hint=_YAML_HINT) from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise DefinitionError(
            "must be a mapping", where="file", got=type(found).__name__, hint=_YAML_HINT
        )
    return found


def _tables(document: Mapping[str, object], hint: str) -> list[Table]:
    for key in document:
        if key != "schedule":
            raise DefinitionError("is not a known table", where="file", got=key, hint=hint)
    tables = document.get("schedule", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise DefinitionError("must be a list of tables", where="schedule", got=tables, hint=hint)
    if not tables:
        raise DefinitionError("must have at least one schedule", where="file", got=0, hint=hint)
    return tables


def _label(table: Table, number: int) -> str:
    name = table.get("name")
    return f'"{name}"' if isinstance(name, str) and name else f"number {number}"


def _start(data: bytes) -> str:
    return data[:40].decode("utf-8", "replace")
