"""Whole krontab files: comments, every problem at once, names, line ends, hostile text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gnomon.apps.krond.execution import Sink, SinkKind
from gnomon.apps.krond.krontab.draft import FIELDS, MODIFIERS
from gnomon.apps.krond.krontab.render import render_defaults
from tests.apps.krond.krontab.reading import FILE, problems, read
from tests.clauses import clause

A = "0 2 * * * name=a command=/bin/a"
B = "0 3 * * * name=b command=/bin/b"

SHARDS = st.lists(
    st.one_of(
        st.sampled_from([*(f"@{one}(" for one in MODIFIERS), *(f"{one}=" for one in FIELDS)]),
        st.sampled_from(list('@()=",;\\# \t\n\r')),
        st.sampled_from(["0 2 * * * ", "after,1h", "name=a ", '\\"', "@defaults ", "command=b\n"]),
        st.text(max_size=4),
    ),
    max_size=20,
).map("".join)  # fmt: skip


@clause("KRONTAB-8")
def test_comments_and_empty_lines_say_nothing() -> None:
    krontab = read(f"# nightly\n\n  # indented\n{A}\n \t \n{B}")

    assert [job.name for job in krontab.jobs] == ["a", "b"]
    assert [entry.line for entry in krontab.entries] == [4, 6]
    assert krontab.problems == ()


@clause("KRONTAB-5")
def test_all_problems_are_told_in_the_order_of_their_places() -> None:
    text = f"{A} umask=9 cwd=x\n{B}\n99 3 * * * @win(soon,2x) name=C command=/bin/c"

    assert problems(text) == [
        "1:39: umask: must be three octal digits, got '9'",
        "1:45: cwd: must be an absolute path, got 'x'",
        "3:1: schedule: minute field must lie between 0 and 59, got 99",
        "3:17: @win: is not a known placement, got 'soon'",
        "3:22: @win: must be a duration, got '2x'",
        "3:31: name: must be 1 to 100 lower-case letters, digits, hyphens and slashes, got 'C'",
    ]
    assert [job.name for job in read(text).jobs] == ["b"]


@clause("KRONTAB-5")
def test_a_problem_as_json_has_its_place_and_its_parts() -> None:
    (problem,) = read(f"{A} umask=9").problems

    assert problem.to_json() == {
        "line": 1,
        "column": 39,
        "severity": "error",
        "where": "umask",
        "reason": "must be three octal digits",
        "got": "9",
        "hint": "write e.g. 0027",
    }


@clause("KRONTAB-11")
def test_a_name_is_used_once_in_a_file_even_by_a_job_with_errors() -> None:
    assert problems(f"{A} umask=9\n{A}\n{B}\n{B}") == [
        "1:39: umask: must be three octal digits, got '9'",
        "2:16: name: is used on line 1 already, got 'a'",
        "4:16: name: is used on line 3 already, got 'b'",
    ]


@clause("KRONTAB-15")
def test_output_is_captured_unless_a_job_says_otherwise() -> None:
    (job,) = read(f"{A} stderr=inherit").jobs

    assert job.execution.stdout == Sink(SinkKind.CAPTURE)
    assert job.execution.stderr == Sink(SinkKind.INHERIT)


@clause("KRONTAB-8")
def test_the_line_ends_of_other_systems_are_told_once() -> None:
    assert problems(f"{A}\r\n{B}\r\n") == ["1:32: line: ends in a carriage return"]


@clause("KRONTAB-8")
def test_a_byte_order_mark_is_told_and_passed_over() -> None:
    krontab = read(f"\ufeff{A}")

    assert [one.message for one in krontab.problems] == ["file: begins with a byte order mark"]
    assert len(krontab.jobs) == 1


@clause("KRONTAB-5", "KRONTAB-10")
def test_clauses_that_are_too_many_together_are_told_at_the_first() -> None:
    dates = [f"date=2026-01-{day:02d}" for day in range(1, 32)] * 9
    line = f"0 2 * * * @only({';'.join(dates)}) name=a command=b"

    assert [one.partition(", got")[0] for one in problems(line)] == [
        "1:17: @only: lists more than 256 values"
    ]


@clause("KRONTAB-5")
def test_a_file_whose_path_cannot_be_an_identity_has_errors_and_no_jobs() -> None:
    assert problems(A, file="/etc/odd\nname") == ["1:1: job: must be one line, got '" + A + "'"]


@clause("KRONTAB-17")
@given(SHARDS)
@example('@win(" =')
@example('0 2 * * * @seed(daily,salt="\\')
@example("@")
@example("@()")
@example("@defaults @tz()")
@example("@defaults env=\n0 2 * * * name=a command=b")
@example("@defaults @dst(civil)\n0 2 * * * @dst() name=a command=b")
def test_no_text_makes_the_reader_fail(text: str) -> None:
    krontab = read(text)

    assert not krontab.defaults or read(render_defaults(krontab.defaults.entry)).problems == ()
    lines = text.split("\n")
    for problem in krontab.problems:
        assert 1 <= problem.line <= len(lines)
        assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1
        assert problem.message.isprintable()


@clause("KRONTAB-17")
@given(st.text(max_size=60))
def test_no_text_in_yaml_makes_the_reader_fail(text: str) -> None:
    read(text, file=f"{FILE}.yaml")
    read(f"defaults: {text}\njobs:\n  - {text}", file=f"{FILE}.yaml")
    read(f"defaults:\n  {text}: a\n  tz: {text}\njobs: []", file=f"{FILE}.yaml")
    read(f"jobs:\n  - {text}", file=f"{FILE}.yaml")
    read(f"jobs:\n  - name: {text}\n    {text}: a", file=f"{FILE}.yaml")


@clause("KRONTAB-17")
@pytest.mark.parametrize(
    "piece", ['"', "(", "@win(", "@only(hours=1;", "\\", '"\\', "a=", "@", ",", 'env="', "' "]
)
def test_the_steps_grow_with_the_length_of_the_line(piece: str) -> None:
    line = f"{A} {piece * (16_000 // len(piece))}"

    assert read(line).jobs == () or piece in "a="
    assert read(f"{A} description={piece * (16_000 // len(piece))}").jobs is not None
