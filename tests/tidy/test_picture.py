"""The picture of the house is what the sources say, and a false one is noticed."""

import re

import pytest

from tests.tidy.picture import FLOORS, PICTURE, draw, uses
from tests.tidy.tree import ROOT


def test_the_picture_is_drawn_from_the_imports_of_today() -> None:
    assert PICTURE.read_text(encoding="utf-8") == draw(uses()), "python -m tests.tidy.picture"


def test_every_room_of_the_sources_has_a_place() -> None:
    placed = {room for rooms in FLOORS.values() for room in rooms}
    house = ROOT / "src" / "gnomon"
    rooms = {
        path.relative_to(house).as_posix()
        for family in (house, house / "apps", house / "shell")
        for path in family.iterdir()
        if (path / "__init__.py").exists() and path.name not in {"apps", "shell"}
    }
    assert rooms <= placed
    assert placed - rooms == {"trace"}, "a module, which both the core and the theory know"


def test_rooms_on_one_floor_are_strangers() -> None:
    """But all may use `observe`, and the worker and the executors the other rooms of the shell."""
    found = uses()
    near = {
        (room, used)
        for rooms in FLOORS.values()
        for room in rooms
        for used in found[room] & set(rooms)
        if used != "shell/observe" and room not in {"shell/worker", "shell/executor"}
    }
    assert near == {("trace", "errors")}


def test_an_import_that_points_up_has_no_place() -> None:
    found = uses()
    found["core"].add("cli")
    with pytest.raises(ValueError, match="core imports what stands above it: cli"):
        draw(found)


def test_a_line_says_only_what_the_rooms_between_do_not() -> None:
    found = {room: set[str]() for rooms in FLOORS.values() for room in rooms}
    found["cli"] = {"compose", "core"}
    found["compose"] = {"core"}
    assert len(re.findall('class="use"', draw(found))) == 2
