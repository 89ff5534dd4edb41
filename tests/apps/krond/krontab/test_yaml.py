"""Krontab files in YAML: the same jobs, every value as the text that stands there."""

import pytest

from tests.apps.krond.krontab.reading import FILE, problems, read
from tests.clauses import clause

YAML = f"{FILE}.yaml"

LINE = (
    "0 10 * * * @tz(Europe/Paris) @win(around,90m) @dist(skewLate,shape=2.5) "
    '@seed(daily,salt="a, b") @only(dow=MON-FRI;between=08:00-20:00) @avoid(date=2026-12-25) '
    "@policy(concurrency=replace,deadline=10m) name=batch command=\"/bin/send --to 'a b'\" "
    'user=www umask=0027 timeout=90s env=MODE=prod env=B="x y" mail=root,ops@example.org'
)
TEXTS = """
jobs:
  - name: batch
    schedule: 0 10 * * *
    tz: Europe/Paris
    win: around,90m
    dist: skewLate,shape=2.5
    seed: daily,salt="a, b"
    only: dow=MON-FRI;between=08:00-20:00
    avoid: date=2026-12-25
    policy: concurrency=replace,deadline=10m
    command: /bin/send --to 'a b'
    user: www
    umask: 0027
    timeout: 90s
    env: [MODE=prod, B=x y]
    mail: root,ops@example.org
"""
PARTS = """
jobs:
  - name: batch
    schedule: "0 10 * * *"
    tz: Europe/Paris
    win: {mode: around, duration: 90m}
    dist: {name: skewLate, shape: 2.5}
    seed:
      strategy: daily
      salt: a, b
    only: {dow: MON-FRI, between: 08:00-20:00}
    avoid: [date=2026-12-25]
    policy: {concurrency: replace, deadline: 10m}
    command: [/bin/send, --to, a b]
    user: www
    umask: "0027"
    timeout: 90s
    env: {MODE: prod, B: x y}
    mail: [root, ops@example.org]
"""


@clause("KRONTAB-18")
@pytest.mark.parametrize("text", [TEXTS, PARTS])
def test_yaml_reads_as_the_job_that_a_line_says(text: str) -> None:
    krontab = read(text, file=YAML)
    (from_line,) = read(LINE, file=YAML.removesuffix(".yaml")).jobs

    assert krontab.problems == ()
    (job,) = krontab.jobs
    assert job.identity == "/etc/krond.d/site.yaml:batch"
    assert job.execution == from_line.execution
    assert job.notify == from_line.notify
    assert job.schedule.recurrence == from_line.schedule.recurrence
    assert job.schedule.policy == from_line.schedule.policy
    for part in ("zone", "window", "distribution", "seed", "salt", "only", "avoid"):
        assert getattr(job.schedule.decider, part) == getattr(from_line.schedule.decider, part)


@clause("KRONTAB-18")
def test_a_value_is_the_text_that_stands_there() -> None:
    text = """
jobs:
  - {name: no, schedule: 0 0 * * *, command: [echo, 1:30, 010, null, yes], env: {A: on}}
"""
    (job,) = read(text, file=YAML).jobs

    assert job.name == "no"
    assert job.execution.arguments == ("echo", "1:30", "010", "null", "yes")
    assert job.execution.env == (("A", "on"),)


@clause("KRONTAB-18")
def test_a_text_for_a_shell_may_have_several_lines() -> None:
    text = """
jobs:
  - name: a
    schedule: 0 0 * * *
    shell: true
    command: |
      set -e
      make all
"""
    (job,) = read(text, file=YAML).jobs

    assert job.execution.argv == ("/bin/sh", "-c", "set -e\nmake all\n")


@clause("KRONTAB-5", "KRONTAB-18")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[]", ["1:1: file: must be a mapping"]),
        ("jobs: {}", ["1:7: jobs: must be a list"]),
        ("job: []", ["1:1: file: has an unknown key, got 'job'"]),
        ("jobs: [a]", ["1:8: job: must be a mapping"]),
        ("jobs: [{]", ["1:9: file: is not YAML (expected the node content, but found ']')"]),
        ("a: &x 1\njobs: *x", ["1:4: file: is not YAML (there are no aliases)"]),
        ("jobs: !!set {}", ["1:7: file: is not YAML (there are no tags)"]),
        ("jobs: []\njobs: []", ["2:1: file: has a key twice, got 'jobs'"]),
        ("jobs:\n- nam: a", ["2:3: job: has an unknown key, got 'nam'"]),
        (
            "jobs:\n- name: a\n  schedule: 61 * * * *\n  command: a",
            ["3:13: schedule: minute field must lie between 0 and 59, got 61"],
        ),
        (
            "jobs:\n- name: a\n  schedule: '0 0 * * 9'\n  command: a",
            ["3:22: schedule: weekday field must lie between 0 and 7, got 9"],
        ),
        (
            "jobs:\n- name: a\n  schedule: 0 0 * * *\n  command: {a: b}\n  win: [[a]]",
            ["4:12: command: must be a text", "5:8: win: must be a text"],
        ),
        (
            "jobs:\n- name: a\n  schedule: 0 0 * * *",
            ["2:3: command: is missing"],
        ),
        (
            "jobs:\n- name: a\n  schedule: 0 0 * * *\n  command: a\n  policy: {suspend: maybe}",
            ["5:21: policy: must be true or false, got 'maybe'"],
        ),
        (
            "jobs:\n- name: a\n  schedule: 0 0 * * *\n  command: a\n  description: |\n    b\n    c",
            ["5:16: description: has a character that does not print, got '\\n'"],
        ),
        (
            "jobs:\n- {name: a, schedule: 0 0 * * *, command: a, seed: {salt: [x]}, ? [b] : c}",
            ["2:59: seed: must be a text", "2:67: job: must have texts as keys"],
        ),
        ("#" * 4_000_001, ["1:1: file: has 4000001 characters"]),
        ("jobs: " + "[" * 5_000, ["1:1: file: is nested too deeply"]),
    ],
)  # fmt: skip
def test_a_mistake_in_yaml_is_shown_where_it_is(text: str, found: list[str]) -> None:
    assert problems(text, file=YAML) == found
