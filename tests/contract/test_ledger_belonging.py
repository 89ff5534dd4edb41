"""A ledger belongs to one door, and one without a note to whoever its schedules are of."""

import pytest

from gnomon.errors import StoreError
from gnomon.shell.store.belonging import BELONGS_TO, FILE_NAME, Door, NotedLedger, belong
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.notes import Notes
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at, minutely

COMMAND: dict[str, object] = {"command": ["true"]}
WORKFLOW: dict[str, object] = {"workflow_id": "w", "version": 1, "user_id": "acme"}
RUN, SERVICE, KROND = Door.RUN, Door.SERVICE, Door.KROND
FORMER = [
    ([], None, {RUN, SERVICE, KROND}, "nobody has used it"),
    ([COMMAND], "run.toml", {RUN}, "a file has run on it"),
    ([], "run.toml", {RUN}, "a file has run on it, and its schedules are gone"),
    ([COMMAND], None, {RUN, KROND}, "commands, and nobody knows of which file"),
    ([WORKFLOW], None, {SERVICE}, "the service has used it"),
    ([WORKFLOW], "run.toml", {SERVICE}, "a file had emptied it, and the service went on"),
    ([COMMAND, WORKFLOW], None, {SERVICE}, "both, and no file would be missing them"),
    ([COMMAND, WORKFLOW], "run.toml", {RUN}, "the service has come to the ledger of a file"),
]


def noted(desk: Desk) -> NotedLedger:
    ledger = desk.ledger
    if isinstance(ledger, PostgresLedger):
        return Notes(ledger.pool, ledger.sql)
    assert isinstance(ledger, SqliteLedger)
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
@pytest.mark.parametrize("door", Door)
@pytest.mark.parametrize(
    ("targets", "file", "welcome"), [row[:3] for row in FORMER], ids=[row[3] for row in FORMER]
)
def test_a_ledger_without_a_note_is_known_by_its_schedules_and_its_file(
    desk: Desk, door: Door, targets: list[dict[str, object]], file: str | None, welcome: set[Door]
) -> None:
    for number, target in enumerate(targets):
        desk.do(desk.ledger.save(minutely(f"s{number}", target=target), now_ms=at("00:00:00")))
    if file is not None:
        desk.do(noted(desk).note_once(FILE_NAME, file))

    assert (refusal(desk, door) is None) == (door in welcome)
    assert desk.do(noted(desk).note(BELONGS_TO)) == (door if door in welcome else None)


@clause("CLI-41")
def test_schedules_that_were_deleted_are_nobodys(desk: Desk) -> None:
    desk.do(desk.ledger.save(minutely("gone", target=WORKFLOW), now_ms=at("00:00:00")))
    desk.do(desk.ledger.delete("gone", now_ms=at("00:00:01")))

    assert refusal(desk, RUN) is None


@clause("CLI-41")
def test_a_door_that_is_not_known_here_is_a_stranger_too(desk: Desk) -> None:
    desk.do(noted(desk).note_once(BELONGS_TO, "a later door"))

    assert refusal(desk, RUN) == "books: belongs to a later door, and not to you; go"
