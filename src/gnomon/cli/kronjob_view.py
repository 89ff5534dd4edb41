"""
What `gnomon operator import` and `gnomon krontab export` print: KronJobs on standard output, every
difference in meaning on the other; and objects as YAML, without a library.

Documents are read as YAML, as `kubectl get cronjobs -o yaml` prints it, or JSON. What is no CronJob
is left out and said. One document that cannot be taken over keeps no other from being taken. Texts
are written as JSON texts, which YAML reads as they are, and are not folded.

Spec: CRONJOB-6, CRONJOB-7, CRONJOB-9.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gnomon.cli.options import read_file
from gnomon.cli.problem import printable
from gnomon.cli.screen import Json, render_json
from gnomon.core.civil.instant import format_instant
from gnomon.core.civil.zone import load_zone
from gnomon.errors import DefinitionError, MissingExtraError
from gnomon.importers.cronjob import (
    Difference,
    TakenCronJob,
    general_differences,
    take_cronjob,
)
from gnomon.importers.kronjob import ExportedJob, export_job, general_changes
from gnomon.ports.kubernetes_object import text

if TYPE_CHECKING:
    from gnomon.apps.krond.job import Job

__all__ = ["as_yaml", "export_text", "import_text"]


_PLAIN_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*", re.ASCII)
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


class _Answer(NamedTuple):
    """What became of one document or job."""

    name: str
    manifest: Mapping[str, object] | None
    differences: Sequence[Difference]
    error: DefinitionError | None = None
    same: int = 0
    until: int = 0


def import_text(
    files: Sequence[str], *, zone: str, now: int, as_json: bool
) -> tuple[str, str, bool]:
    """Standard output, standard error, and whether everything could be taken over."""
    load_zone(zone, where="--zone")
    answers = [
        answer for file in files for answer in _imported(_text(file), file, zone=zone, now=now)
    ]
    return _said(answers, general_differences(), as_json=as_json)


def export_text(
    jobs: "Sequence[Job]", *, namespace: str, image: str, now: int, as_json: bool
) -> tuple[str, str, bool]:
    """The same for jobs of krontab files."""
    answers, names = [], set[object]()
    for job in jobs:
        answer = _exported(job, namespace=namespace, image=image, now=now)
        named = answer.manifest and answer.manifest["metadata"]
        if answer.manifest is not None and str(named) in names:
            error = DefinitionError(
                "gives a name that another job has",
                where="name",
                got=job.name,
                hint="rename one of the jobs",
            )
            answer = _Answer(job.name, None, (), error)
        names.add(str(named))
        answers.append(answer)
    return _said(answers, general_changes(), as_json=as_json)


def _exported(job: "Job", *, namespace: str, image: str, now: int) -> _Answer:
    try:
        found: ExportedJob = export_job(job, namespace=namespace, image=image, now=now)
    except DefinitionError as error:
        if error.where == "image":
            raise
        return _Answer(job.name, None, (), error)
    return _Answer(job.name, found.manifest, found.differences)


def _imported(given: str, file: str, *, zone: str, now: int) -> Iterator[_Answer]:
    for number, document in enumerate(_documents(given, file), 1):
        metadata = document.get("metadata")
        named = [text(metadata, "namespace"), text(metadata, "name")]
        label = f"{file}: {'/'.join(filter(None, named)) if named[1] else f'document {number}'}"
        if document.get("kind") != "CronJob":
            what = f"{document.get('kind') or 'a document'} is no CronJob, and is left out"
            yield _Answer(label, None, [Difference("kind", what)])
            continue
        try:
            taken: TakenCronJob = take_cronjob(document, controller_zone=zone, now=now)
        except DefinitionError as error:
            yield _Answer(label, None, (), error)
            continue
        fires = taken.fires
        yield _Answer(label, taken.manifest, taken.differences, None, fires.same, fires.until)


def _text(file: str) -> str:
    return sys.stdin.read() if file == "-" else read_file(file).read_text("utf-8")


def _documents(text: str, file: str) -> Iterator[Mapping[str, object]]:
    """The documents of a file, those in a List one by one."""
    try:
        from gnomon.shell.plain_yaml import YAMLError, load_all
    except ImportError as error:
        raise MissingExtraError("reading CronJobs", extra="yaml") from error
    try:
        found = list(load_all(text))
    except YAMLError as error:
        raise DefinitionError(
            f"is no YAML ({' '.join(str(error).split())})",
            where=file,
            got=text[:100],
            hint="write what kubectl get cronjobs -o yaml prints",
        ) from None
    for document in found:
        if document is None:
            continue
        items = document.get("items") if isinstance(document, Mapping) else None
        for one in items if isinstance(items, list) else [document]:
            plain = _plain(one)
            yield plain if isinstance(plain, Mapping) else {}


def _said(
    answers: Sequence[_Answer], general: Sequence[str], *, as_json: bool
) -> tuple[str, str, bool]:
    sound = not any(answer.error for answer in answers)
    manifests = [answer.manifest for answer in answers if answer.manifest is not None]
    if as_json:
        return render_json(_record(answers, general)), "", sound
    said = [f"note: {note}\n" for note in general if manifests]
    for answer in answers:
        said += [
            f"note: {printable(answer.name)}: {one.field}: {printable(one.text)}\n"
            for one in answer.differences
        ]
        if answer.until:
            said.append(
                f"note: {printable(answer.name)}: {answer.same} fires until"
                f" {format_instant(answer.until)} are the same\n"
            )
        if answer.error is not None:
            said.append(f"error: {printable(answer.name)}: {answer.error}\n")
    return as_yaml(*manifests) if manifests else "", "".join(said), sound


def _record(answers: Sequence[_Answer], general: Sequence[str]) -> dict[str, Json]:
    notes: list[Json] = [{"of": None, "field": None, "note": note} for note in general]
    errors: list[Json] = []
    kronjobs: list[Json] = []
    for answer in answers:
        if answer.manifest is not None:
            kronjobs.append(_plain(answer.manifest))
        notes += [
            {"of": answer.name, "field": one.field, "note": one.text} for one in answer.differences
        ]
        if answer.error is not None:
            errors.append({"of": answer.name, "error": str(answer.error)})
    return {"kronjobs": kronjobs, "notes": notes, "errors": errors}


def _plain(value: object) -> Json:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def as_yaml(*documents: object) -> str:
    return "---\n".join("\n".join(_yaml_lines(one, 0)) + "\n" for one in documents)


def _yaml_lines(value: object, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            if isinstance(inner, Mapping | list) and inner:
                yield f"{indent}{_key(str(key))}:"
                yield from _yaml_lines(inner, depth + 1)
            else:
                yield f"{indent}{_key(str(key))}: {_scalar(inner)}"
    elif isinstance(value, list) and value:
        for inner in value:
            first, *rest = _yaml_lines(inner, depth + 1)
            yield f"{indent}- {first.lstrip()}"
            yield from rest
    else:
        yield f"{indent}{_scalar(value)}"


def _key(key: str) -> str:
    plain = _PLAIN_KEY.fullmatch(key) and key.lower() not in _WORDS
    return key if plain else json.dumps(key)


def _scalar(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
