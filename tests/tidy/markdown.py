"""What the documentation tests read out of a Markdown page: headings, code, links, examples."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Block", "anchors", "blocks", "code_words", "headings", "links", "sections"]

_FENCE = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) +(.+?) *$", re.MULTILINE)
_CODE_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_WORD = re.compile(r"--?[A-Za-z][\w-]*|[A-Za-z_][\w-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of code."""

    language: str
    text: str
    line: int
    """The number of its first line in the page."""


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(language=found[1], text=found[2], line=text.count("\n", 0, found.start(2)) + 1)
        for found in _FENCE.finditer(text)
    ]


def headings(page: Path) -> list[str]:
    """The headings without their marks and backquotes."""
    return [found[2].replace("`", "") for found in _HEADING.finditer(_prose(page))]


def sections(page: Path) -> Iterator[tuple[str, str]]:
    """Each heading with everything up to the next heading of its level or above."""
    text = page.read_text(encoding="utf-8")
    found = list(_HEADING.finditer(text))
    for number, heading in enumerate(found):
        later = (other.start() for other in found[number + 1 :] if len(other[1]) <= len(heading[1]))
        yield heading[2].replace("`", ""), text[heading.end() : next(later, len(text))]


def code_words(page: Path) -> set[str]:
    """Every name, option or value that stands in code within the prose or in a heading."""
    spans = [*_CODE_SPAN.findall(_prose(page)), *headings(page)]
    return {word for span in spans for word in [span, *_WORD.findall(span)]}


def links(page: Path) -> list[str]:
    """The targets of all links to other pages of the project."""
    found = _LINK.findall(_CODE_SPAN.sub("", _prose(page)))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def anchors(page: Path) -> set[str]:
    """What a link may name after `#`."""
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings(page))
    return {heading.replace(" ", "-") for heading in plain}


def _prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))
