"""Addresses of PostgreSQL databases: which can be meant, and how they are shown."""

import asyncio

import pytest

from gnomon.errors import DefinitionError
from gnomon.shell.store.postgres.fault import check_address, place_of
from gnomon.shell.store.postgres.ledger import PostgresLedger
from tests.clauses import clause


@clause("PG-11")
@pytest.mark.parametrize(
    "url",
    [
        "",
        "books",
        "mysql://anna@host/books",
        "postgresql://host:port/books",
        "//host/x",
        "postgresql://host:65536/books",
    ],
)
def test_an_address_that_cannot_be_meant_is_refused(url: str) -> None:
    with pytest.raises(DefinitionError, match="database: ") as raised:
        asyncio.run(PostgresLedger.open(url))

    assert raised.value.hint == "write e.g. postgresql://user@host:5432/database"


@clause("PG-11")
def test_a_kind_of_server_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(DefinitionError) as raised:
        check_address("postgresql://one,two/books?target_session_attrs=primry")

    assert raised.value.reason == (
        "must have one of any, prefer-standby, primary, read-only, read-write, standby"
        " for target_session_attrs"
    )


@clause("PG-9")
@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://anna:ab#se/cret@host/books", "postgresql://anna@host/books"),
        ("postgresql://anna:12/secret@host/books", "postgresql://anna@host/books"),
        ("postgresql://anna:12?secret@host/books", "postgresql://anna@host/books"),
        ("postgresql://anna:p@secret@host/books", "postgresql://anna@host/books"),
    ],
)
def test_a_password_that_must_be_escaped_is_refused_and_not_shown(url: str, shown: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        asyncio.run(PostgresLedger.open(url))

    assert str(raised.value) == (
        f"database: has a sign in its user or password that must be escaped, got '{shown}'; "
        "write @ as %40, / as %2F, ? as %3F and # as %23, "
        "or leave the password out and set PGPASSWORD"
    )


@clause("PG-9")
@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://anna:se cret@host:port/books", "postgresql://anna@host:port/books"),
        ("postgresql://anna:secret@[::1/books", "postgresql://anna@[::1/books"),
        ("postgresql://host/books?user", "postgresql://host/books?user"),
        ("postgresql://host/b?port=x&password=se cret", "postgresql://host/b?port=x&password=***"),
        ("host=h password='se cret' user=anna", "host=h password=*** user=anna"),
    ],
)
def test_an_address_that_cannot_be_read_is_shown_without_its_password(url: str, shown: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        asyncio.run(PostgresLedger.open(url))

    assert raised.value.got == shown
    assert "cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://anna:se cret@one:5432,[::1]:5433/b", "postgresql://anna@one:5432,[::1]:5433/b"),
        ("postgresql://anna@/b?host=/run/a@b", "postgresql://anna@/b?host=/run/a@b"),
        ("postgres://host:5432/b?user=a@b&password=se cret", "postgres://host:5432/b?user=a@b&password=***"),
    ],
)  # fmt: skip
def test_an_address_is_shown_as_it_is_but_for_its_password(url: str, shown: str) -> None:
    check_address(url)

    assert place_of(url) == shown
