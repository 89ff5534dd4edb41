"""A ledger belongs to one door."""

import pytest

from gnomon.errors import StoreError
from gnomon.shell.store.belonging import BELONGS_TO, Door, NotedLedger, belong
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.contract.ledger_desk import Desk

RUN, SERVICE, KROND = Door.RUN, Door.SERVICE, Door.KROND


def noted(desk: Desk) -> NotedLedger:
    ledger = desk.ledger
    assert isinstance(ledger, SqliteLedger | PostgresLedger)
    return ledger


def refusal(desk: Desk, door: Door) -> str | None:
    """What a door is told; None when it may come in."""
    call = belong(noted(desk), door, place="books", otherwise=", and not to you", hint="go")
    try:
        desk.do(call)
    except StoreError as error:
        return str(error)
    return None


@clause("CLI-41")
@pytest.mark.parametrize(("door", "other"), [(RUN, SERVICE), (SERVICE, KROND), (KROND, RUN)])
def test_an_empty_ledger_belongs_to_the_first_door_from_then_on(
    desk: Desk, door: Door, other: Door
) -> None:
    assert refusal(desk, door) is None
    assert refusal(desk, door) is None

    told = refusal(desk, other)
    words = {RUN: "gnomon run", SERVICE: "the service (gnomon up, api, worker)", KROND: "krond"}
    assert told == f"books: belongs to {words[door]}, and not to you; go"
    assert desk.do(noted(desk).note(BELONGS_TO)) == door


@clause("CLI-41")
def test_a_door_that_is_not_known_here_is_a_stranger_too(desk: Desk) -> None:
    desk.do(noted(desk).note_once(BELONGS_TO, "a later door"))

    assert refusal(desk, RUN) == "books: belongs to a later door, and not to you; go"
