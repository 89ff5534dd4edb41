"""Files of schedules: TOML or YAML, every key checked, and errors in the words of the file."""

import sys
from pathlib import Path

import pytest

from gnomon.apps.run.schedule_file import YAML_BYTES_MAX, load_schedules
from gnomon.core.schedule_record import write_schedule
from tests.acceptance.command_line import gnomon
from tests.acceptance.running import write
from tests.clauses import clause
from tests.tidy.tree import ROOT

TOML = """
[[schedule]]
name = "everything"
cron = "*/5 * * * *"
zone = "Europe/Berlin"
dialect = "standard"
dst = "civil"
start_at = 2026-01-01T00:00:00Z
end_at = "2027-01-01T00:00:00Z"
window = "after,2m"
distribution = "skewEarly,shape=2"
seed = "daily"
salt = "s"
only = "hours=9-17"
avoid = "dow=sun"
command = ["echo", "a b"]
cwd = "sub"
env = { A = "1" }
timeout = "1m"
grace = "5s"
overlap = "forbid"
catchup = "spread"
deadline = "10m"
retries = 0

[[schedule]]
name = "interval"
every = "90s"
anchor = 2026-01-01T00:00:01Z
jitter = "1500ms"
shell = "echo hello"

[[schedule]]
name = "single"
once = 2026-01-01T01:00:00+01:00
command = ["true"]
"""
YAML = """
schedule:
  - name: everything
    cron: "*/5 * * * *"
    zone: Europe/Berlin
    dialect: standard
    dst: civil
    start_at: 2026-01-01T00:00:00Z
    end_at: "2027-01-01T00:00:00Z"
    window: after,2m
    distribution: skewEarly,shape=2
    seed: daily
    salt: s
    only: hours=9-17
    avoid: dow=sun
    command: [echo, a b]
    cwd: sub
    env: {A: "1"}
    timeout: 1m
    grace: 5s
    overlap: forbid
    catchup: spread
    deadline: 10m
    retries: 0
  - name: interval
    every: 90s
    anchor: 2026-01-01T00:00:01Z
    jitter: 1500ms
    shell: echo hello
  - name: single
    once: 2026-01-01T01:00:00+01:00
    command: ["true"]
"""

WRONG = {
    "overlap: is not a known choice, got 'never'": 'overlap = "never"',
    "catchup: is not a known choice, got 'all'": 'catchup = "all"',
    "deadline: must be a duration, got 'soon'": 'deadline = "soon"',
    "retries: must be a whole number from 0 to 99, got 100": "retries = 100",
    "retries: must be a whole number from 0 to 99, got True": "retries = true",
    "command: must be a list of texts, got 'ls -l'": 'command = "ls -l"',
    "command: must be a list of texts, got ['ls', 1]": 'command = ["ls", 1]',
    "command: must be text that a program can be given, got 'a\\x00b'": 'command = ["a\\u0000b"]',
    "env: must be a table of texts, got {'A': 1}": 'shell = "ls"\nenv = { A = 1 }',
    "env: is a reserved variable, got 'LD_PRELOAD'": (
        'shell = "ls"\nenv = { LD_PRELOAD = "a.so" }'
    ),
    "timeout: must be text, got 5": 'shell = "ls"\ntimeout = 5',
    "timeout: must be a duration, got '5'": 'shell = "ls"\ntimeout = "5"',
    "deadline: must lie between 0s and 366 days, got '-5s'": 'deadline = "-5s"',
    "deadline: must be whole seconds, got '1500ms'": 'deadline = "1500ms"',
    "lease: must lie between 1ms and 366 days, got '0s'": 'lease = "0s"',
    "jitter: must lie between 0s and 24h, got '-5s'": 'jitter = "-5s"',
    "jitter: must lie between 0s and 24h, got '25h'": 'jitter = "25h"',
    "jitter: cannot be combined with a window, got '5s'": 'jitter = "5s"\nwindow = "after,1h"',
    "timeout: is too short, got '0s'": 'shell = "ls"\ntimeout = "0s"',
    "must have exactly one of command and shell, got ['cwd']": 'cwd = "there"',
    "zone: must be a zone of the IANA database, got 'Mars'": 'zone = "Mars"',
    "anchor: must be an instant with an offset, got '5'": "anchor = 5",
}

