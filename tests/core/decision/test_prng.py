"""The stream: SplitMix64, bit by bit."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.decision.prng import SplitMix64, state_of
from tests.clauses import clause


@clause("SEED-6")
def test_the_stream_is_the_published_splitmix64() -> None:
    # The first words after seed 1234567, as the generator's author and others print them.
    stream = SplitMix64(1234567)
    assert [stream.next_word() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@clause("SEED-6")
def test_the_state_is_the_first_eight_bytes_read_from_the_left() -> None:
    digest = bytes.fromhex("4279dd7a284efb4a") + bytes(24)
    assert state_of(digest) == 0x4279DD7A284EFB4A


@clause("SEED-7")
def test_a_unit_is_the_top_53_bits_of_a_word() -> None:
    assert SplitMix64(1234567).next_unit() == (6457827717110365317 >> 11) / 2**53


@clause("SEED-7")
@given(st.integers(0, 2**64 - 1))
def test_a_unit_is_at_least_zero_and_below_one(state: int) -> None:
    assert 0.0 <= SplitMix64(state).next_unit() < 1.0
