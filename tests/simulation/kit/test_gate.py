"""A port behind a gate: which calls it has, its protocol says."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import pytest

from gnomon.simulation.kit.gate import behind
from tests.clauses import clause

_T = TypeVar("_T")


class Shop(Protocol):
    """A port with two calls."""

    @property
    def name(self) -> str: ...

    async def price(self, item: str, *, pieces: int = 1) -> int: ...

    async def close(self) -> None: ...


class Corner:
    """A shop that knows one price, and a way to it that writes down who comes."""

    name = "corner"

    def __init__(self) -> None:
        self.came: list[str] = []
        self.is_open = True

    async def price(self, item: str, *, pieces: int = 1) -> int:
        return len(item) * pieces

    async def close(self) -> None:
        self.is_open = False

    async def passage(self, name: str, act: Callable[[], Awaitable[_T]]) -> _T:
        self.came.append(name)
        return await act()


class Open:
    """Calls that stand in the place of a shop's."""

    async def close(self) -> None:
        """It stays open."""


@clause("SIM-2")
def test_each_call_of_the_protocol_takes_the_passage() -> None:
    corner = Corner()
    shop: Shop = behind(corner.passage, Shop, corner)

    assert asyncio.run(shop.price("plum", pieces=3)) == 12
    asyncio.run(shop.close())
    assert corner.came == ["price", "close"]
    assert not corner.is_open
    assert shop.name == "corner"


@clause("SIM-2")
def test_a_call_of_ones_own_stands_in_the_place_of_the_protocol() -> None:
    corner = Corner()
    shop: Shop = behind(corner.passage, Shop, corner, own=Open())

    asyncio.run(shop.close())

    assert corner.came == []
    assert corner.is_open


@clause("SIM-2")
def test_what_the_protocol_does_not_have_is_not_there() -> None:
    corner = Corner()
    shop = behind(corner.passage, Shop, corner)

    with pytest.raises(AttributeError):
        shop.passage  # noqa: B018
