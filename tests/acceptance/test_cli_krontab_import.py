"""`gnomon krontab import`, as a person uses it."""

from pathlib import Path

from tests.acceptance.command_line import gnomon
from tests.clauses import clause


@clause("KRONTAB-37")
def test_a_crontab_is_taken_over(tmp_path: Path) -> None:
    crontab = tmp_path / "crontab"
    crontab.write_text("0 2 * * * /bin/true > /dev/null\n@sometimes /bin/true\n")

    done = gnomon("krontab", "import", str(crontab), "--zone", "Europe/Paris")

    assert done.code == 1
    assert done.lines == [
        "0 2 * * * @tz(Europe/Paris) @policy(concurrency=allow,deadline=1m) name=true "
        'command="/bin/true > /dev/null" shell=true',
        "# not taken over: @sometimes /bin/true",
    ]
    assert done.err.startswith("note: times are read in Europe/Paris")
    assert f"error: {crontab}:2:1: schedule: is not a known macro, got '@sometimes'" in done.err
    assert gnomon("krontab", "import", str(crontab), "--json").json.keys() == {
        "krontab", "notes", "errors", "warnings",
    }  # fmt: skip


@clause("KRONTAB-37", "KRONTAB-41")
def test_several_crontabs_become_one_file(tmp_path: Path) -> None:
    folder = tmp_path / "cron.d"
    folder.mkdir()
    (folder / "site").write_text("0 2 * * * www-data /srv/backup\n")
    (folder / "passed.over").write_text("0 2 * * * root /srv/backup\n")
    (tmp_path / "crontab").write_text("17 * * * * root /usr/bin/backup\n")
    files = [str(folder), str(tmp_path / "crontab")]

    done = gnomon("krontab", "import", *files, "--zone", "UTC")

    assert done.code == 0
    assert done.lines == [
        f"# from {folder}/site",
        "0 2 * * * @policy(concurrency=allow,deadline=1m) name=backup command=/srv/backup "
        "shell=true user=www-data",
        f"# from {tmp_path}/crontab",
        "17 * * * * @policy(concurrency=allow,deadline=1m) name=backup-2 command=/usr/bin/backup "
        "shell=true user=root",
    ]
    assert f"note: {tmp_path}/crontab: each line names a user" in done.err


@clause("KRONTAB-41")
def test_whose_crontab_it_is_can_be_told(tmp_path: Path) -> None:
    crontab = tmp_path / "crontab"
    crontab.write_text("0 2 * * * root go\n")

    plain = gnomon("krontab", "import", str(crontab), "--no-system", "--zone", "UTC")
    of_user = gnomon("krontab", "import", str(crontab), "--user", "deploy", "--zone", "UTC")
    both = gnomon("krontab", "import", str(crontab), "--user", "deploy", "--system")

    assert 'command="root go"' in plain.out
    assert "warning" in plain.err
    assert 'command="root go" shell=true user=deploy' in of_user.out
    assert both.code == 1
    assert "leave one of them out" in both.err
