"""The public surface as its users meet it: missing extras, and recurrences as values."""

import copy
import pickle
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon
from gnomon import Recurrence
from tests.clauses import clause


def each_kind() -> list[Recurrence]:
    """One recurrence of every kind, made anew on every call."""
    start_at = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        gnomon.cron("30 2 * * mon-fri", zone="Europe/Riga", dst="civil"),
        gnomon.cron("30 2 * * 1-5", zone="Europe/Riga", dialect="posix"),
        gnomon.every("15m", anchor=start_at),
        gnomon.once("2026-03-29T01:00:00Z"),
        gnomon.cron("@daily").bounded(start_at=start_at),
    ]


@clause("API-3")
def test_batch_without_numpy_says_which_extra_to_install() -> None:
    shown = _run(
        """
import sys
sys.modules["numpy"] = None  # as if it were not installed
from gnomon.errors import MissingExtraError
try:
    from gnomon.batch import next_epochs
    next_epochs([], 0)
except MissingExtraError as error:
    print(error)
"""
    )

    assert 'pip install "gnomon[fast]"' in shown


@clause("API-5")
def test_every_public_name_can_be_found() -> None:
    shown = _run("import gnomon; print(*dir(gnomon)); print(gnomon.__version__); help(gnomon)")
    names, installed, *page = shown.splitlines()

    assert set(gnomon.__all__) | {"__version__"} <= set(names.split())
    assert installed == version("gnomon")
    assert any(line.startswith("    class Scheduler(") for line in page)


@clause("API-4")
def test_recurrences_made_from_the_same_definition_are_equal_and_hash_alike() -> None:
    assert each_kind() == each_kind()
    assert [hash(one) for one in each_kind()] == [hash(other) for other in each_kind()]


@clause("API-4")
def test_recurrences_made_from_different_definitions_differ() -> None:
    assert len(set(each_kind())) == 5


@clause("API-4")
@pytest.mark.parametrize(
    "part", [{"zone": "Europe/Berlin"}, {"dialect": "posix"}, {"dst": "strict"}]
)
def test_zone_dialect_and_policy_are_parts_of_the_definition(part: dict[str, str]) -> None:
    assert gnomon.cron("0 3 * * *", **part) != gnomon.cron("0 3 * * *")


@clause("API-4")
@pytest.mark.parametrize("number", range(5))
def test_a_recurrence_survives_copying_and_pickling(number: int) -> None:
    recurrence = each_kind()[number]

    copies = [
        copy.copy(recurrence),
        copy.deepcopy(recurrence),
        pickle.loads(pickle.dumps(recurrence)),
    ]

    assert copies == [recurrence] * 3
    assert {hash(one) for one in copies} == {hash(recurrence)}


@clause("API-4")
@given(number=st.integers(0, 4), after=st.integers(-(10**10), 10**10))
def test_a_copy_answers_as_the_original_does(number: int, after: int) -> None:
    recurrence = each_kind()[number]
    recurrence.next_epoch(0)  # so that whatever it remembers is there to be copied

    restored = pickle.loads(pickle.dumps(recurrence))

    assert restored.next_epoch(after) == recurrence.next_epoch(after)


@clause("API-4")
def test_a_recurrence_cannot_be_changed() -> None:
    recurrence = gnomon.every("15m")

    with pytest.raises(AttributeError):
        recurrence.interval = 60  # type: ignore[misc]


def _run(code: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
