"""What is said about a program that is not there names a way to it, by how it was named."""

from pathlib import Path

from gnomon.shell.launcher.command import find_program, missing_program_hint
from tests.clauses import clause

PLACE = "/no/such/place"


@clause("LAUNCH-14")
def test_a_path_is_not_told_to_be_a_path(tmp_path: Path) -> None:
    for name, program in [("/opt/none", "/opt/none"), ("bin/none", f"{tmp_path}/bin/none")]:
        hint = missing_program_hint(name, cwd=str(tmp_path), path=PLACE)

        assert hint == f"install it there, or write where it is; there is no {program}"


@clause("LAUNCH-14")
def test_a_name_is_looked_for_in_the_path_that_is_told(tmp_path: Path) -> None:
    assert missing_program_hint("none", cwd=str(tmp_path), path=PLACE) == (
        f"install it, or write its full path; PATH is {PLACE}"
    )


@clause("LAUNCH-14")
def test_after_what_the_hint_says_the_program_is_found(tmp_path: Path) -> None:
    program, cwd = tmp_path / "job", str(tmp_path)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o600)
    assert find_program("./job", cwd=cwd, path=PLACE) is None

    assert missing_program_hint("./job", cwd=cwd, path=PLACE) == (
        f"let its user run it: chmod +x {program}"
    )
    program.chmod(0o700)
    assert find_program("./job", cwd=cwd, path=PLACE) == str(program)
