"""The commands about krontab files show each job with the defaults of its file."""

from pathlib import Path

import pytest

from tests.acceptance.command_line import gnomon
from tests.clauses import clause

SITE = (
    "@defaults  @tz(Europe/Paris) @policy(deadline=10m) mail=root env=MODE=prod\n"
    "0 2 * * * name=a command=/bin/true\n"
    "0 2 * * * @tz(UTC) @policy(deadline=10m,suspend=false) name=b command=/bin/true mail=\n"
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    file = tmp_path / "site"
    file.write_text(SITE)
    return file


@clause("KRONTAB-48", "KRONTAB-33")
def test_explain_and_next_show_what_the_file_says(site: Path) -> None:
    one = gnomon("krontab", "explain", "a", "--file", str(site)).out
    other = gnomon("krontab", "explain", "b", "--file", str(site)).out
    first = gnomon("krontab", "next", "a", "--file", str(site), "--count", "1").out

    for words in ("zone          Europe/Paris", "up to 10m after", "tells         root", "MODE"):
        assert words in one
    assert "zone          UTC" in other
    assert "tells" not in other
    assert "2026-03-29T01:00:00Z" in first  # 02:00 in Paris, which does not exist that night


@clause("KRONTAB-48", "KRONTAB-31")
def test_lint_and_export_read_the_defaults_too(site: Path) -> None:
    fine = gnomon("krontab", "lint", str(site))
    exported = gnomon(
        "krontab", "export", "a", "--file", str(site), "--kubernetes", "--image", "busybox"
    )
    site.write_text(SITE.replace("Europe/Paris", "Mars/Olympus"))
    wrong = gnomon("krontab", "lint", str(site))

    assert (fine.code, fine.out) == (0, f"OK: {site} (2 jobs)\n")
    assert "Europe/Paris" in exported.out
    assert wrong.out.count("error: ") == 1
    assert wrong.lines[0] == (
        f"error: {site}:1:16: @tz: must be a zone of the IANA database, got 'Mars/Olympus'"
    )


@clause("KRONTAB-50", "KRONTAB-26")
def test_format_keeps_the_defaults_and_the_jobs_do_not_repeat_them(site: Path) -> None:
    assert gnomon("krontab", "format", str(site)).lines == [
        "@defaults @tz(Europe/Paris) @policy(deadline=10m) mail=root env=MODE=prod",
        "0 2 * * * name=a command=/bin/true",
        '0 2 * * * @tz(UTC) name=b command=/bin/true mail=""',
    ]
