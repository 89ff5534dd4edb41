"""What a line of a crontab executes: what stands before and behind its percent signs."""

import subprocess

import pytest

from gnomon.apps.krond.krontab.problem import Severity
from tests.clauses import clause
from tests.importers.crontabs import jobs, taken_over
from tests.oracle.crontab_text import Entry, entries


@clause("KRONTAB-40")
@pytest.mark.parametrize(
    "command",
    ["cat%a%b", "cat%a%b%", "cat%", "cat%%", r"cat%50\% done%it's", r"cat%a\\%b", "cat", r"cat%\%"],
)
def test_a_command_reads_what_cron_would_hand_to_it(command: str) -> None:
    (job,) = jobs(f"0 2 * * * {command}")
    (entry,) = entries(f"0 2 * * * {command}", system=False)

    done = subprocess.run(job.execution.argv, stdin=subprocess.DEVNULL, capture_output=True,
                          check=True, text=True)  # fmt: skip

    assert isinstance(entry, Entry)
    assert done.stdout == entry.stdin


@clause("KRONTAB-40")
@pytest.mark.parametrize(
    "command",
    [
        "sleep $((RANDOM % 230)); go", "tar czf /b/$(date +%Y).tgz /s", 'echo "%d"', "echo '%'",
        "find / -name `date +%F`", "ls | % x", "a && %", "printf '%s' x",
    ],
)  # fmt: skip
def test_a_percent_that_cuts_a_command_in_two_is_a_warning_with_its_place(command: str) -> None:
    imported = taken_over(f"FOO=1\n0 2 * * * {command}")

    (problem,) = imported.problems
    assert problem.severity is Severity.WARNING
    assert (problem.line, problem.column) == (2, 11 + command.index("%"))
    assert r"write \%" in problem.hint
