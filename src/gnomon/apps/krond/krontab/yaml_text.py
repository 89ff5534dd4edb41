"""
A krontab file in YAML becomes drafts.

It is a mapping with a list, `jobs`, of mappings with the names that lines have too, and, if wanted,
with a mapping of what holds for all of them:

    defaults:
      tz: Europe/Paris
    jobs:
      - name: backup
        schedule: 0 2 * * *
        win: after,1h
        command: [/usr/bin/backup, --full]

Every value is taken as the text that stands there, so that `0027`, `no` and `1:30` are what they
look like. A modifier may also be written in parts, as a list or a mapping, `command` as a list of
words and `env` as a mapping. There are no aliases and no tags, and no key stands twice.

Needs the extra `yaml`.

Spec: KRONTAB-18, KRONTAB-48.
"""

from collections.abc import Iterator

import yaml

from gnomon.apps.krond.krontab.draft import (
    DEFAULTS,
    FIELDS,
    MODIFIERS,
    SCHEDULE,
    SEPARATORS,
    Draft,
    Piece,
    quote,
    split,
    unknown,
)
from gnomon.apps.krond.krontab.problem import Problems

__all__ = ["YAML_MAX", "read_yaml"]

YAML_MAX = 4_000_000
"""How many characters a file may have; YAML takes long to read."""

_JOBS = "jobs"
_KEYS = ("name", SCHEDULE, *MODIFIERS, *FIELDS[1:])
_SHAPE = 'write jobs: and below it - name: ... with schedule: "0 3 * * *" and command: ...'
_LEADS = {"seed": "strategy", "dist": "name", "win": "mode"}
"""The key that a mapping calls the first part of a modifier by."""
_WINDOW_LENGTH = "duration"


class _PlainLoader(yaml.SafeLoader):
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise yaml.composer.ComposerError(None, None, "there are no aliases", event.start_mark)
        if getattr(event, "tag", None):
            raise yaml.composer.ComposerError(None, None, "there are no tags", event.start_mark)
        return super().compose_node(parent, index)


def read_yaml(text: str, problems: Problems) -> Iterator[Draft]:
    """The drafts of a file, that of the defaults first."""
    root = _compose(text, problems)
    if root is None:
        return
    jobs: yaml.Node | None = None
    defaults: Draft | None = None
    for key, value in _items(root, "file", _SHAPE, problems):
        if key.text == _JOBS:
            jobs = value
        elif key.text == DEFAULTS:
            defaults = _draft(value, key.column - 1, problems, where=DEFAULTS)
            defaults.start, defaults.is_defaults = key, True
        else:
            problems.error(key, "file", "has an unknown key", got=key.text, hint=_SHAPE)
    if defaults is not None:
        yield defaults
    if isinstance(jobs, yaml.SequenceNode):
        for node in jobs.value:
            yield _draft(node, jobs.start_mark.column, problems)
    elif jobs is not None and not (isinstance(jobs, yaml.ScalarNode) and not jobs.value):
        problems.error(_piece(jobs), _JOBS, "must be a list", hint=_SHAPE)


def _compose(text: str, problems: Problems) -> yaml.Node | None:
    if len(text) > YAML_MAX:
        problems.error(
            Piece("", 1, 1), "file", f"has {len(text)} characters",
            hint=f"write at most {YAML_MAX}, or one line for each job, which has no limit",
        )  # fmt: skip
        return None
    try:
        loader = _PlainLoader(text)
        try:
            return loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        problems.error(_mark(error), "file", f"is not YAML ({_reason(error)})", hint=_SHAPE)
    except RecursionError:
        problems.error(Piece("", 1, 1), "file", "is nested too deeply", hint=_SHAPE)
    return None


def _draft(node: yaml.Node, indent: int, problems: Problems, *, where: str = "job") -> Draft:
    draft = Draft(
        start=_piece(node), before=len(problems.found), last_line=_last_line(node), indent=indent,
        sigil="",
    )  # fmt: skip
    for key, value in _items(node, where, _SHAPE, problems):
        if key.text not in _KEYS:
            hint = unknown(key.text, among=_KEYS)
            problems.error(key, where, "has an unknown key", got=key.text, hint=hint)
            continue
        parts = _parts(key, value, problems)
        if all(_is_text(piece, key.text, problems) for piece in parts):
            draft.pieces[key.text] = tuple(parts)
        else:
            draft.pieces[key.text] = ()
    draft.whole = bool(draft.pieces) or len(problems.found) == draft.before
    return draft


