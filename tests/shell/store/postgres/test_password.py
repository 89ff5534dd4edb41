"""The password of a database: where it comes from, and what is said when there is none."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from gnomon.errors import StoreError
from gnomon.shell.store.postgres.fault import connecting
from gnomon.shell.store.postgres.ledger import PostgresLedger
from tests.clauses import clause

USUAL = "check the user, the password and pg_hba.conf"
NONE = "no password was given: set PGPASSWORD, or write it to ~/.pgpass"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a password file would be; there is none yet."""
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.delenv("PGSERVICE", raising=False)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
    return tmp_path / "pgpass"


def hint(url: str = "postgresql://anna@host/books") -> str:
    """What is said to do when the server refuses the password."""
    with pytest.raises(StoreError) as raised, connecting(url):
        raise asyncpg.InvalidPasswordError('password authentication failed for user "anna"')
    return raised.value.hint


@clause("PG-9")
def test_who_gave_no_password_is_told_where_to_put_it(file: Path) -> None:
    assert hint() == NONE


@clause("PG-9")
def test_the_file_of_the_home_directory_is_meant_when_none_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGPASSFILE")
    monkeypatch.setenv("HOME", str(file.parent))
    assert hint() == NONE
    (file.parent / ".pgpass").touch(mode=0o644)
    assert hint().startswith(f"{file.parent / '.pgpass'} is not read")


@clause("PG-9")
@pytest.mark.parametrize(
    "url", ["postgresql://anna:secret@host/books", "postgresql://anna@host/books?password=secret"]
)
def test_a_password_of_the_address_that_is_refused_is_to_be_checked(file: Path, url: str) -> None:
    assert hint(url) == USUAL


@clause("PG-9")
@pytest.mark.parametrize("name", ["PGPASSWORD", "PGSERVICE"])
def test_a_password_of_the_environment_that_is_refused_is_to_be_checked(
    file: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "secret")

    assert hint() == USUAL


@clause("PG-9")
def test_a_password_file_is_named_with_what_to_check(file: Path) -> None:
    file.touch(mode=0o600)

    assert hint() == (
        f"no other password was given than {file} has: check that one of its lines is for this "
        "host, port, database and user, and is right"
    )


@clause("PG-9")
def test_a_password_file_that_others_can_read_is_said_not_to_be_read(file: Path) -> None:
    file.touch()
    file.chmod(0o644)

    assert hint() == f"{file} is not read, because others can read it; write chmod 600 {file}"


@clause("PG-9")
def test_a_password_file_that_others_can_read_is_no_warning_of_python(
    file: Path, database: str
) -> None:
    file.touch()
    file.chmod(0o644)

    async def scenario() -> None:
        ledger = await PostgresLedger.open(database)
        await ledger.close()

    asyncio.run(scenario())  # warnings are errors here
