"""
The house as a picture: rooms on floors, drawn from the import graph.

`python -m tests.tidy.picture` writes docs/house.svg; `test_picture` fails when it is not what the
sources say. A line means that a room uses another, unless rooms between the two say so already. An
import that points up has no place in the picture and is an error.
"""

import ast
import sys
from collections.abc import Iterable
from html import escape

from tests.tidy.tree import ROOT, parse, source_files

__all__ = ["FLOORS", "PICTURE", "draw", "uses"]

PICTURE = ROOT / "docs" / "house.svg"

FLOORS = {
    "what people type": ["cli"],
    "one process, put together": ["compose"],
    "more ways to look and to try": ["importers", "simulation"],
    "doors": [
        "apps/declarative", "apps/run", "apps/krond", "apps/service", "apps/operator",
        "apps/workflow",
    ],
    "all that touches the world": [
        "shell/worker", "shell/store", "shell/launcher", "shell/executor", "shell/http",
        "shell/kubernetes", "shell/observe", "batch",
    ],
    "contracts": ["ports"],
    "decides, and judges": ["core", "theory"],
    "words of both": ["trace", "errors"],
}  # fmt: skip
"""From the roof to the ground."""

_NAMES = {"testing": "simulation", "workflow": "apps/workflow"}
"""Public modules that are a short cut to a room."""
_FAMILIES = ("apps", "shell")
_WIDTH, _ROW, _TOP, _LEFT = 1060, 92, 24, 190
_BOX, _GAP, _HIGH = 98, 8, 38
_STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f; text-anchor: middle }
  .floor { font-size: 12px; fill: #6e7781; text-anchor: start }
  .room { fill: #f6f8fa; stroke: #8c959f }
  .use { fill: none; stroke: #0969da; stroke-opacity: .35 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .floor { fill: #9198a1 }
    .room { fill: #151b23; stroke: #656c76 } .use { stroke: #4493f8; stroke-opacity: .45 }
  }
"""


def uses() -> dict[str, set[str]]:
    """Which rooms each room imports."""
    found: dict[str, set[str]] = {room: set() for rooms in FLOORS.values() for room in rooms}
    for path in source_files("src/gnomon"):
        parts = path.relative_to(ROOT / "src" / "gnomon").with_suffix("").parts
        room = _room(parts)
        if room is None:
            continue
        wanted = {_room(name) for name in _imported(parse(path))}
        found[room] |= {one for one in wanted if one is not None and one != room}
    return found


def draw(found: dict[str, set[str]]) -> str:
    """The picture as SVG."""
    places = _places()
    lines = [
        f'  <path class="use" d="{_curve(places[room], places[used])}"/>'
        for room in places
        for used in sorted(_directly(found, room), key=list(places).index)
    ]
    boxes = [
        f'  <rect class="room" x="{x}" y="{y}" width="{_BOX}" height="{_HIGH}" rx="6"/>'
        f'<text x="{x + _BOX // 2}" y="{y + 24}">{escape(room.split("/")[-1])}</text>'
        for room, (x, y) in places.items()
    ]
    names = [
        f'  <text class="floor" x="8" y="{_TOP + row * _ROW + 24}">{escape(name)}</text>'
        for row, name in enumerate(FLOORS)
    ]
    size = f"{_WIDTH} {_TOP + len(FLOORS) * _ROW - 20}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" role="img">'
    title = "  <title>The rooms of Gnomon, floor by floor; lines show which uses which</title>"
    style = f"  <style>{_STYLE}  </style>"
    return "\n".join([head, title, style, *lines, *boxes, *names, "</svg>", ""])


def _room(parts: Iterable[str]) -> str | None:
    """The room of a module by the parts of its name; None for the public surface."""
    family, *rest = [*parts, ""]
    if family in {"", "__init__", "__main__"}:
        return None
    if family in _NAMES:
        return _NAMES[family]
    if family not in _FAMILIES:
        return family
    rooms = {room.split("/")[1] for floor in FLOORS.values() for room in floor if "/" in room}
    return f"{family}/{rest[0]}" if rest[0] in rooms else None  # what is loose serves all rooms


def _imported(module: ast.Module) -> list[list[str]]:
    names = []
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names += [f"{node.module}.{one.name}" for one in node.names]
        elif isinstance(node, ast.Import):
            names += [one.name for one in node.names]
    return [name.split(".")[1:] for name in names if name.startswith("gnomon.")]


def _directly(found: dict[str, set[str]], room: str) -> set[str]:
    """What a room uses, but for what the rooms that it uses do."""
    order = {name: row for row, rooms in enumerate(FLOORS.values()) for name in rooms}
    if above := [used for used in found[room] if order[used] < order[room]]:
        raise ValueError(f"{room} imports what stands above it: {', '.join(sorted(above))}")
    beyond = set[str]()
    for used in found[room]:
        beyond |= _reach(found, used) - {used}
    return found[room] - beyond


def _reach(found: dict[str, set[str]], room: str) -> set[str]:
    seen, left = {room}, [room]
    while left:
        new = found[left.pop()] - seen
        seen |= new
        left += new
    return seen


def _places() -> dict[str, tuple[int, int]]:
    places = {}
    for row, rooms in enumerate(FLOORS.values()):
        long = len(rooms) * (_BOX + _GAP) - _GAP
        left = _LEFT + (_WIDTH - _LEFT - long) // 2
        for number, room in enumerate(rooms):
            places[room] = left + number * (_BOX + _GAP), _TOP + row * _ROW
    return places


def _curve(above: tuple[int, int], below: tuple[int, int]) -> str:
    x, y = above[0] + _BOX // 2, above[1] + _HIGH
    to, end = below[0] + _BOX // 2, below[1]
    if above[1] == below[1]:  # neighbours on one floor: from under the one to under the other
        return f"M{x},{y} C{x},{y + 24} {to},{y + 24} {to},{y}"
    half = (end - y) // 2
    return f"M{x},{y} C{x},{y + half} {to},{end - half} {to},{end}"


if __name__ == "__main__":
    PICTURE.write_text(draw(uses()), encoding="utf-8")
    sys.stdout.write(f"written: {PICTURE.relative_to(ROOT)}\n")