WRONG_YAML = {
    "file: must be YAML in UTF-8 (aliases are not taken": "schedule: [&a {name: b}, *a]",
    "file: must be YAML in UTF-8 (the key 'name' stands here twice": (
        "schedule:\n- name: a\n  name: b\n"
    ),
    "file: must be YAML in UTF-8 (while constructing a mapping": "? [a]\n: b",
    "file: must be YAML in UTF-8 (while scanning an alias": "schedule:\n- cron: */5 * * * *",
    "file: must be a mapping, got 'list'": "- name: a",
    "file: is not a known table, got 'jobs'": "jobs: []",
    "schedule: must be a list of tables, got 3": "schedule: 3",
    'schedule "a": is not a known key, got 1': "schedule: [{name: a, 1: b}]",
    "schedule \"a\": env: must be a table of texts, got {1: 'x'}": (
        "schedule: [{name: a, every: 1h, shell: ls, env: {1: x}}]"
    ),
    "schedule \"a\": once: must be an instant with an offset, got '2026-01-01'": (
        "schedule: [{name: a, once: 2026-01-01}]"
    ),
}


def records(file: Path) -> list[dict[str, object]]:
    return [write_schedule(entry.schedule) for entry in load_schedules(file, to_run=True)]


@clause("CLI-17", "CLI-18")
@pytest.mark.parametrize("name", ["run.yaml", "run.YML"])
def test_yaml_says_the_same_as_toml(name: str, tmp_path: Path) -> None:
    toml, yaml = write(tmp_path, TOML), write(tmp_path, YAML, name)

    assert records(yaml) == records(toml)


@clause("CLI-18")
def test_every_key_reaches_the_definition(tmp_path: Path) -> None:
    everything, interval, single = records(write(tmp_path, TOML))

    assert everything["target"] == {
        "command": ["echo", "a b"], "cwd": "sub", "env": {"A": "1"}, "timeout": "1m",
        "grace": "5s",
    }  # fmt: skip
    assert everything | {"target": None} == {
        "schedule_id": "everything", "identity": None, "cron_expr": "*/5 * * * *",
        "dialect": "standard",
        "dst": "civil", "timezone": "Europe/Berlin", "start_at": "2026-01-01T00:00:00Z",
        "end_at": "2027-01-01T00:00:00Z", "jitter_ms": 0, "window": "after,2m0s",
        "distribution": "skewEarly,shape=2.0", "seed": "daily", "salt": "s",
        "only": "hours=9-17", "avoid": "dow=sun", "overlap_policy": "skip",
        "catchup_policy": "spread", "deadline": "10m0s", "pause_rule": "skip",
        "uncertain": "abandon", "launches_max": 1, "launch_backoff": "1s", "lease": "1m0s",
        "target": None,
    }  # fmt: skip
    assert (interval["every"], interval["anchor"], interval["jitter_ms"]) == (
        "1m30s", "2026-01-01T00:00:01Z", 1500,
    )  # fmt: skip
    assert single["once"] == "2026-01-01T00:00:00Z"


@clause("CLI-18")
def test_a_schedule_with_jitter_shows_the_chosen_instants(tmp_path: Path) -> None:
    text = '[[schedule]]\nname = "a"\nevery = "1h"\njitter = "1500ms"\n'

    schedules = gnomon("preview", str(write(tmp_path, text)), "--json", "--count", "2").json

    assert isinstance(schedules["schedules"], list)
    (schedule,) = schedules["schedules"]
    assert schedule["next"] == ["2026-03-28T13:00:00Z", "2026-03-28T14:00:00Z"]
    assert [chosen[:11] for chosen in schedule["chosen"]] == ["2026-03-28T"] * 2
    assert schedule["chosen"] != schedule["next"]


