"""Two doors come to an empty ledger at once, and one of them has it."""

import asyncio

import pytest

from gnomon.errors import StoreError
from gnomon.shell.store.belonging import BELONGS_TO, Door, belong
from tests.clauses import clause
from tests.shell.store.postgres.fleet import Fleet, play


async def come(fleet: Fleet, door: Door) -> None:
    ledger = await fleet.open()
    await belong(ledger, door, place="books", otherwise="", hint="")


@clause("CLI-41")
@pytest.mark.parametrize("door", Door)
def test_who_comes_while_another_writes_its_note_waits_and_is_refused(
    common_database: str, schema: str, door: Door
) -> None:
    async def scenario(fleet: Fleet) -> str:
        await fleet.open()
        first = await fleet.beside()
        transaction = first.transaction()
        await transaction.start()
        await first.execute("INSERT INTO ledger_meta VALUES ($1, 'the first')", BELONGS_TO)
        second = asyncio.create_task(come(fleet, door))
        await fleet.waits_for_a_lock(second)
        assert not second.done()
        await transaction.commit()
        with pytest.raises(StoreError) as refused:
            await second
        return str(refused.value)

    assert play(common_database, schema, scenario) == "books: belongs to the first"


@clause("CLI-41")
def test_of_many_that_come_at_once_those_of_one_door_are_let_in(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> set[Door]:
        doors = [*Door, *Door]
        calls = [come(fleet, door) for door in doors]
        told = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(one) for one in told} == {type(None), StoreError}
        return {door for door, one in zip(doors, told, strict=True) if one is None}

    assert len(play(common_database, schema, scenario)) == 1
