"""The specification and the suite name each other: every clause has a test, every mark a clause."""

from collections import Counter

from tests.tidy.matrix import ID, clauses, marks
from tests.tidy.tree import docstring, relative, source_files


def test_every_clause_has_a_test() -> None:
    marked = {mark.id for mark in marks()}

    assert [
        clause.id for clause in clauses() if not clause.retired and clause.id not in marked
    ] == []


def test_every_mark_names_a_clause() -> None:
    live = {clause.id for clause in clauses() if not clause.retired}

    assert [mark for mark in marks() if mark.id not in live] == []


def test_only_tests_carry_marks() -> None:
    names = [mark.test.partition("::")[2] for mark in marks()]

    assert [name for name in names if name and not name.lower().startswith("test")] == []


def test_no_id_is_given_twice_even_after_it_is_retired() -> None:
    counted = Counter(clause.id for clause in clauses())

    assert [identifier for identifier, count in counted.items() if count > 1] == []


def test_each_family_of_ids_stands_on_one_page() -> None:
    pages: dict[str, set[str]] = {}
    for clause in clauses():
        pages.setdefault(clause.id.rstrip("0123456789"), set()).add(clause.page)

    assert {family: found for family, found in pages.items() if len(found) > 1} == {}


def test_a_spec_line_names_clauses_that_exist() -> None:
    known = {clause.id for clause in clauses()}
    named = {
        relative(path): ID.findall(docstring(path).partition("Spec:")[2])
        for path in source_files("src")
    }

    unknown = {path: [one for one in ids if one not in known] for path, ids in named.items()}
    assert {path: ids for path, ids in unknown.items() if ids} == {}
