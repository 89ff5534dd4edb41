"""
Is a text the name of a file, or an address that was mistyped?

What a program gives as its store is a file or the URL of a database. A URL with a slip reads like a
file, and its password would stand in the name of that file, in errors of the system and in
tracebacks. So what reads like an address with a password is never opened as a file. Whether the
file is there is not asked here.

Spec: CLI-60.
"""

from gnomon.errors import DefinitionError
from gnomon.errors.discretion import discreet

__all__ = ["check_file_name"]


def check_file_name(text: str) -> None:
    """Refuse what reads like an address, without saying its password."""
    said = discreet(text)
    if said != text:
        raise DefinitionError(
            "reads like an address, and is no URL of a PostgreSQL database", where="store",
            got=said, hint="write e.g. postgresql://user@host:5432/database, or the path of a file",
        )  # fmt: skip
