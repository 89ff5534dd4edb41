"""Which targets describe a command, and which are refused."""

import json

import pytest

from gnomon.errors import DefinitionError
from gnomon.shell.launcher.command import Command, parse_command
from tests.clauses import clause


@clause("LAUNCH-5")
def test_a_command_is_a_program_with_arguments() -> None:
    target = {
        "command": ["backup", "--all"], "shell": False, "cwd": "/srv", "env": {"A": "b"},
        "timeout": "5m", "grace": "0s",
    }  # fmt: skip

    assert parse_command(json.dumps(target)) == Command(
        arguments=("backup", "--all"), cwd="/srv", env={"A": "b"}, timeout_ms=300_000, grace_ms=0
    )


@clause("LAUNCH-5")
def test_a_text_is_for_a_shell_to_read() -> None:
    assert parse_command('{"shell": "a | b"}').arguments == ("/bin/sh", "-c", "a | b")


@clause("LAUNCH-5")
@pytest.mark.parametrize(
    "target",
    [
        "", "[", "null", "[1]", "{}", '{"command": "text"}', '{"command": [""]}',
        '{"command": ["a", 1]}', '{"command": ["a"], "shell": "b"}', '{"shell": true}',
        '{"command": ["a"], "colour": 1}', '{"command": ["a\\u0000"]}', '{"shell": "\\ud800"}',
        '{"shell": "a", "cwd": 3}', '{"shell": "a", "env": []}', '{"shell": "a", "env": {"A": 1}}',
        '{"shell": "a", "env": {"A=B": "c"}}', '{"shell": "a", "env": {"": "c"}}',
        '{"shell": "a", "timeout": "0s"}', '{"shell": "a", "timeout": 5}',
        '{"shell": "a", "grace": "-1s"}',
    ],
)  # fmt: skip
def test_what_describes_no_command_is_refused(target: str) -> None:
    with pytest.raises(DefinitionError, match="target"):
        parse_command(target)


@clause("LAUNCH-6")
@pytest.mark.parametrize("name", ["LD_PRELOAD", "ENV", "BASH_ENV", "IFS", "GNOMON_KEY"])
def test_a_variable_that_acts_before_the_release_is_refused(name: str) -> None:
    with pytest.raises(DefinitionError, match="reserved"):
        parse_command(json.dumps({"shell": "true", "env": {name: "x"}}))
