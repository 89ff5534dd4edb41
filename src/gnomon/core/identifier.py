"""
What an id may be that people write: of a schedule, a DAG, an owner, a node.

Spec: SERVICE-4.
"""

import re

from gnomon.errors import DefinitionError

__all__ = ["ID", "ID_MAX", "check_id"]

ID_MAX = 200
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", re.ASCII)


def check_id(text: object, *, where: str) -> str:
    """`text` if it can be an id."""
    if not isinstance(text, str) or not ID.fullmatch(text):
        raise DefinitionError(
            "must be 1 to 200 letters, digits, dots, underscores or hyphens", where=where,
            got=text, hint="begin with a letter or digit, e.g. billing.nightly",
        )  # fmt: skip
    return text
