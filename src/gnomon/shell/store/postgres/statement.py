"""
The statements of a store on PostgreSQL, for one schema of the database.

The files name the schema `gnomon`, so that they can be read, run and explained as they stand;
for another schema that name is replaced. `LEASE_NOW` is written out here, and nowhere else. The
server knows values by number: those that a statement names are numbered as their names come up.
"""

import re
from functools import cache
from hashlib import sha256

from gnomon.errors import DefinitionError
from gnomon.shell.store import queries
from gnomon.shell.store.transaction import NAMED_VALUE

__all__ = ["SCHEMA", "Statements", "channel_name", "check_schema", "migrations", "placed_in"]

SCHEMA = "gnomon"

_PACKAGE = "gnomon.shell.store.postgres"
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_CHANNEL_MAX, _DIGITS = 63, 12  # a longer name is none
_QUALIFIER = re.compile(r"\bgnomon\.")
_LEASE_NOW = re.compile(r"LEASE_NOW\((\$\d+)\)")
# With IF NOT EXISTS the right to make schemas is needed also where there is nothing to make.
_CREATE = """
DO $$ BEGIN
  IF to_regnamespace('{0}') IS NULL THEN CREATE SCHEMA {0}; END IF;
END $$;
"""
_KEYWORDS = """
all analyse analyze and any array as asc asymmetric authorization binary both case cast check
collate collation column concurrently constraint create cross current_catalog current_date
current_role current_schema current_time current_timestamp current_user default deferrable desc
distinct do else end except false fetch for foreign freeze from full grant group having ilike in
initially inner intersect into is isnull join lateral leading left like limit localtime
localtimestamp natural not notnull null offset on only or order outer overlaps placing primary
references returning right select session_user similar some symmetric system_user table
tablesample then to trailing true union unique user using variadic verbose when where window
with
"""
"""The words that PostgreSQL takes for names only in quotes, as `pg_get_keywords` has them."""
_WRITTEN_OUT = r"coalesce(\1::timestamptz, date_trunc('milliseconds', now()))"


def check_schema(name: str) -> None:
    """A name that a schema can have without quotes, or a `DefinitionError`."""
    if not _NAME.fullmatch(name):
        raise DefinitionError(
            "must be a plain name of at most 63 small letters, digits and underscores",
            where="schema", got=name, hint=f"write e.g. {SCHEMA}",
        )  # fmt: skip
    if name in _KEYWORDS.split() or name.startswith("pg_"):
        raise DefinitionError(
            "must be no word that PostgreSQL keeps for itself", where="schema", got=name,
            hint=f"write e.g. {SCHEMA}",
        )  # fmt: skip


def channel_name(text: str) -> str:
    """A name that a channel can have: this one, or where it is too long one that no other gives."""
    if len(text) <= _CHANNEL_MAX:
        return text
    digits = sha256(text.encode()).hexdigest()[:_DIGITS]
    return f"{text[: _CHANNEL_MAX - _DIGITS]}{digits}"


def placed_in(place: str, schema: str) -> str:
    """How a schema of a database is named in messages; the usual one is not."""
    return place if schema == SCHEMA else f"{place}, schema {schema}"


class Statements:
    """The statements by name, for one schema."""

    def __init__(self, schema: str = SCHEMA, file: str = "ledger.sql") -> None:
        check_schema(schema)
        self.schema = schema
        self.channel = channel_name(f"gnomon_{schema}")
        self._texts: dict[str, str] = {}
        self._values: dict[str, tuple[str, ...]] = {}
        for name, text in queries.named(file, _PACKAGE).items():
            numbered, self._values[name] = _numbered(_placed(text, schema))
            self._texts[name] = _LEASE_NOW.sub(_WRITTEN_OUT, numbered)

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, in the order of their file."""
        return tuple(self._texts)

    def __getitem__(self, name: str) -> str:
        return self._texts[name]

    def values_of(self, name: str) -> tuple[str, ...]:
        """The names of the values of a statement, in the order of their numbers."""
        return self._values[name]


@cache
def migrations(schema: str, family: str = "ledger") -> tuple[str, ...]:
    """The scripts that make the tables of a kind of store, in order."""
    first, *rest = queries.migrations(family, _PACKAGE)
    return (
        _CREATE.format(schema) + _placed(first, schema),
        *(_placed(script, schema) for script in rest),
    )


def _placed(text: str, schema: str) -> str:
    return _QUALIFIER.sub(f"{schema}.", text)


def _numbered(text: str) -> tuple[str, tuple[str, ...]]:
    """A statement with `$1` for the name that comes up first, and so on; and these names."""
    names = tuple(dict.fromkeys(NAMED_VALUE.findall(text)))
    return NAMED_VALUE.sub(lambda found: f"${names.index(found[1]) + 1}", text), names
