"""
The protocol of the operator holds in every state of a small cluster; without any part it does not.

The larger searches are made by `python -m tests.prove protocol`.
"""

import pytest

from tests.clauses import clause
from tests.protocol.cluster import Bounds
from tests.protocol.exploration import explore
from tests.protocol.operators import Protocol
from tests.protocol.searches import BROKEN, SMALL, Wrong


@clause("OPROTO-1")
@pytest.mark.parametrize("bounds", SMALL, ids=str)
def test_the_protocol_breaks_no_clause_in_any_state(bounds: Bounds) -> None:
    found = explore(Protocol(), bounds)

    assert found.broken == ""
    assert found.is_whole
    assert found.states > 1_000


@clause("OPROTO-2")
@pytest.mark.parametrize("wrong", BROKEN, ids=lambda wrong: wrong.name.replace(" ", "-"))
def test_a_protocol_that_lacks_a_part_breaks_its_clause(wrong: Wrong) -> None:
    found = explore(wrong.protocol, wrong.bounds, wanted=wrong.clause)

    assert found.broken == wrong.clause
    assert found.path


@clause("OPROTO-2")
def test_a_broken_clause_is_told_with_the_shortest_way_to_it() -> None:
    name_alone = next(wrong for wrong in BROKEN if wrong.name == "the name alone")

    found = explore(name_alone.protocol, name_alone.bounds)

    assert found.broken == name_alone.clause
    assert [found.path[0], *found.path[2:]] == [
        "A sees the KronJob", "people delete Job 1", "a lone operator goes on",
    ]  # fmt: skip
    assert "make 0" in found.path[1]
