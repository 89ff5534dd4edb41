"""
The options of `gnomon schedule`, and how they become the body of a request.

A definition comes from options, from a file, or from both; an option goes before the file. Fields
that have no option of their own are written `--set name=value`; null is nothing, and a value is a
number where the field is one.

Spec: CLIENT-5.
"""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path

import click

from gnomon.cli.click_parts import PATH, argument
from gnomon.errors import DefinitionError

__all__ = [
    "catchup_option",
    "cron_option",
    "dag_option",
    "dag_version_option",
    "definition",
    "definitions",
    "fields_file_option",
    "id_argument",
    "id_option",
    "overlap_option",
    "read_params",
    "read_text",
    "reason_option",
    "set_option",
    "token_file_option",
    "until_option",
    "url_option",
    "user_option",
    "yes_option",
    "zone_field_option",
]

BYTES_MAX = 64_000_000
DEFINITIONS_MAX = 100_000
NUMBERS = ("version", "jitter_ms", "launches_max")
"""The fields of an upsert that are numbers; everything else is text."""

url_option = click.option(
    "--url", metavar="URL", help="The service; left out, GNOMON_URL or loopback."
)
token_file_option = click.option(
    "--token-file", type=PATH, metavar="PATH", help="A file with a token; left out, .gnomon/token."
)
id_argument = argument("schedule_id", metavar="ID", help="The id of a schedule.")
id_option = click.option(
    "--id", "schedule_id", metavar="ID", help="Left out, derived from the DAG."
)
dag_option = click.option("--dag", metavar="ID", help="The DAG that is started.")
dag_version_option = click.option("--dag-version", type=int, metavar="N", help="Its version.")
user_option = click.option("--user", metavar="ID", help="The user_id that it belongs to.")
cron_option = click.option("--cron", metavar="EXPR", help="A cron expression in quotes.")
zone_field_option = click.option("--zone", metavar="ZONE", help="A zone of the IANA database.")
overlap_option = click.option("--overlap", metavar="POLICY", help="allow, skip, queue or replace.")
catchup_option = click.option(
    "--catchup", metavar="POLICY", help="none, latest, fire_immediately or spread."
)
set_option = click.option(
    "--set", "fields", multiple=True, metavar="NAME=VALUE", help="Any other field; may be repeated."
)
fields_file_option = click.option(
    "--file", type=PATH, metavar="PATH", help="The fields as JSON or TOML; - for input."
)
reason_option = click.option(
    "--reason", default="", show_default=False, metavar="TEXT", help="Why; for the audit log."
)
until_option = click.option("--until", metavar="INSTANT", help="RFC 3339; left out, for good.")
yes_option = click.option(
    "--yes", is_flag=True, help="Do it; left out, only say what would be done."
)


def definition(
    file: Path | None, sets: Sequence[str], **fields: str | int | None
) -> dict[str, object]:
    """The body of an upsert."""
    found = dict(_one(definitions(file), file)) if file is not None else {}
    for text in sets:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise DefinitionError("must be NAME=VALUE", where="set", got=text)
        found[name] = _value(name, value)
    return found | {name: value for name, value in fields.items() if value is not None}


def definitions(file: Path) -> list[dict[str, object]]:
    """Every definition of a file: an object or a list in JSON, or tables `schedule` in TOML."""
    text = read_text(file, most=BYTES_MAX)
    try:
        found: object = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "TOML" if file.suffix == ".toml" else "JSON"
        raise DefinitionError(f"must be {kind} ({error})", where=str(file), got=text[:40]) from None
    if isinstance(found, dict) and "schedule" in found:
        found = found["schedule"]
    items = found if isinstance(found, list) else [found]
    tables = [one for one in items if isinstance(one, dict)]
    if not items or len(tables) != len(items):
        raise DefinitionError(
            "must hold one schedule or a list of them",
            where=str(file),
            got=text[:40],
            hint='write [[schedule]] in TOML, or [{"workflow_id": ...}] in JSON',
        )
    if len(items) > DEFINITIONS_MAX:
        raise DefinitionError(
            f"must hold at most {DEFINITIONS_MAX} schedules",
            where=str(file),
            got=len(items),
            hint="split it",
        )
    return [{name: _plain(value) for name, value in one.items()} for one in tables]


def _one(found: list[dict[str, object]], file: Path) -> dict[str, object]:
    if len(found) != 1:
        raise DefinitionError(
            "must hold one schedule",
            where=str(file),
            got=len(found),
            hint="use gnomon schedule import for many",
        )
    return found[0]


def read_text(file: Path, *, most: int) -> str:
    """The text of a file, `-` for standard input, of so many bytes at most."""
    with (Path("/dev/stdin") if str(file) == "-" else file).open("rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise DefinitionError(
            f"must have at most {most} bytes", where=str(file), got="more", hint="split it"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DefinitionError(f"must be UTF-8 ({error})", where=str(file), got=data[:40]) from None


def read_params(text: str) -> object:
    """The object of JSON that an option holds; the service says whether it can be meant."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DefinitionError(
            f"must be JSON ({error})", where="params", got=text[:40],
            hint="""write e.g. '{"region": "north"}'""",
        ) from None  # fmt: skip


def _value(name: str, text: str) -> object:
    if text == "null":
        return None
    if name == "params":
        return read_params(text)
    try:
        return int(text) if name in NUMBERS and text.isascii() else text
    except ValueError:
        return text  # the service says what is wrong with it


def _plain(value: object) -> object:
    """Instants of TOML become the texts that requests have."""
    isoformat = getattr(value, "isoformat", None)
    return str(isoformat()).replace("+00:00", "Z") if isoformat is not None else value
