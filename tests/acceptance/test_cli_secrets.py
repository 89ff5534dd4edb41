"""An address that was mistyped is quoted in an error, and its password is not."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gnomon
import gnomon.workflow
from gnomon.errors import GnomonError
from gnomon.errors.discretion import discreet
from tests.acceptance.command_line import gnomon as gnomon_command
from tests.clauses import clause

PASSWORD = "s3cret9"
BEFORE, AFTER = "postgresql://anna:", "@127.0.0.1:1/books"
DOORS = [
    ("doctor",), ("history", "--database"), ("workflow", "status", "--store"),
    ("worker", "--database"), ("schedule", "list", "--url"),
]  # fmt: skip
KNOWN = [
    "postgresql:/anna:s3cret9@127.0.0.1:1/books",
    "postgresql//anna:s3cret9@127.0.0.1:1/books",
    "postgresq://anna:s3cret9@127.0.0.1:1/books",
    "postgres:anna:s3cret9@127.0.0.1:1/books",
    "anna:s3cret9@127.0.0.1:1/books",
    "postgresql://anna:s3cret9 127.0.0.1/books",
    "postgresql://anna:s3cret9/books",
    "postgresql://anna:p@s3cret9@127.0.0.1:1/books",
    " postgresql://anna:s3cret9@127.0.0.1:1/books",
    "POSTGRESQL://anna:s3cret9@127.0.0.1:1/books",
    "postgresql:///books?host=127.0.0.1&port=1&password:s3cret9",
    "host=127.0.0.1 port=1 password=s3cret9",
]


@st.composite
def mistyped(draw: st.DrawFn) -> str:
    """The address with a slip or two before its password or behind it."""
    before, after = BEFORE, AFTER
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.integers(0, len(before) - 3))  # the colon before the password stays
        slip = draw(st.sampled_from(["drop", "double", "swap", "odd"]))
        sign = before[place]
        if slip == "drop":
            before = before[:place] + before[place + 1 :]
        elif slip == "double":
            before = before[:place] + sign * 2 + before[place + 1 :]
        elif slip == "swap":
            before = before[:place] + before[place + 1] + sign + before[place + 2 :]
        else:
            before = before[:place] + draw(st.sampled_from(" ;?#/@:=")) + before[place + 1 :]
    if draw(st.booleans()):
        place = draw(st.integers(1, len(after) - 1))
        after = after[:place] + after[place + 1 :]
    return f"{before}{PASSWORD}{after}"


@clause("CLI-60")
@pytest.mark.parametrize("door", DOORS, ids=" ".join)
@pytest.mark.parametrize("address", KNOWN)
def test_a_mistyped_address_is_refused_without_its_password(
    address: str, door: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    done = gnomon_command(*door, address)

    assert done.code in (1, 2)
    assert PASSWORD not in done.out + done.err
    assert list(tmp_path.iterdir()) == []


@clause("CLI-60")
@settings(max_examples=60, deadline=None)
@given(mistyped(), st.sampled_from(DOORS))
def test_however_an_address_is_mistyped_its_password_is_not_shown(
    address: str, door: tuple[str, ...]
) -> None:
    done = gnomon_command(*door, address)

    assert done.code in (1, 2)
    assert PASSWORD not in done.out + done.err, (door, done.err)


async def schedule(address: str) -> None:
    scheduler = gnomon.Scheduler(address)
    await scheduler.initialize([("nightly", "0 3 * * *", print, timedelta(seconds=1))])


async def host(address: str) -> None:
    async with gnomon.workflow.host(address):
        raise AssertionError("there is no such store")


def said_in_a_program(use: Callable[[str], Awaitable[None]], address: str) -> str:
    """The traceback of a program that names a store, with all that it quotes."""

    async def begin() -> None:
        await use(address)

    with pytest.raises(GnomonError) as caught:
        asyncio.run(begin())
    return "".join(traceback.format_exception(caught.value, limit=0))


@clause("CLI-60")
@pytest.mark.parametrize("use", [schedule, host])
@pytest.mark.parametrize("address", KNOWN)
def test_a_program_that_mistypes_an_address_does_not_say_its_password(
    address: str, use: Callable[[str], Awaitable[None]], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)

    said = said_in_a_program(use, address)

    assert PASSWORD not in said + caplog.text
    assert list(tmp_path.iterdir()) == []


@clause("CLI-60")
@settings(max_examples=40, deadline=None)
@given(mistyped(), st.sampled_from([schedule, host]))
def test_however_a_program_mistypes_an_address_its_password_is_not_said(
    address: str, use: Callable[[str], Awaitable[None]]
) -> None:
    assert PASSWORD not in said_in_a_program(use, address)


@clause("CLI-60")
@pytest.mark.parametrize(
    "text",
    [
        "schedules.toml:3: cron: is no expression",
        "postgresql://anna@host:5432/books: cannot be reached",
        "postgres://host:5432/b?user=a@b: is away",
        "crontab:4:7: MAILTO=ops@example.org is no option",
        "http://127.0.0.1:8080: cannot be reached",
        "at 12:30 by anna@example.org",
    ],
)
def test_what_has_no_password_is_said_as_it_is(text: str) -> None:
    assert discreet(text) == text
