"""Are the mutants what one slip of the hand would have written?"""

from tests.mutants.judge import rooms_of
from tests.mutants.sites import mutants_of

_SOURCE = '''"""A module with 1 number in its docstring."""

__all__ = ["f"]


def f(a: int = 3, *, many: "list[int]") -> int:
    """Nothing is 2 here."""
    assert a > 1
    if a < 10 and not many:
        many.append(a)
    return max(a, 0) + len(f"{a + 1}")
'''


def test_mutants_are_small_changes_of_what_runs() -> None:
    changes = [str(mutant).split(": ", 1)[1] for mutant in mutants_of("m.py", _SOURCE)]
    assert changes == [
        "3  ->  4",
        "a < 10  ->  (a <= 10)",
        "a < 10 and not many  ->  (a < 10 or not many)",
        "10  ->  11",
        "not many  ->  (many)",
        "many.append(a)  ->  pass",
        "max(a, 0)  ->  (min(a, 0))",
        "max(a, 0) + len(f\"{a + 1}\")  ->  (max(a, 0) - len(f'{a + 1}'))",
        "0  ->  1",
    ]


def test_a_mutant_changes_one_place_and_nothing_else() -> None:
    text = "é = 'ü'\nx = 'ä' == é\n"
    (mutant,) = mutants_of("m.py", text)
    assert mutant.applied(text) == "é = 'ü'\nx = ('ä' != é)\n"


def test_the_tests_beside_a_module_are_asked_first() -> None:
    first, second, *_ = rooms_of("src/gnomon/core/cron/search.py")
    assert first == ["tests/core/cron/test_search.py"]
    assert "tests/core/cron/test_days.py" in second
    assert "tests/core/cron/test_search.py" not in second
