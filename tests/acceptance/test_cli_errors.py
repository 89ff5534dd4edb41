"""What the command line says when the input is wrong: one line, a hint, and exit code 1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.acceptance.command_line import gnomon, gnomon_process
from tests.clauses import clause

DECIDE = ["decide", "--identity", "a", "--nominal", "2026-03-01T00:00:00Z"]

WRONG = {
    "zone: must be a zone of the IANA database, got 'Europe/Berln'": (
        ["next", "0 3 * * *", "--zone", "Europe/Berln"], "did you mean Europe/Berlin?"
    ),
    "dialect: must be a known dialect, got 'quartz'": (
        ["next", "0 3 * * *", "--dialect", "quartz"], "write one of posix, standard, vixie"
    ),
    "dialect: must be a known dialect, got ''": (
        ["next", "0 3 * * *", "--dialect", ""], "write one of posix, standard, vixie"
    ),
    "dst: must be a known DST policy, got ''": (
        ["next", "0 3 * * *", "--dst", ""], "write one of strict, vixie, civil"
    ),
    "count: must be a whole number from 1 to 1000, got '0'": (
        ["next", "0 3 * * *", "--count", "0"], "write e.g. 10"
    ),
    "count: must be a whole number from 1 to 1000, got '1001'": (
        ["next", "0 3 * * *", "--count", "1001"], "write e.g. 10"
    ),
    "count: must be a whole number from 1 to 1000, got 'many'": (
        ["next", "0 3 * * *", "--count", "many"], "write e.g. 10"
    ),
    "expression: must begin with the plain word every, got '@every 5m'": (
        ["next", "@every 5m"], 'write "every 5m"'
    ),
    "expression: must begin with the plain word every, got 'EVERY 5m'": (
        ["describe", "EVERY 5m"], 'write "every 5m"'
    ),
    "expression: must begin with the plain word once, got '@once'": (
        ["next", "@once"], 'write "once 2026-03-01T00:00:00Z"'
    ),
    "window.length: must not be negative, got '-1h'": (
        [*DECIDE, "--window", "after,-1h"],
        "write a length of zero or more; the placement says which side",
    ),
    "distribution.sigma: must be above zero and at most 366 days, got '-5s'": (
        [*DECIDE, "--dist", "normal,sigma=-5s"],
        "write e.g. 10m, or leave it out for a sixth of the window",
    ),
    "only.date: must be a date from 1970 to 2200, got '2500-01-01'": (
        [*DECIDE, "--only", "date=2500-01-01"], "write e.g. 2026-12-25"
    ),
    "only.dates: must not end before it starts, got '2027-03-05..2027-03-01'": (
        [*DECIDE, "--only", "dates=2027-03-05..2027-03-01"], "write 2027-03-01..2027-03-05"
    ),
    "nominal: must lie from 1970 to 2200, got '1960-01-01T00:00:00+02:00'": (
        ["decide", "--identity", "a", "--nominal", "1960-01-01T00:00:00+02:00"],
        "write e.g. 2026-03-01T00:00:00Z",
    ),
    "dst: must be a known DST policy, got 'summer'": (
        ["describe", "0 3 * * *", "--dst", "summer"], "write one of strict, vixie, civil"
    ),
    "after: must be an RFC 3339 instant, got '2026-03-01'": (
        ["next", "0 3 * * *", "--after", "2026-03-01"],
        "write e.g. 2026-03-01T00:00:00Z or with +02:00",
    ),
    "dst: applies to cron expressions only, got 'civil'": (
        ["next", "every 5m", "--dst", "civil"], "leave it out"
    ),
    "interval: must be a duration, got 'soon'": (
        ["next", "every soon"], "write e.g. 90s, 15m, 1h30m or 500ms"
    ),
    "window: is not a known placement, got 'during'": (
        [*DECIDE, "--window", "during,1h"], "use after, around, before, center"
    ),
    "distribution.shape: is not a known parameter, got 'shape'": (
        [*DECIDE, "--dist", "uniform,shape=2"], "uniform takes no parameters"
    ),
    "seed: is not a known seed strategy, got 'hourly'": (
        [*DECIDE, "--seed", "hourly"], "use stable, daily, weekly"
    ),
    "nominal: must be an RFC 3339 instant, got 'now'": (
        ["decide", "--identity", "a", "--nominal", "now"],
        "write e.g. 2026-03-01T00:00:00Z or with +02:00",
    ),
}  # fmt: skip

USAGE = {
    "No such command 'nxt'. Did you mean 'next'?": ["nxt"],
    "No such command 'strat'. Did you mean 'start', 'status'?": ["krond", "strat"],
    "Missing argument 'EXPR'": ["next"],
    "No such option": ["next", "0 3 * * *", "--zones", "UTC"],
    "Missing option '--nominal'": ["decide", "--identity", "a"],
    "Missing argument 'FILE'": ["preview"],
}

ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=40)


@clause("CLI-3", "CLI-4")
@pytest.mark.parametrize("message", WRONG)
def test_wrong_input_is_one_line_and_a_hint(message: str) -> None:
    arguments, hint = WRONG[message]

    done = gnomon(*arguments)

    assert (done.code, done.out) == (1, "")
    assert done.err == f"error: {message}\nhint: {hint}\n"


@clause("CLI-3", "CLI-4")
@pytest.mark.parametrize("message", USAGE)
def test_wrong_usage_is_one_line_and_a_hint(message: str) -> None:
    done = gnomon(*USAGE[message])

    assert (done.code, done.out) == (1, "")
    error, hint = done.err.splitlines()
    assert error.startswith(f"error: {message}")
    assert hint.startswith("hint: see gnomon")


@clause("CLI-4")
def test_an_expression_without_quotes_gets_the_hint_to_quote_it() -> None:
    done = gnomon("next", "0", "3", "*", "*", "*")

    assert done.code == 1
    assert done.err.endswith('hint: put the expression in quotes, e.g. "0 3 * * *"\n')


@clause("CLI-4")
def test_an_argument_too_many_is_no_expression_where_none_is_asked_for() -> None:
    done = gnomon("krond", "history", "one", "two")

    assert done.code == 1
    assert done.err.endswith("hint: see gnomon krond history --help\n")


@clause("CLI-5")
def test_a_caret_points_at_what_is_wrong_in_an_expression() -> None:
    done = gnomon("next", "0 3 * 13 *")

    assert done.code == 1
    assert done.err == (
        'error: Invalid cron expression "0 3 * 13 *": '
        "month field must lie between 1 and 12, got 13\n"
        "  0 3 * 13 *\n"
        "        ^\n"
        "hint: write 1 to 12\n"
    )


@clause("CLI-5")
def test_a_caret_points_into_a_long_expression() -> None:
    minutes = ",".join(["0"] * 400)

    done = gnomon("next", f"{minutes},60 * * * *")

    _, excerpt, caret, _ = done.err.splitlines()
    assert excerpt[caret.index("^") :].startswith("60 * * * *")
    assert max(map(len, done.err.splitlines())) < 250


@clause("CLI-4", "CLI-5")
def test_control_characters_never_reach_the_terminal() -> None:
    done = gnomon("next", "0 3 * * *\x1b[31m\nerror: all is well")

    assert done.code == 1
    assert "\x1b" not in done.err
    assert [line.split(":")[0] for line in done.err.splitlines()] == [
        "error", "  0 3 * * *?[31m?error", "           ^", "hint",
    ]  # fmt: skip


@clause("CLI-4")
@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_whatever_is_written_there_is_an_answer_or_an_error(
    expression: str, zone: str, after: str
) -> None:
    for arguments in (
        ["next", "--", expression],
        ["describe", "0 3 * * *", f"--zone={zone}"],
        ["next", "0 3 * * *", f"--after={after}"],
        ["decide", f"--identity={expression}", "--nominal=2026-03-01T00:00:00Z", f"--only={zone}"],
    ):
        done = gnomon(*arguments)

        assert done.code == 0 or done.err.startswith("error: ")
        assert done.code in (0, 1)


@clause("CLI-4")
def test_the_shipped_program_prints_no_traceback() -> None:
    done = gnomon_process("next", "61 * * * *")

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith('error: Invalid cron expression "61 * * * *": minute field')
    assert "Traceback" not in done.err
