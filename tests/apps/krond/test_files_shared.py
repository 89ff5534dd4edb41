"""Two kronds of one krontab file know of each other, by locks that end with their processes."""

import logging
from pathlib import Path
from random import Random

import pytest

from gnomon.apps.krond.files import FILES_MAX, OtherKronds
from tests.clauses import clause

SEEDS, STEPS = 20, 40


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The files that were warned of since the last time."""
    found = [str(vars(one)["fields"]["file"]) for one in caplog.records]
    caplog.clear()
    return found


@clause("KROND-39")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_whatever_kronds_do_those_with_one_file_are_told(
    seed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    dice = Random(seed)
    files = [str(tmp_path / name) for name in ("a", "b", "c")]
    for file in files:
        Path(file).touch()
    kronds, holders, known = [OtherKronds() for _ in range(3)], dict[str, int](), [set[str]()] * 3
    for _ in range(STEPS):
        number = dice.randrange(3)
        if dice.random() < 0.2:
            kronds[number].close()
            kronds[number], wanted, known[number] = OtherKronds(), set[str](), set()
        else:
            wanted = set(dice.sample(files, dice.randrange(1, 4)))
            kronds[number].look(wanted)
        for file in files:
            if holders.get(file) == number and file not in wanted:
                del holders[file]
        taken = {file for file in wanted if holders.setdefault(file, number) != number}
        assert told(caplog) == sorted(taken - known[number])
        known[number] = taken
    for krond in kronds:
        krond.close()


@clause("KROND-39")
def test_a_file_that_was_replaced_is_another_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file, spare = tmp_path / "jobs", tmp_path / "spare"
    file.touch()
    one, other = OtherKronds(), OtherKronds()
    one.look([str(file)])
    spare.touch()
    spare.rename(file)

    one.look([str(file)])
    other.look([str(file)])

    assert told(caplog) == [str(file)]
    one.close()
    other.look([str(file)])
    assert told(caplog) == []
    other.close()


@clause("KROND-39")
def test_what_cannot_be_locked_is_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = [str(tmp_path / f"{number:04}") for number in range(FILES_MAX + 1)]
    Path(files[-1]).touch()
    one, other = OtherKronds(), OtherKronds()

    one.look(files)
    other.look(files)

    assert told(caplog) == []
    one.close()
    other.close()
