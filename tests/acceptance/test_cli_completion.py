"""Completion for shells: the script that a shell reads, where it lies, and what it is answered."""

from pathlib import Path

import pytest

from tests.acceptance.command_line import Done, gnomon, gnomon_process


def complete(words: str, shell: str = "bash") -> Done:
    """What the program answers a shell in which these words were typed."""
    place = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    return gnomon_process(environment={"_GNOMON_COMPLETE": f"{shell}_complete", **place})


def test_commands_are_completed() -> None:
    assert complete("gnomon kro").lines == ["plain,krontab", "plain,krond"]
    assert complete("gnomon krond st").lines == ["plain,start", "plain,stop", "plain,status"]


def test_options_are_completed() -> None:
    assert complete("gnomon next --d").lines == ["plain,--dialect", "plain,--dst"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_the_program_in_its_own_way(shell: str) -> None:
    done = gnomon_process("--show-completion", environment={"SHELL": f"/usr/bin/{shell}"})

    assert (done.code, done.err) == (0, "")
    assert f"_GNOMON_COMPLETE={shell}_complete" in done.out


def test_a_shell_without_completion_is_refused() -> None:
    done = gnomon_process("--install-completion", environment={"SHELL": "/bin/csh"})

    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "error: SHELL: must name a shell that has completion, got '/bin/csh'\n"
        "hint: set it to the path of one of bash, zsh, fish\n"
    )


@pytest.mark.parametrize(
    ("shell", "start", "line"),
    [
        ("bash", ".bashrc", "source ~/.bash_completions/gnomon.sh"),
        ("zsh", ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
    ],
)
def test_installing_twice_leaves_one_line(
    tmp_path: Path, shell: str, start: str, line: str
) -> None:
    (tmp_path / start).write_text("alias l=ls\n")
    home = {"SHELL": f"/bin/{shell}", "HOME": str(tmp_path)}

    first = gnomon_process("--install-completion", environment=home)
    second = gnomon_process("--install-completion", environment=home)

    assert (first.code, first.out) == (0, second.out)
    assert (tmp_path / start).read_text() == f"alias l=ls\n{line}\n"


def test_fish_finds_its_script_by_itself(tmp_path: Path) -> None:
    home = {"SHELL": "/usr/bin/fish", "HOME": str(tmp_path)}

    assert gnomon_process("--install-completion", environment=home).code == 0

    (script,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert script == tmp_path / ".config" / "fish" / "completions" / "gnomon.fish"


def test_help_says_what_an_argument_is_and_cuts_no_sentence() -> None:
    assert 'EXPR  A cron expression in quotes, "every DURATION"' in gnomon("next", "--help").out
    for path in ([], ["krontab"], ["workflow"], ["schedule"]):
        lines = gnomon(*path, "--help").lines[1:]
        assert [line for line in lines if line.endswith("...") or len(line) > 80] == []
