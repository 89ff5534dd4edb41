"""
How does the service look to a person with a browser? One page, without scripts.

Everything on it is escaped, and its content security policy allows the one style sheet that stands
in it, by its hash, and nothing else.

Spec: HTTP-24.
"""

import base64
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, StrictUndefined

__all__ = ["POLICY", "render_status"]

_PAGES = files("gnomon.apps.service.http") / "pages"
_STYLE = (_PAGES / "status.css").read_text(encoding="utf-8")
_HASH = base64.b64encode(sha256(_STYLE.encode()).digest()).decode("ascii")

POLICY = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'"
)
"""What the browser may do with the page."""

_TEMPLATES = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
_STATUS = _TEMPLATES.from_string((_PAGES / "status.html").read_text(encoding="utf-8"))


def render_status(facts: Mapping[str, object]) -> str:
    """The page for these facts."""
    return _STATUS.render(facts, style=_STYLE)
