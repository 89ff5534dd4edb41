"""Krontab files from the disk: which count, which are refused, and what this machine lacks."""

import os
from pathlib import Path

import pytest

from gnomon.apps.krond.files import krontab_files, load, load_file, load_jobs, on_host
from gnomon.apps.krond.krontab.render import render_line
from gnomon.apps.krond.machine_check import examine
from gnomon.errors import KrontabError
from tests.apps.krond.krontab.reading import job, read
from tests.clauses import clause

A = "0 2 * * * name=a command=/bin/a\n"
NOBODY = 65534


@clause("KRONTAB-21")
def test_a_directory_stands_for_the_files_that_can_be_meant(tmp_path: Path) -> None:
    names = (
        "site", "10-b.kron", "a_b.krontab", "c.yaml", "d.yml",
        ".hidden", "site~", "site.bak", "b.kron.dpkg-old", "#site#", "README.md",
    )  # fmt: skip
    for name in names:
        (tmp_path / name).write_text("")
    (tmp_path / "folder").mkdir()

    found = [file.name for file in krontab_files(tmp_path)]

    assert found == ["10-b.kron", "a_b.krontab", "c.yaml", "d.yml", "site"]


@clause("KRONTAB-1", "KRONTAB-21")
def test_jobs_are_known_by_the_absolute_path_and_a_file_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").write_text(A)
    monkeypatch.chdir(tmp_path)

    (job,) = load_jobs([Path("site"), tmp_path, Path("./site")])

    assert job.identity == f"{tmp_path}/site:a"


@clause("KRONTAB-22")
@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        (0o646, "can be written by everybody"),
        (0o664, "can be written by a group that is not krond's"),
    ],
)
def test_a_file_that_others_can_write_to_is_refused(tmp_path: Path, mode: int, reason: str) -> None:
    file = tmp_path / "site"
    file.write_text(A)
    if os.geteuid() == 0:
        os.chown(file, 0, NOBODY)
    elif mode == 0o664:
        pytest.skip("only root can give a file to another group")
    file.chmod(mode)

    (problem,) = load_file(file).problems

    assert problem.message == f"file: {reason}"
    assert load_file(file).jobs == ()


@clause("KRONTAB-22")
def test_a_krontab_of_another_user_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        file = Path("/etc/hostname")  # root's, which is trusted
        assert not any("another user" in one.message for one in load_file(file).problems)
        return
    file = tmp_path / "site"
    file.write_text(A)
    os.chown(file, NOBODY, 0)

    assert [one.message for one in load_file(file).problems] == ["file: belongs to another user"]


@clause("KRONTAB-22")
def test_a_file_that_everybody_could_replace_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "open" / "site"
    file.parent.mkdir()
    file.write_text(A)
    file.parent.chmod(0o777)

    assert [one.message for one in load_file(file).problems] == [
        "file: is in a directory that everybody can write to"
    ]
    file.parent.chmod(0o1777)
    assert load_file(file).problems == ()


@clause("KRONTAB-22")
def test_a_pipe_and_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "latin").write_bytes(A.encode() + "# ä".encode() + b"\xe4")

    found = [*load_file(tmp_path / "pipe").problems, *load_file(tmp_path / "latin").problems]

    assert [f"{one.line}:{one.column}: {one.message}" for one in found] == [
        "1:1: file: is no regular file",
        "2:4: file: is not text in UTF-8, got 'byte 0xe4'",
    ]


@clause("KRONTAB-23")
def test_every_error_of_all_files_is_told_and_nothing_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(A)
    (tmp_path / "b").write_text("0 2 * * * @win(after,2x) name=b command=/bin/b\n")
    (tmp_path / "c").write_text("# a comment\n0 2 * * * name=c\n")

    with pytest.raises(KrontabError) as raised:
        load_jobs([tmp_path])

    assert raised.value.count == 2
    assert raised.value.report == (
        f"error: {tmp_path}/b:1:22: @win: must be a duration, got '2x'\n"
        "  0 2 * * * @win(after,2x) name=b command=/bin/b\n"
        "                       ^\n"
        "hint: write e.g. 90s, 15m, 1h30m or 500ms\n"
        f"error: {tmp_path}/c:2:1: command: is missing\n"
        "  0 2 * * * name=c\n"
        "  ^\n"
        "hint: write e.g. command=/usr/bin/backup\n"
    )
    assert str(raised.value) == (
        f"{tmp_path}/b:1:22: @win: must be a duration, got '2x' (and 1 more)"
    )


@clause("KRONTAB-23")
def test_no_jobs_and_no_file_are_errors(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("# nothing\n")

    with pytest.raises(KrontabError, match="has no jobs"):
        load_jobs([tmp_path])
    with pytest.raises(KrontabError) as missing:
        load_jobs([tmp_path / "missing"])
    assert missing.value.report == (
        f"error: {tmp_path}/missing: No such file or directory\n"
        "hint: name krontab files, or directories of them\n"
    )
    assert load([tmp_path]).jobs == []


@clause("KRONTAB-24")
def test_what_this_machine_lacks_is_a_warning(tmp_path: Path) -> None:
    text = (
        "0 2 * * * name=a command=/bin/no-such-program cwd=/no/such/place "
        "user=no-such-user group=no-such-group\n"
        "0 2 * * * name=b command=sh\n"
        "0 2 * * * name=c command=sh env=PATH=/no/such/place\n"
    )

    found = examine(read(text))

    expected = [
        "1:71: user: is not known on this machine, got 'no-such-user'",
        "1:90: group: is not known on this machine, got 'no-such-group'",
        "1:51: cwd: is no directory on this machine, got '/no/such/place'",
        "1:26: command: is no program on this machine, got '/bin/no-such-program'",
        "3:26: command: is no program on this machine, got 'sh'",
    ]
    if os.geteuid() != 0:
        expected.insert(2, "1:71: user: can be had by root only, got 'no-such-user'")
    assert [f"{one.line}:{one.column}: {one.message}" for one in found] == expected


LINE = "0 2 * * * @win(after,1h) @seed(stable,salt={salt}) name=a command=/bin/a"


@clause("KRONTAB-44")
@pytest.mark.parametrize(
    ("salt", "on_db1"),
    [("%H", "db1"), ("x-%H.%H", "x-db1.db1"), ("%%H", "%H"), ("50%", "50%"), ("%d", "%d")],
)
def test_a_salt_names_the_machine(salt: str, on_db1: str) -> None:
    found = job(LINE.format(salt=salt))

    assert on_host(found, "db1").schedule.decider.salt == on_db1
    assert f"salt={salt}" in render_line(found)


@clause("KRONTAB-44")
def test_two_machines_have_seconds_of_their_own() -> None:
    found = job(LINE.format(salt="%H"))
    nominal = 1_772_330_400

    seconds = {on_host(found, f"db{n}").schedule.decider.choose(nominal) for n in range(50)}

    assert len(seconds) > 45


@clause("KRONTAB-44")
def test_a_file_that_is_loaded_is_that_of_this_machine(tmp_path: Path) -> None:
    file = tmp_path / "jobs"
    file.write_text(LINE.format(salt="%H") + "\n")
    file.chmod(0o644)

    (found,) = load_jobs([file])

    assert found.schedule.decider.salt == os.uname().nodename
