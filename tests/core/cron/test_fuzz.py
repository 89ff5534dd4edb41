"""
Texts that no person would write.

A sample; the million is run by `make prove`. Every text is either read as the plain reading reads
it or rejected with a `DefinitionError`, in a number of steps that its length bounds.
"""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gnomon import cron
from gnomon.errors import DefinitionError
from tests.clauses import clause
from tests.oracle.fuzz_cases import HOSTILE, complaint, steps_max, steps_of, texts
from tests.oracle.random_cases import SEED

_DIALECTS = st.sampled_from(["posix", "standard", "vixie"])


@clause("CRON-13")
@pytest.mark.parametrize("chunk", range(4))
def test_a_mangled_text_is_read_as_the_plain_reading_reads_it_or_rejected(chunk: int) -> None:
    complaints = [
        (found, dialect, text)
        for text, dialect in texts(SEED, chunk, 1_500)
        if (found := complaint(text, dialect))
    ]

    assert complaints == []


@clause("CRON-13")
@given(text=st.text(max_size=1_100), dialect=_DIALECTS)
@example(text="\u0660 0 * * *", dialect="posix")
@example(text="0 0\u00a0* * *", dialect="standard")
def test_any_text_is_accepted_or_rejected_and_never_breaks_the_parser(
    text: str, dialect: str
) -> None:
    assert complaint(text, dialect) is None


@clause("CRON-14")
@pytest.mark.parametrize("dialect", ["posix", "standard", "vixie"])
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_a_hostile_text_takes_steps_in_proportion_to_its_length(text: str, dialect: str) -> None:
    assert steps_of(text, dialect) <= steps_max(text)


@clause("CRON-14")
@pytest.mark.parametrize(
    "unit", ["0,", "0-59,", "*/7,", "59-0,", "x,", ",", "-", "/", "L", "0-59/1,"]
)
def test_twice_the_text_takes_no_more_than_twice_the_steps(unit: str) -> None:
    half = steps_of(unit * (500 // len(unit)) + "0 * * * *", "standard")
    whole = steps_of(unit * (1_000 // len(unit)) + "0 * * * *", "standard")

    assert whole <= 2 * half + 500


@clause("CRON-14")
@pytest.mark.parametrize("dialect", ["posix", "standard", "vixie"])
@pytest.mark.parametrize("unit", ["*", "0,", "0-59,", " ", "1W,", "é"])
def test_a_text_beyond_the_limit_is_rejected_without_being_read(unit: str, dialect: str) -> None:
    assert steps_of(unit * 100_000, dialect) <= 500


@clause("CRON-14")
@pytest.mark.parametrize("dialect", ["posix", "standard", "vixie"])
def test_a_text_beyond_the_limit_is_rejected(dialect: str) -> None:
    with pytest.raises(DefinitionError, match="1024"):
        cron("* * * * *" + " " * 1_016, dialect=dialect)
