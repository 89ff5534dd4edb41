"""Jobs as text: one way to write each, and read back as the same."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.apps.krond.execution import Execution, write_target
from gnomon.apps.krond.job import Job
from gnomon.apps.krond.krontab import render_line, render_yaml
from gnomon.apps.krond.krontab.draft import quote
from gnomon.apps.krond.krontab.line_text import read_line
from gnomon.apps.krond.krontab.problem import Problems
from gnomon.errors import DefinitionError
from tests.apps.krond.krontab.reading import FILE, job, read
from tests.clauses import clause

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")) | st.just(" "))
LENGTHS = st.sampled_from(["0s", "1s", "90s", "1h", "1h30m", "26h", "1.5s", "500ms", "2h0m1s"])

MODIFIERS = {
    "tz": st.sampled_from(["UTC", "Europe/Paris", "America/New_York"]),
    "dst": st.sampled_from(["strict", "vixie", "civil"]),
    "win": st.builds("{},{}".format, st.sampled_from(["after", "around", "before"]), LENGTHS),
    "dist": st.sampled_from(
        ["uniform", "skewEarly", "skewLate,shape=3", "normal", "normal,mu=end,sigma=1m30s",
         "exponential", "exponential,lambda=0.25,dir=late"]
    ),
    "seed": st.builds(
        "{},salt={}".format, st.sampled_from(["stable", "daily", "weekly"]), WORDS.map(quote)
    ),
    "only": st.sampled_from(["hours=9-17", "dow=mon-fri;between=22:00-06:00", "dom=1,31"]),
    "avoid": st.sampled_from(["date=2026-12-25", "dates=2026-12-24..2026-12-31;months=aug"]),
    "policy": st.sampled_from(
        ["concurrency=allow", "deadline=90s,suspend=true", "concurrency=replace,deadline=26h"]
    ),
}  # fmt: skip
FIELDS = {
    "user": st.sampled_from(["backup", "1000"]),
    "group": st.sampled_from(["adm", "4"]),
    "cwd": WORDS.map(lambda text: f"/{text}"),
    "umask": st.sampled_from(["0027", "77", "0"]),
    "timeout": st.sampled_from(["1ms", "90s", "26h"]),
    "grace": LENGTHS,
    "stdout": WORDS.map(lambda text: f"file:/{text}"),
    "stderr": st.sampled_from(["inherit", "discard", "capture", "syslog"]),
    "mail": st.sampled_from(["root", "root,ops@example.org"]),
    "webhook": st.just("https://example.org/a?b=c"),
    "ping": st.just("http://localhost/x"),
    "notify": st.sampled_from(["always", "never", "missed", "skipped,failure"]),
    "description": WORDS,
}
SCHEDULES = st.sampled_from(
    ["0 2 * * *", "*/5\t9-17  * * mon-fri", "@daily", "30 0 2 * * 1#2", "@reboot"]
)
AT_BOOT = ("tz", "policy")
"""The modifiers that go with `@reboot`."""


def _in_quotes(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@st.composite
def lines(draw: st.DrawFn) -> str:
    modifiers = draw(st.fixed_dictionaries({}, optional=MODIFIERS))
    fields = draw(st.fixed_dictionaries({}, optional=FIELDS))
    env = draw(st.dictionaries(st.sampled_from(["A", "B_1", "path"]), WORDS))
    schedule = draw(SCHEDULES)
    if schedule == "@reboot":
        modifiers = {name: text for name, text in modifiers.items() if name in AT_BOOT}
    words = [schedule, *(f"@{name}({text})" for name, text in modifiers.items())]
    words += ["name=db/backup"]
    words += [f"{name}={_in_quotes(text)}" for name, text in fields.items()]
    words += [f"env={name}={_in_quotes(text)}" for name, text in env.items()]
    return " ".join(words)


COMMANDS = st.one_of(
    st.tuples(st.lists(WORDS, min_size=1).filter(lambda words: words[0].strip()), st.just("")),
    st.tuples(
        st.lists(WORDS.filter(str.strip), min_size=1, max_size=1),
        st.sampled_from(["/bin/sh", "/bin/bash", "/opt/my shell"]),
    ),
)  # fmt: skip


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    found = job(f"{draw(lines())} command=x")
    arguments, shell = draw(COMMANDS)
    execution = replace(found.execution, arguments=tuple(arguments), shell=shell)
    return _executing(found, execution)


def _executing(found: Job, execution: Execution) -> Job:
    schedule = replace(found.schedule, target=write_target(execution))
    return replace(found, execution=execution, schedule=schedule)


@clause("KRONTAB-19")
@given(jobs())
def test_a_line_reads_back_as_an_equal_job(found: Job) -> None:
    line = render_line(found)

    assert job(line) == found
    assert render_line(job(line)) == line


@clause("KRONTAB-19")
@given(jobs())
def test_yaml_reads_back_as_an_equal_job(found: Job) -> None:
    krontab = read(render_yaml([found]), file=f"{FILE}.yaml")

    assert krontab.problems == ()
    (again,) = krontab.jobs
    assert render_line(again) == render_line(found)
    assert again.execution == found.execution


@clause("KRONTAB-19", "KRONTAB-38")
@pytest.mark.parametrize("dst", ["", "@dst(strict) "])
@pytest.mark.parametrize("dialect", ["vixie", "posix"])
def test_a_dialect_reads_back(dialect: str, dst: str) -> None:
    found = job(f"0 2 1 * 1 @dialect({dialect}) {dst}name=a command=b")

    assert f"@dialect({dialect})" in render_line(found)
    assert job(render_line(found)) == found
    (again,) = read(render_yaml([found]), file=f"{FILE}.yaml").jobs
    assert render_line(again) == render_line(found)


@clause("KRONTAB-17")
@given(lines())
def test_a_mistake_at_the_end_changes_nothing_before_it(line: str) -> None:
    sound = read_line(f"{line} command=x", 1, Problems())
    broken = read_line(f'{line} command=x stdout="', 1, Problems())

    assert sound is not None
    assert broken is not None
    assert broken.pieces == {"stdout": ()} | sound.pieces


@clause("KRONTAB-19")
@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("0  2 * * * @tz(UTC) @win(after,0s) name=a command=b", "0 2 * * * name=a command=b"),
        (
            "@Midnight @policy(suspend=false,deadline=60s) command=b name=a umask=27 shell=false",
            "@daily @policy(deadline=1m) name=a command=b umask=0027",
        ),
        (
            "0 2 * * * @win(center,7200s) @dist(skewLate,shape=2) name=a command=\"b  c 'd e'\"",
            "0 2 * * * @win(around,2h) @dist(skewLate,shape=2) name=a command=\"b c 'd e'\"",
        ),
        (
            "@Reboot @policy(deadline=300s) @tz(UTC) name=a command=b",
            "@reboot name=a command=b",
        ),
        (
            "@reboot @policy(deadline=0s) name=a command=b",
            "@reboot @policy(deadline=0s) name=a command=b",
        ),
        (
            "0 2 * * * @only(dow=MON-FRI) name=a command=b env=Z=1 env=A=2 shell=true",
            "0 2 * * * @only(dow=mon-fri) name=a command=b shell=true env=A=2 env=Z=1",
        ),
    ],
)
def test_there_is_one_way_to_write_a_job(line: str, written: str) -> None:
    assert render_line(job(line)) == written


@clause("KRONTAB-19")
def test_a_text_of_several_lines_cannot_become_one() -> None:
    text = "jobs:\n- {name: a, schedule: 0 2 * * *, shell: 'true', command: \"a\\nb\"}"
    (found,) = read(text, file=f"{FILE}.yaml").jobs

    with pytest.raises(DefinitionError, match="has a command of several lines"):
        render_line(found)


def test_a_file_without_jobs_is_written_as_one() -> None:
    assert read(render_yaml([]), file=f"{FILE}.yaml").problems == ()
