"""What has become of an object, in a line for a person who reads the log of a world."""

from collections.abc import Mapping

from gnomon.ports.kubernetes import Kind
from gnomon.simulation.kubernetes.server import Happened, metadata_of
from gnomon.simulation.operator.duty import at, text

__all__ = ["summary"]


def summary(happened: Happened) -> str:
    one, metadata = happened.object, metadata_of(happened.object)
    words = [str(metadata["name"]), f"v{metadata['resourceVersion']}"]
    if happened.kind is Kind.JOB:
        words += [
            str(metadata["uid"])[-4:], text(metadata, "annotations", "gnomon.dev/state"),
            "suspended" if at(one, "spec", "suspend") is True else "",
            "going" if "deletionTimestamp" in metadata else "", *_conditions(one),
        ]  # fmt: skip
        return " ".join(word for word in words if word)
    words += [f"g{metadata['generation']}", f"cursor {_time(text(one, 'status', 'cursor'))}"]
    for name in ("open", "ahead", "active", "recent"):
        listed = at(one, "status", name)
        entries = listed[:3] if isinstance(listed, list) else []
        words.append(f"{name} [{', '.join(_entry(entry) for entry in entries)}]")
    return " ".join([*words, *_conditions(one)])


def _entry(entry: object) -> str:
    if isinstance(entry, str):
        return _time(entry)
    if not isinstance(entry, Mapping):
        return ""
    period = text(entry, "period") or text(entry, "from")
    named = ("outcome", "reason", "result", "uid")
    return " ".join([_time(period), *(text(entry, name)[-12:].lstrip("0") for name in named)])


def _conditions(one: object) -> list[str]:
    found = at(one, "status", "conditions")
    return [
        text(condition, "type")
        for condition in (found if isinstance(found, list) else [])
        if text(condition, "status") == "True"
    ]


def _time(instant: str) -> str:
    return instant[11:19]
