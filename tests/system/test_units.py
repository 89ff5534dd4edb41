"""The units of systemd, read by systemd itself."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.system.packages import provide
from tests.tidy.tree import ROOT

UNITS = sorted((ROOT / "packaging").glob("*.service"))


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_systemd_finds_nothing_wrong_with_a_unit(unit: Path, tmp_path: Path) -> None:
    analyze = provide("systemd-analyze", "systemd")
    text = unit.read_text().replace("%h/.local/bin/gnomon", "/bin/true")
    copy = tmp_path / "krond.service"
    for place in ("/usr/local/bin/gnomon", "/opt/gnomon/bin/gnomon"):
        text = text.replace(place, "/bin/true")
    copy.write_text(text)
    manager = ["--user"] if "user" in unit.name else []

    done = subprocess.run(
        [analyze, "verify", *manager, str(copy)], check=False, capture_output=True, text=True,
        env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)},
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