@clause("CLI-18")
@pytest.mark.parametrize("command", ["preview", "run"])
@pytest.mark.parametrize("message", WRONG)
def test_an_error_names_the_key_as_the_file_has_it(
    message: str, command: str, tmp_path: Path
) -> None:
    more = "" if "command" in WRONG[message] or "shell" in WRONG[message] else 'shell = "true"\n'
    more = "" if message.startswith("must have exactly") else more
    file = write(tmp_path, f'[[schedule]]\nname = "a"\nevery = "1h"\n{WRONG[message]}\n{more}')

    done = gnomon(command, str(file))

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f'error: {file}: schedule "a": {message}')
    assert done.err.splitlines()[-1].startswith("hint: ")


@clause("CLI-17")
@pytest.mark.parametrize("message", WRONG_YAML)
def test_yaml_that_cannot_be_meant_is_refused(message: str, tmp_path: Path) -> None:
    file = write(tmp_path, WRONG_YAML[message], "run.yaml")

    done = gnomon("preview", str(file))

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {file}: {message}")


@clause("CLI-17")
def test_yaml_nested_without_end_is_refused(tmp_path: Path) -> None:
    assert gnomon("preview", str(write(tmp_path, "[" * 50_000, "run.yaml"))).code == 1


@clause("CLI-14", "CLI-17", "CLI-20")
@pytest.mark.parametrize("command", ["run", "preview"])
@pytest.mark.parametrize("name", ["run.toml", "run.yaml"])
def test_a_file_without_schedules_is_refused(name: str, command: str, tmp_path: Path) -> None:
    file = write(tmp_path, "# nothing\n", name)

    done = gnomon(command, str(file))

    assert done.code == 1
    assert done.err.startswith(f"error: {file}: file: must have at least one schedule, got 0\n")
    assert list(tmp_path.iterdir()) == [file]


@clause("CLI-15")
def test_a_byte_order_mark_is_called_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_bytes(b'\xef\xbb\xbf[[schedule]]\nname = "a"\nevery = "1h"\n')

    done = gnomon("preview", str(file))

    assert done.code == 1
    assert done.err.splitlines() == [
        f"error: {file}: file: must be TOML in UTF-8 without a byte order mark, "
        """got '\\ufeff[[schedule]]\\nname = "a"\\nevery = "1h"\\n'""",
        'hint: save it as "UTF-8", not as "UTF-8 with BOM"',
    ]


@clause("CLI-17")
def test_a_file_of_yaml_that_is_far_too_large_is_refused(tmp_path: Path) -> None:
    done = gnomon("preview", str(write(tmp_path, "#" * (YAML_BYTES_MAX + 1), "run.yaml")))

    assert done.code == 1
    assert f"must have at most {YAML_BYTES_MAX} bytes" in done.err


@clause("CLI-17")
def test_yaml_without_the_extra_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "gnomon.shell.plain_yaml", raising=False)
    monkeypatch.setitem(sys.modules, "yaml", None)

    done = gnomon("preview", str(write(tmp_path, YAML, "run.yaml")))

    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: a schedule file in YAML needs an extra\n"
        'hint: install it with: pip install "gnomon[yaml]"\n'
    )


@clause("CLI-18")
@pytest.mark.parametrize("name", ["run.toml", "schedules.toml"])
def test_the_sample_files_can_be_previewed(name: str) -> None:
    assert gnomon("preview", str(ROOT / "examples" / name)).code == 0


@clause("CLI-18")
def test_the_sample_file_for_running_can_be_run() -> None:
    assert len(load_schedules(ROOT / "examples" / "run.toml", to_run=True)) == 4
