"""Matches in local time, before zones come into it."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.cron.dialect import STANDARD
from gnomon.core.cron.local import LocalMatches
from gnomon.core.cron.parse import parse
from tests.clauses import clause

TEXTS = ["* * * * *", "30 2 * * *", "0 0 * * 1", "59 23 L * *", "*/20 5 4 * * *"]


@clause("REC-1", "REC-2")
@given(st.sampled_from(TEXTS), st.integers(0, 4_000_000_000), st.integers(0, 400_000))
def test_a_stretch_has_a_match_when_the_neighbours_of_its_ends_say_so(
    text: str, start: int, length: int
) -> None:
    matches = LocalMatches(parse(text, STANDARD))
    latest = matches.at_or_before(start + length - 1) if length else None

    assert matches.has_any(start, start + length) == (latest is not None and latest >= start)


@clause("REC-3")
@given(st.sampled_from(TEXTS), st.integers(0, 4_000_000_000), st.integers(0, 400_000))
def test_chunks_hold_what_stepping_finds(text: str, start: int, length: int) -> None:
    matches = LocalMatches(parse(text, STANDARD))
    stepped, found = [], matches.after(start - 1)
    while found is not None and found < start + length:
        stepped.append(found - 7)
        found = matches.after(found)

    chunks = matches.chunks(start, start + length, offset=7, blocks=matches.blocks())

    assert [match for chunk in chunks for match in chunk] == stepped
