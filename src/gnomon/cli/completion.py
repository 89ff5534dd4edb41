"""
Completion for shells: which words may follow, by click's own scripts for bash, zsh and fish.

The shell is the one that the variable SHELL names. Installing writes the script below the home of
the user, and for bash and zsh a line into the file that the shell reads at its start.
"""

from pathlib import Path

import click
from click.shell_completion import get_completion_class

from gnomon.errors import DefinitionError
from gnomon.shell.settings import environment

__all__ = ["completion_script", "install_completion"]

_PROGRAM, _VARIABLE = "gnomon", "_GNOMON_COMPLETE"
_SCRIPTS = {
    "bash": Path(".bash_completions", "gnomon.sh"),
    "zsh": Path(".zfunc", "_gnomon"),
    "fish": Path(".config", "fish", "completions", "gnomon.fish"),
}
"""For each shell where its script lies, below the home of the user."""
_STARTS = {
    "bash": (".bashrc", "source ~/.bash_completions/gnomon.sh"),
    "zsh": (".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
}
"""The file that a shell reads at its start, and the line that it needs; fish finds its scripts."""


def completion_script(program: click.Command) -> str:
    """What the shell of the user has to read."""
    found = get_completion_class(_shell())
    assert found is not None
    return found(program, {}, _PROGRAM, _VARIABLE).source().rstrip("\n") + "\n"


def install_completion(program: click.Command) -> str:
    """Write the script where the shell of the user reads it, and say so."""
    shell, home = _shell(), Path.home()
    script = home / _SCRIPTS[shell]
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(completion_script(program), encoding="utf-8")
    if shell in _STARTS:
        name, line = _STARTS[shell]
        start = home / name
        text = start.read_text(encoding="utf-8") if start.exists() else ""
        if line not in text.splitlines():
            start.write_text(f"{text.rstrip()}\n{line}\n".lstrip(), encoding="utf-8")
    return f"{shell} completion installed in {script}; it works once the shell is started again\n"


def _shell() -> str:
    path = environment().get("SHELL", "")
    name = Path(path).name
    if name in _SCRIPTS:
        return name
    raise DefinitionError(
        "must name a shell that has completion",
        where="SHELL",
        got=path,
        hint=f"set it to the path of one of {', '.join(_SCRIPTS)}",
    )
