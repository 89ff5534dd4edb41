"""Jobs that run at boot, as a person sees them."""

from pathlib import Path

from tests.acceptance.command_line import gnomon
from tests.clauses import clause


@clause("KRONTAB-52")
def test_a_job_at_boot_is_at_boot(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.write_text("0 2 * * * name=a command=/bin/true\n@reboot name=b command=/bin/true\n")

    shown = gnomon("krontab", "next", "--file", str(site)).lines
    alone = gnomon("krontab", "next", "b", "--file", str(site)).lines
    record = gnomon("krontab", "next", "b", "--file", str(site), "--json").json
    told = gnomon("krontab", "explain", "b", "--file", str(site))

    assert shown[1].startswith("1  a    2026-03-29 02:00:00 +00:00")
    assert shown[2] == "-  b    at boot"
    assert alone[1:] == ["-  b    at boot"]
    assert (record["decisions"], record["atBoot"]) == ([], True)
    assert told.lines[0] == "b: At each boot of the machine"
    assert "allowed up to 5m after krond has seen the boot, then missed" in told.out
    assert told.lines[-1] == "It runs once when krond starts for the first time after a boot."
    assert gnomon("krontab", "explain", "b", "--file", str(site), "--json").json == {
        "job": "b", "identity": f"{site}:b", "periodId": None,
    }  # fmt: skip


@clause("CRONJOB-10")
def test_an_export_names_a_job_at_boot_and_says_what_to_write(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.write_text("0 2 * * * name=a command=/bin/true\n@reboot name=b command=/bin/true\n")

    done = gnomon("krontab", "export", "--kubernetes", "--image", "tools:1", "--file", str(site))

    assert done.code == 1
    assert 'kind: "KronJob"' in done.out
    assert "b: schedule: runs at boot, and a KronJob at times only, got '@reboot'" in done.err
    assert "or write a DaemonSet: its pods start with each node" in done.err
