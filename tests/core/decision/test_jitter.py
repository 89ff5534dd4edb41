"""Jitter: the same mechanism, in milliseconds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.decision.jitter import JITTER_MAX_MS, jitter_ms
from gnomon.errors import DefinitionError
from tests.clauses import clause
from tests.oracle import decision_reference


@clause("SEED-8")
@given(st.text(alphabet="abc/:-0123456789é", max_size=40), st.integers(0, JITTER_MAX_MS))
def test_jitter_is_the_draw_that_the_key_seeds(key: str, jitter: int) -> None:
    shift = jitter_ms(key, jitter)
    assert -jitter <= shift <= jitter
    assert shift == decision_reference.jitter(key, jitter)


@clause("SEED-8")
def test_every_shift_either_way_occurs() -> None:
    shifts = {jitter_ms(f"report:{number}", 3) for number in range(200)}
    assert shifts == {-3, -2, -1, 0, 1, 2, 3}


@clause("SEED-8")
def test_no_jitter_is_no_shift() -> None:
    assert jitter_ms("report:1772323200", 0) == 0


@clause("SEED-8")
@pytest.mark.parametrize("jitter", [-1, JITTER_MAX_MS + 1, 1.5, True, "5"])
def test_a_jitter_that_cannot_be_meant_is_refused(jitter: int) -> None:
    with pytest.raises(DefinitionError, match="whole number of milliseconds from 0 to one day"):
        jitter_ms("report", jitter)


@clause("SEED-8")
def test_a_key_that_cannot_be_hashed_is_refused() -> None:
    with pytest.raises(DefinitionError, match="jitter key: must be text"):
        jitter_ms("\ud800", 5)
