"""Warnings: what can be meant and probably is not."""

import pytest

from gnomon.apps.krond.krontab import Severity, advise
from tests.apps.krond.krontab.reading import read
from tests.clauses import clause

NOW = 1_792_886_400  # 25 October 2026


@clause("KRONTAB-20")
@pytest.mark.parametrize(
    ("line", "warnings"),
    [
        ("0 2 * * * name=a command=/bin/a", []),
        (
            '0 2 * * * name=a command="/bin/a | /bin/b"',
            ["1:27: command: has a word that only a shell would understand, got '|'"],
        ),
        (
            '0 2 * * * name=a command="/bin/rm /tmp/*.log"',
            ["1:27: command: has a word that only a shell would understand, got '/tmp/*.log'"],
        ),
        ('0 2 * * * name=a command="/bin/a | /bin/b" shell=true', []),
        (
            "0 2 * * * name=a command=bin/a",
            ["1:26: command: depends on the directory it is started in, got 'bin/a'"],
        ),
        (
            "0 2 * * * @only(hours=5) name=a command=/bin/a",
            ["1:17: constraints: leave no second in the windows of the next 100 periods"],
        ),
        ("0 2 * * * @only(hours=5) @win(after,4h) @seed(stable,salt=x) name=a command=/bin/a", []),
        (
            "*/5 * * * * @win(after,10m) @seed(stable,salt=x) name=a command=/bin/a",
            ["1:18: window: is longer than the time between periods"],
        ),
        ("# nothing", ["1:1: file: has no jobs"]),
        ("0 2 * * * name=A command=a", []),
        ("@reboot name=a command=/bin/a", []),
    ],
)
def test_what_is_probably_not_meant_is_a_warning(line: str, warnings: list[str]) -> None:
    found = advise(read(line), now=NOW)

    assert [f"{one.line}:{one.column}: {one.message}" for one in found] == warnings
    assert all(one.severity is Severity.WARNING and one.hint for one in found)


@clause("KRONTAB-20")
def test_a_schedule_without_a_future_is_a_warning() -> None:
    (found,) = advise(read("0 2 * * * name=a command=/bin/a"), now=7_289_654_399)

    assert found.message == "schedule: never occurs again"


@clause("KRONTAB-45")
@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (["@win(after,1h)", "@win(after,1h)"], 1),
        (["@win(after,1h) @seed(daily)"], 1),
        (["@win(after,1h) @seed(stable,salt=%H)"], 0),
        (["@win(after,1h) @seed(stable,salt=all)", ""], 0),
        ([""], 0),
    ],
)
def test_a_window_without_a_salt_is_warned_about_once(lines: list[str], count: int) -> None:
    text = "".join(f"0 2 * * * {line} name=a{n} command=/bin/a\n" for n, line in enumerate(lines))

    found = advise(read(text), now=NOW)

    assert [one.where for one in found] == ["window"] * count
    assert all("@seed(stable,salt=%H)" in one.hint for one in found)
