"""
What a command and a group of commands are here: those of click, with help that says everything.

An argument has a sentence of its own, as an option has. A group lists its commands in the order in
which they were added, with whole sentences, and prints its help when no command is named. It may
know of a command only where it is: then the module is imported when the command is called.

Spec: CLI-1, CLI-43.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

import click
from click.decorators import FC

__all__ = ["FC", "PATH", "CliCommand", "CliGroup", "argument"]

PATH = click.Path(path_type=Path)
"""The type of what names a file."""
_SENTENCE_MAX = 1_000
"""Longer than any sentence about a command, so that none is cut."""


class _Argument(click.Argument):
    """An argument with a sentence about it."""

    def __init__(
        self, names: Sequence[str], *, about: str, metavar: str, required: bool, nargs: int,
        type: object,
    ) -> None:  # fmt: skip
        super().__init__(names, required=required, metavar=metavar, nargs=nargs, type=type)
        self.about = about


class CliCommand(click.Command):
    """A command whose help says what its arguments are."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(one.metavar or "", one.about) for one in self.params if isinstance(one, _Argument)]
        if rows:
            with formatter.section("Arguments"):
                formatter.write_dl(rows)
        super().format_options(ctx, formatter)


class CliGroup(click.Group):
    """A group of commands; without the name of one it prints its help."""

    command_class = CliCommand
    later: Mapping[str, str] = MappingProxyType({})
    """The commands that are imported when they are called, by name: `module:attribute`."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.later:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self.later[cmd_name].partition(":")
        found: click.Command = getattr(import_module(module), attribute)
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"No such command '{name}'.{_meant(name, known)}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *self.later]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, one.get_short_help_str(_SENTENCE_MAX)) for name, one in found if one]
            )


def argument(
    name: str, *, metavar: str, help: str, required: bool = True, nargs: int = 1,
    type: object = None,
) -> Callable[[FC], FC]:  # fmt: skip
    """An argument of a command, as `click.argument` makes one, with a sentence about it."""
    return click.argument(
        name, cls=_Argument, about=help, metavar=metavar, required=required, nargs=nargs, type=type
    )


def _meant(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    close = ", ".join(f"'{one}'" for one in get_close_matches(name, known))
    return f" Did you mean {close}?" if close else ""
