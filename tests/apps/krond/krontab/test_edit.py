"""Changing files: jobs come and go, everything else stays, and what is unsafe is refused."""

import pytest

from gnomon.apps.krond.krontab.edit import add_job, convert, format_file, remove_job
from gnomon.errors import DefinitionError, KrontabError
from tests.apps.krond.krontab.reading import FILE, read
from tests.clauses import clause

YAML = f"{FILE}.yaml"
A = "0 2 * * *   name=a command=/bin/a"
B = "0 3 * * * name=b command=/bin/b"
C = "0  4 * * * @tz(UTC) name=c command=/bin/c"
LINES = f"# the first\n{A}\n\n# the second\n{B}\n# the end\n"
JOBS = """\
# for the site
jobs:
  # the first
  - name: a
    schedule: 0 2 * * *
    command: /bin/a

  # the second
  - {name: b, schedule: 0 3 * * *, command: /bin/b}
# the end
"""


@clause("KRONTAB-25")
def test_a_job_is_added_as_it_was_written() -> None:
    assert add_job(read(LINES), C, replace=False) == f"{LINES}{C}\n"
    assert add_job(read("# nothing yet"), C, replace=False) == f"# nothing yet\n{C}\n"
    assert add_job(read(""), C, replace=False) == f"{C}\n"


@clause("KRONTAB-25")
def test_a_job_takes_the_place_of_its_namesake_when_told_to() -> None:
    other = "0 5 * * * name=a command=/bin/other"

    with pytest.raises(DefinitionError, match="is in the file already"):
        add_job(read(LINES), other, replace=False)
    assert add_job(read(LINES), other, replace=True) == LINES.replace(A, other)


@clause("KRONTAB-25")
def test_a_job_is_removed_and_its_comments_stay() -> None:
    assert remove_job(read(LINES), "a") == f"# the first\n\n# the second\n{B}\n# the end\n"


@clause("KRONTAB-25")
def test_a_job_that_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(DefinitionError, match=r"is no job of this file, got 'z'; it has a, b"):
        remove_job(read(LINES), "z")


@clause("KRONTAB-25")
def test_jobs_of_yaml_come_and_go_too() -> None:
    added = add_job(read(JOBS, file=YAML), C, replace=False)

    assert added == JOBS.replace(
        "# the end",
        '  - name: c\n    schedule: "0 4 * * *"\n    command: /bin/c\n# the end',
    )
    assert remove_job(read(added, file=YAML), "c") == JOBS
    assert remove_job(read(JOBS, file=YAML), "a") == JOBS.replace(
        "  - name: a\n    schedule: 0 2 * * *\n    command: /bin/a\n", ""
    )


@clause("KRONTAB-25")
def test_the_last_job_of_yaml_can_go_and_another_come() -> None:
    alone = "jobs:\n  - name: a\n    schedule: 0 2 * * *\n    command: |\n      x\n      y\n"
    alone += "    shell: true\n"

    empty = remove_job(read(alone, file=YAML), "a")
    again = add_job(read(empty, file=YAML), B, replace=False)

    assert empty == "jobs:\n"
    assert read(empty, file=YAML).problems == ()
    assert [job.name for job in read(again, file=YAML).jobs] == ["b"]


@clause("KRONTAB-27")
def test_a_file_that_cannot_be_changed_safely_is_left_alone() -> None:
    flow = (
        "jobs: [{name: a, schedule: 0 2 * * *, command: a},"
        " {name: b, schedule: 0 3 * * *, command: b}]"
    )

    with pytest.raises(DefinitionError, match="cannot be changed without changing more"):
        remove_job(read(flow, file=YAML), "a")


@clause("KRONTAB-27")
def test_a_job_with_errors_is_not_added() -> None:
    with pytest.raises(KrontabError) as raised:
        add_job(read(LINES), "61 2 * * * name=c command=/bin/c", replace=False)
    assert raised.value.report.startswith("error: job:1:1: schedule: minute field must lie between")

    with pytest.raises(DefinitionError, match="must be one line with one job"):
        add_job(read(LINES), f"{C}\n{B}", replace=False)


@clause("KRONTAB-26")
def test_jobs_are_written_in_one_way_and_all_else_stays() -> None:
    text = f"  # indented\n\n {C}  \n# the end\n\n"

    assert format_file(read(text)) == (
        "  # indented\n\n0 4 * * * name=c command=/bin/c\n# the end\n\n"
    )


@clause("KRONTAB-26")
def test_yaml_is_formatted_job_by_job_unless_a_job_has_comments_inside() -> None:
    text = """\
# top
jobs:
- name: a   # why
  schedule: 0 2 * * *
  command: /bin/a
- {schedule: 0 3 * * *, name: b, command: /bin/b}
"""
    assert format_file(read(text, file=YAML)) == text.replace(
        "- {schedule: 0 3 * * *, name: b, command: /bin/b}\n",
        '- name: b\n  schedule: "0 3 * * *"\n  command: /bin/b\n',
    )


@clause("KRONTAB-26")
def test_a_file_can_be_turned_into_the_other_form() -> None:
    in_yaml = convert(read(LINES), to_yaml=True)

    assert read(in_yaml, file=YAML).problems == ()
    assert convert(read(in_yaml, file=YAML), to_yaml=False) == (
        f"0 2 * * * name=a command=/bin/a\n{B}\n"
    )
