"""
What must not be said aloud? A password in what reads like the address of a database.

The code that receives a mistyped address takes it for a file, a host or nothing at all, and quotes
it in an error. So every error of the command line goes through here. It hides rather too much than
too little.

Spec: PG-9, CLI-60.
"""

import re

__all__ = ["discreet"]

_NAMED = re.compile(
    r"(?i)\b((?:ssl)?password|passfile|passwd|pwd)(\s*[=:]\s*)(?:'[^']*'|[^&\s;,]+)"
)
_PORT = r"(?!\d{1,5}(?:[/?,'\"\s]|$))"
_OF_SCHEME = re.compile(
    rf"(?i)((?:\bpostgres\w*+|\b\w++(?=://))(?>[:/]{{0,3}})[^:@'\"\n]{{0,64}}?):{_PORT}[^'\"\n]*@"
)
_WITHOUT_END = re.compile(
    rf"(?i)(\bpostgres\w*+(?>[:/]{{1,3}})[^:@'\"\n]{{0,64}}?):{_PORT}[^\s'\"]+"
)
_BARE = re.compile(r":[^\s/@'\"]+@(?=[\w.-]+[:/])")


def discreet(text: str) -> str:
    """The text without what reads like a password in an address."""
    text = _NAMED.sub(r"\1\2***", text)
    text = _OF_SCHEME.sub(r"\1:***@", text)
    text = _WITHOUT_END.sub(r"\1:***", text)
    return _BARE.sub(":***@", text)
