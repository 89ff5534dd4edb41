"""Traces: what can be read and written, and what is said about what cannot."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import DefinitionError
from gnomon.trace import (
    LINE_MAX,
    Event,
    Header,
    Kind,
    Pulses,
    Registration,
    Reinitialize,
    Witnesses,
    parse_event,
    parse_header,
    parse_trace,
    render_event,
    render_header,
)
from tests.clauses import clause

HEADER = '{"gnomon_trace": 1}'

NAMES = st.text(min_size=1, max_size=8)
CALLS = st.integers(-5, 5) | st.text(max_size=3)
REGISTRATIONS = st.builds(Registration, NAMES, NAMES, st.integers(-1, 10**9))
TASKS = [Kind.RUN_START, Kind.RUN_SUCCESS, Kind.RUN_FAILURE, Kind.RETRY_DUE]
CALLED = [Kind.INIT_SUCCESS, Kind.INIT_FAILURE, Kind.STOP_START, Kind.STOP_END]
SHAPES = st.one_of(
    st.sampled_from([Kind.CRASH, Kind.MINUTE_START]).map(lambda kind: Event(kind, 0)),
    st.tuples(st.sampled_from(TASKS), NAMES).map(lambda one: Event(one[0], 0, one[1])),
    st.tuples(NAMES, st.just("") | NAMES).map(lambda one: Event(Kind.DUE, 0, one[0], cron=one[1])),
    st.tuples(st.sampled_from(CALLED), CALLS).map(lambda one: Event(one[0], 0, call=one[1])),
    st.tuples(CALLS, st.lists(REGISTRATIONS, max_size=3), st.none() | st.booleans()).map(
        lambda one: Event(
            Kind.INIT_START, 0, call=one[0], registrations=tuple(one[1]), valid=one[2]
        )
    ),
    st.integers(1, 10**6).map(lambda n: Event(Kind.COMPUTE, 0, n=n)),
    NAMES.map(lambda fault: Event(Kind.FAULT, 0, fault=fault)),
)
EVENTS = st.builds(
    lambda event, t, wall_ms, same: event._replace(t=t, wall_ms=wall_ms, same=same),
    SHAPES, st.integers(0, 2**53), st.none() | st.integers(0, 7_000_000_000_000), st.booleans(),
)  # fmt: skip


def message(*lines: str) -> str:
    with pytest.raises(DefinitionError) as caught:
        list(parse_trace(lines)[1])
    return str(caught.value)


@clause("TRACE-1", "TRACE-7")
@given(EVENTS)
def test_an_event_that_is_written_and_read_again_is_the_same(event: Event) -> None:
    assert parse_event(render_event(event)) == event


@clause("TRACE-1")
def test_an_event_is_written_with_the_fields_of_its_kind() -> None:
    listed = (Registration("backup", "0 2 * * *", 60_000),)
    events = [
        Event(Kind.INIT_START, 0, call=1, registrations=listed, wall_ms=1_772_323_200_000),
        Event(Kind.RUN_START, 7, "backup", same=True),
        Event(Kind.CRASH, 8),
    ]

    assert [render_event(event) for event in events] == [
        '{"t": 0, "wall": "2026-03-01T00:00:00.000Z", "e": "InitStart", "call": 1, '
        '"registrations": [["backup", "0 2 * * *", 60000]]}',
        '{"t": 7, "e": "RunStart", "task": "backup", "same": true}',
        '{"t": 8, "e": "UnexpectedShutdown"}',
    ]


@clause("TRACE-2")
def test_a_header_that_is_written_and_read_again_is_the_same() -> None:
    header = Header(
        zone="Europe/Riga",
        pulses=Pulses.DERIVED,
        reinitialize=Reinitialize.RECONCILE,
        witnesses=Witnesses(0.5, 100, 1_000),
    )

    assert parse_header(render_header(header)) == header


@clause("TRACE-2")
def test_what_a_header_leaves_out_has_a_default() -> None:
    plain = Header(
        zone="UTC", pulses=Pulses.EXPLICIT, reinitialize=Reinitialize.REJECT, witnesses=None
    )

    assert parse_header(HEADER) == plain
    assert parse_header(render_header(plain)) == plain


@clause("TRACE-2")
@pytest.mark.parametrize(("line", "expected"), [
    ("", "line 1: must be one JSON object"),
    ('{"t": 0, "e": "MinuteStart"}', 'line 1: must be a header with "gnomon_trace": 1'),
    ('{"gnomon_trace": 2}', 'line 1: must be a header with "gnomon_trace": 1, got 2'),
    ('{"gnomon_trace": true}', 'line 1: must be a header with "gnomon_trace": 1, got True'),
    ('{"gnomon_trace": 1, "zone": ""}', 'line 1: "zone" must be the name of a zone'),
    ('{"gnomon_trace": 1, "pulses": "some"}', '"pulses" must be explicit or derived'),
    ('{"gnomon_trace": 1, "pulses": []}', '"pulses" must be explicit or derived'),
    ('{"gnomon_trace": 1, "reinitialize": 1}', '"reinitialize" must be reject or reconcile'),
    ('{"gnomon_trace": 1, "witnesses": {"a": 1, "b": -1, "lag_ms": 0}}', '"witnesses" must have'),
    ('{"gnomon_trace": 1, "witnesses": {"a": NaN, "b": 1, "lag_ms": 0}}', '"witnesses" must have'),
])  # fmt: skip
def test_a_wrong_header_is_refused(line: str, expected: str) -> None:
    assert expected in message(line)


@clause("TRACE-3")
@pytest.mark.parametrize(("line", "expected"), [
    ("not JSON", "line 3: must be one JSON object"),
    ("", "line 3: must be one JSON object"),
    ("[1]", "line 3: must be one JSON object"),
    ('{"t": 0}', 'line 3: "e" must name an event, got None; write one of InitStart, '),
    ('{"t": 0, "e": "Start"}', "line 3: \"e\" must name an event, got 'Start'"),
    ('{"t": 0, "e": ["Due"]}', 'line 3: "e" must name an event'),
    ('{"e": "MinuteStart"}', 'line 3: "t" must be a whole number of milliseconds, got None'),
    ('{"t": -1, "e": "MinuteStart"}', 'line 3: "t" must be a whole number'),
    ('{"t": true, "e": "MinuteStart"}', 'line 3: "t" must be a whole number'),
    ('{"t": 1.5, "e": "MinuteStart"}', 'line 3: "t" must be a whole number'),
    ('{"t": 1, "e": "RunStart"}', 'line 3: RunStart needs "task", the name of a task'),
    ('{"t": 1, "e": "Due", "task": ""}', 'line 3: Due needs "task", the name of a task'),
    ('{"t": 1, "e": "Due", "task": "a", "cron": 5}', 'line 3: "cron" must be a cron text'),
    ('{"t": 1, "e": "StopStart"}', 'line 3: StopStart needs "call", a number or a text'),
    ('{"t": 1, "e": "InitStart", "call": 1}', 'line 3: InitStart needs "registrations", a list'),
    ('{"t": 1, "e": "InitStart", "call": 1, "registrations": [["a", "b"]]}', "[name, cron, retry"),
    ('{"t": 1, "e": "InitStart", "call": 1, "registrations": [], "valid": 1}', '"valid" must be'),
    ('{"t": 1, "e": "Compute", "n": 0}', 'line 3: Compute needs "n", a whole number of units'),
    ('{"t": 1, "e": "Fault"}', 'line 3: Fault needs "kind", a word'),
    ('{"t": 1, "e": "MinuteStart", "wall": "2026-03-01T00:00:00"}', '"wall" must be an instant'),
    ('{"t": 1, "e": "MinuteStart", "wall": 5}', 'line 3: "wall" must be an instant'),
    ('{"t": 1, "e": "MinuteStart", "same": 1}', 'line 3: "same" must be true or false'),
])  # fmt: skip
def test_a_malformed_event_is_refused_with_its_line_and_what_was_expected(
    line: str, expected: str
) -> None:
    assert expected in message(HEADER, '{"t": 0, "e": "MinuteStart"}', line)


@clause("TRACE-4")
def test_time_that_goes_back_is_refused() -> None:
    lines = [HEADER, '{"t": 9, "e": "MinuteStart"}', '{"t": 8, "e": "MinuteStart"}']

    assert 'line 3: "t" must not be less than on the line before, which has 9' in message(*lines)


@clause("TRACE-4")
@pytest.mark.parametrize("lines", [
    ['{"t": 9, "e": "MinuteStart", "same": true}'],
    ['{"t": 9, "e": "MinuteStart"}', '{"t": 10, "e": "MinuteStart", "same": true}'],
])  # fmt: skip
def test_the_same_instant_has_one_time(lines: list[str]) -> None:
    assert '"same" needs a line before it with the same "t"' in message(HEADER, *lines)


@clause("TRACE-5")
def test_a_field_that_is_not_asked_for_is_passed_over() -> None:
    line = '{"t": 3, "e": "RunStart", "task": "a", "run": "r1", "why": {"due": 5}}'

    assert parse_event(line) == Event(Kind.RUN_START, 3, "a")


@clause("TRACE-6")
@given(st.text(max_size=60) | st.dictionaries(st.text(max_size=5), st.integers()).map(json.dumps))
def test_no_text_fails_in_any_other_way(text: str) -> None:
    with suppress(DefinitionError):
        assert isinstance(parse_event(text), Event)


@clause("TRACE-6")
@pytest.mark.parametrize("text", ["[" * 100_000, '{"t": ' + "9" * 5_000 + "}"])
def test_hostile_numbers_and_nests_are_refused(text: str) -> None:
    assert "line 2: must be one JSON object" in message(HEADER, text)


@clause("TRACE-6")
def test_a_line_that_is_too_long_is_refused() -> None:
    class Long(str):
        """Claims its length, so that the test need not fill the memory."""

        __slots__ = ()

        def __len__(self) -> int:
            return LINE_MAX + 1

    assert "line 2: is too long" in message(HEADER, Long("{}"))


@clause("TRACE-7")
def test_an_instant_may_have_any_offset() -> None:
    line = '{"t": 1, "wall": "2026-03-01T02:00:00.5+02:00", "e": "MinuteStart"}'

    assert parse_event(line).wall_ms == 1_772_323_200_500
