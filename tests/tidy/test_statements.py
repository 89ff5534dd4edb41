"""
A store is written once: do both databases have its statements, with the same values?

That they have the same columns is checked whenever a row is read: the fields of its named tuple are
those columns, and the contract suites read rows of both databases.
"""

import re

import pytest

from gnomon.shell.store.postgres.statement import Statements
from gnomon.shell.store.queries import named
from gnomon.shell.store.transaction import NAMED_VALUE

ON_ONE_DATABASE = {
    "journal.sql": {"get_meta", "set_meta", "take_lock", "holder", "who_am_i", "end_former"},
}
"""Of files that are written once: what no method of the store uses, but the connection itself."""

FILES = ["journal.sql", "ledger.sql"]
NUMBERED = re.compile(r"\$\d")


def plain(text: str) -> str:
    """A statement without its comments."""
    return re.sub(r"--.*", "", text)


def values_of(text: str) -> set[str]:
    return set(NAMED_VALUE.findall(plain(text)))


@pytest.mark.parametrize("file", sorted(ON_ONE_DATABASE))
def test_both_databases_have_the_same_statements(file: str) -> None:
    both = set(named(file)), set(Statements(file=file).names) - ON_ONE_DATABASE[file]

    assert both[0] == both[1]


@pytest.mark.parametrize("file", FILES)
def test_a_statement_has_the_same_values_on_both_databases(file: str) -> None:
    sqlite, postgres = named(file), Statements(file=file)
    of_sqlite = {name: values_of(text) for name, text in sqlite.items()}
    of_postgres = {
        name: set(postgres.values_of(name)) for name in postgres.names if postgres.values_of(name)
    }

    assert {name: of_sqlite.get(name) for name in of_postgres} == of_postgres
    assert of_postgres


@pytest.mark.parametrize("file", FILES)
def test_no_statement_mixes_names_and_numbers(file: str) -> None:
    texts = named(file, "gnomon.shell.store.postgres")

    mixed = [
        name for name, text in texts.items() if NUMBERED.search(plain(text)) and values_of(text)
    ]
    assert mixed == []
