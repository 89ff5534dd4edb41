"""
Every exception that Gnomon raises.

`root` has those that any part may raise, sorted by who must act. Exceptions that belong to one door
have a module of their own. All of them are imported from here: `from gnomon.errors import ...`.

Spec: ERR-1.
"""

from gnomon.errors.root import (
    DefinitionError,
    FieldParseError,
    GnomonError,
    IncompatibleStateError,
    InvalidCronExpressionError,
    MissingExtraError,
    StoreError,
)

__all__ = [
    "DefinitionError",
    "FieldParseError",
    "GnomonError",
    "IncompatibleStateError",
    "InvalidCronExpressionError",
    "MissingExtraError",
    "StoreError",
]