def _last_line(node: yaml.Node) -> int:
    """The last line of what stands there; a block ends where its last part does."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _last_line(last[1] if isinstance(last, tuple) else last)
    mark = node.end_mark
    return mark.line + 1 if mark.column else mark.line


def _parts(key: Piece, node: yaml.Node, problems: Problems) -> list[Piece]:
    """The parts of a value, whichever way they are written."""
    name = key.text
    separator = SEPARATORS.get(name, "")
    match node:
        case yaml.ScalarNode():
            piece = _piece(node)
            return list(split(piece, separator)) if separator else [piece]
        case yaml.SequenceNode() if separator or name in ("command", "env", "mail", "notify"):
            found = [_piece(one) for one in node.value if isinstance(one, yaml.ScalarNode)]
            if len(found) == len(node.value):
                return _joined(found, name)
        case yaml.MappingNode() if separator or name == "env":
            return _pairs(node, name, problems)
        case _:
            pass
    problems.error(_piece(node), name, "must be a text", hint=f"write {name}: ...")
    return []


def _joined(pieces: list[Piece], name: str) -> list[Piece]:
    if name in ("mail", "notify"):  # one piece, as in a line
        return [pieces[0]._replace(text=",".join(one.text for one in pieces))] if pieces else []
    return [one._replace(is_word=True) for one in pieces]


def _pairs(node: yaml.MappingNode, name: str, problems: Problems) -> list[Piece]:
    """A mapping as the parts that a line would have."""
    lead: list[Piece] = []
    parts: list[Piece] = []
    for key, value in _items(node, name, f"write {name}: ...", problems):
        if not isinstance(value, yaml.ScalarNode):
            problems.error(_piece(value), name, "must be a text", hint=f"write {key.text}: ...")
        elif key.text == _LEADS.get(name):
            lead.append(_piece(value))
        elif name == "win" and key.text == _WINDOW_LENGTH:
            parts.append(_piece(value))
        else:
            parts.append(key._replace(text=_pair(name, key.text, value.value)))
    return lead + parts


def _pair(name: str, key: str, value: str) -> str:
    if name == "env":
        return f"{key}={value}"
    # With the blank that YAML has there, so that the place of the value is right.
    return f"{key}= {value if name in ('only', 'avoid') else quote(value)}"


def _items(
    node: yaml.Node, where: str, hint: str, problems: Problems
) -> Iterator[tuple[Piece, yaml.Node]]:
    """Keys and values of a mapping; whatever is no mapping has none, and is said."""
    if not isinstance(node, yaml.MappingNode):
        problems.error(_piece(node), where, "must be a mapping", hint=hint)
        return
    seen: set[str] = set()
    for key, value in node.value:
        piece = _piece(key)
        if not isinstance(key, yaml.ScalarNode):
            problems.error(piece, where, "must have texts as keys", hint=hint)
        elif piece.text in seen:
            problems.error(piece, where, "has a key twice", got=piece.text, hint="write it once")
        else:
            seen.add(piece.text)
            yield piece, value


def _is_text(piece: Piece, name: str, problems: Problems) -> bool:
    """Whether a text can be handed on; a text for a shell may have several lines."""
    allowed = "\t\n" if name in ("command", "env") else "\t"
    for character in piece.text:
        if not character.isprintable() and character not in allowed:
            problems.error(
                piece, name, "has a character that does not print", got=character,
                hint="leave it out",
            )  # fmt: skip
            return False
    return True


def _piece(node: yaml.Node) -> Piece:
    text = node.value if isinstance(node, yaml.ScalarNode) else ""
    is_quoted = isinstance(node, yaml.ScalarNode) and node.style in ('"', "'")
    mark = node.start_mark
    return Piece(text, mark.line + 1, mark.column + 1 + is_quoted)


def _mark(error: yaml.YAMLError) -> Piece:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return Piece("", 1, 1) if mark is None else Piece("", mark.line + 1, mark.column + 1)


def _reason(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable")
