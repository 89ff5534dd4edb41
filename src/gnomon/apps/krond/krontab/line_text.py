"""
One line of a krontab file becomes a draft.

A line is a schedule, modifiers in any order, and fields:

    0 2 * * * @tz(Europe/Paris) @win(after,1h) name=backup command="/usr/bin/backup --full"

or the defaults of the file, in the same words:

    @defaults @tz(Europe/Paris) @policy(deadline=10m) mail=ops@example.org

Tokens are separated by blanks that stand outside quotes and parentheses. There are no comments
behind a job and no lines that go on on the next.

Spec: KRONTAB-6 to KRONTAB-8, KRONTAB-48.
"""

import re
from collections.abc import Sequence

from gnomon.apps.krond.krontab.draft import (
    DEFAULTS,
    FIELDS,
    MODIFIERS,
    SCHEDULE,
    SEPARATORS,
    Draft,
    Piece,
    closing_quote,
    quote,
    split,
    unknown,
    unquote,
)
from gnomon.apps.krond.krontab.problem import Problems
from gnomon.errors import DefinitionError

__all__ = ["LINE_MAX", "read_line"]

LINE_MAX = 16_384
"""How many characters a line may have."""

_SIGIL = "@"
_BLANKS = " \t"
_FIELDS_MAX = 6
_MACRO = re.compile(r"@[A-Za-z_]+")
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*)=")
# What a token looks like when nothing is wrong with it: a modifier, a field in quotes, a word.
_QUOTED = r'"(?:[^"\\]|\\.)*+"'
_ONE = rf'(?:@[^\s"(]*+\((?:[^"()]|{_QUOTED})*+\)|[^\s"@][^\s"]*={_QUOTED}|[^\s"@][^\s"]*+)'
_TOKEN = re.compile(rf"{_ONE}(?![^ \t])")
_SOUND = re.compile(rf"[ \t]*(?:{_ONE}(?:[ \t]+|\Z))+")
_IMPORT = "to take over lines of a crontab: gnomon krontab import"


def read_line(text: str, line: int, problems: Problems) -> Draft | None:
    """The draft of a job or of the defaults; None when not even its parts can be told apart."""
    whole = Piece(text, line, 1)
    start = whole.part(0)
    draft = Draft(
        start=start, before=len(problems.found), last_line=line, indent=start.column - 1,
        sigil=_SIGIL,
    )  # fmt: skip
    if not _is_text(whole, problems):
        return None
    tokens = _tokens(whole, draft, problems)
    draft.is_defaults = tokens[0].text == f"{_SIGIL}{DEFAULTS}"
    rest = tokens[1:] if draft.is_defaults else _take_schedule(tokens, whole, draft, problems)
    in_fields = False
    for index, token in enumerate(rest):
        key = _KEY.match(token.text)
        if token.text.startswith("#"):
            problems.error(
                token, "comment", "stands behind a job", got=token.text,
                hint="write comments on lines of their own",
            )  # fmt: skip
            break
        if token.text.startswith(_SIGIL):
            _take_modifier(token, draft, problems, late=in_fields)
        elif key is not None:
            in_fields = True
            _take_field(token, key[1], draft, problems)
        else:
            _refuse_word(rest, index, draft, problems)
            break
    return draft


def _is_text(line: Piece, problems: Problems) -> bool:
    """Whether the line is short and printable enough to be looked at."""
    if len(line.text) > LINE_MAX:
        problems.error(
            line, "line", f"has {len(line.text)} characters", hint=f"write at most {LINE_MAX}"
        )
        return False
    if line.text.isprintable():
        return True
    for at, character in enumerate(line.text):
        if not character.isprintable() and character != "\t":
            problems.error(
                Piece(character, line.line, at + 1), "line", "has a character that does not print",
                got=character, hint="leave it out",
            )  # fmt: skip
            return False
    return True


def _tokens(line: Piece, draft: Draft, problems: Problems) -> list[Piece]:
    """The tokens of a line: at once when it is sound, else step by step, to see what is not."""
    if _SOUND.fullmatch(line.text):
        number = line.line
        return [Piece(token[0], number, token.start() + 1) for token in _TOKEN.finditer(line.text)]
    tokens, at, text = [], 0, line.text
    while at < len(text):
        if text[at] in _BLANKS:
            at += 1
            continue
        end = _token_end(line, at, draft, problems)
        tokens.append(line.part(at, end))
        at = end
    return tokens


def _token_end(line: Piece, start: int, draft: Draft, problems: Problems) -> int:
    """Where the token that begins at `start` ends; what is never closed is said."""
    text, at, inside = line.text, start, False
    while at < len(text):
        if text[at] == '"' and (inside or text[at - 1 : at] == "="):
            close = closing_quote(text, at)
            if close is None:
                problems.error(
                    line.part(at), "quote", "is not closed", got=text[at:], hint='add " at the end'
                )
                draft.whole = False
                return len(text)
            at = close
        elif inside:
            inside = text[at] != ")"
        elif text[at] in _BLANKS:
            break
        elif text[at] == "(" and text[start] == _SIGIL and not _has_parenthesis(text, start, at):
            if ")" not in text[at:]:
                problems.error(
                    line.part(at), "parenthesis", "is not closed", got=text[at:], hint="add )"
                )
                draft.whole = False
                return _next_blank(text, at)
            inside = True
        at += 1
    return min(at, len(text))


def _has_parenthesis(text: str, start: int, at: int) -> bool:
    return "(" in text[start:at]


def _next_blank(text: str, at: int) -> int:
    while at < len(text) and text[at] not in _BLANKS:
        at += 1
    return at


def _take_schedule(
    tokens: list[Piece], line: Piece, draft: Draft, problems: Problems
) -> list[Piece]:
    """The tokens after the schedule, which is a macro or all until a modifier or a field."""
    count = 0
    for token in tokens:
        if _KEY.match(token.text) or token.text.startswith("#"):
            break
        if token.text.startswith(_SIGIL) and (count or not _MACRO.fullmatch(token.text)):
            break
        count += 1
        if token.text.startswith(_SIGIL):
            break
    if count == 0:
        problems.error(
            tokens[0], SCHEDULE, "is missing", got=tokens[0].text,
            hint='begin with five fields of cron, e.g. "0 3 * * *", or a macro such as @daily',
        )  # fmt: skip
        draft.pieces[SCHEDULE] = ()
        return tokens
    for extra in tokens[5:count]:
        if extra.text.startswith(("/", ".")) or count > _FIELDS_MAX:
            problems.error(
                extra, SCHEDULE, "goes on with what is no field of cron", got=extra.text,
                hint=f'write name=... command="{extra.text} ..."; {_IMPORT}',
            )  # fmt: skip
            draft.whole = False
            return tokens[count:]
    first, last = tokens[0], tokens[count - 1]
    piece = line.part(first.column - 1, last.column - 1 + len(last.text))
    draft.pieces[SCHEDULE] = (piece,)
    return tokens[count:]


def _take_modifier(token: Piece, draft: Draft, problems: Problems, *, late: bool) -> None:
    name, inner = token.text[1:], None
    if "(" in name:
        name, _, _ = name.partition("(")
        inner = token.part(len(name) + 2)
    if name not in SEPARATORS:
        hint = unknown(name, sigil=_SIGIL, among=MODIFIERS)
        problems.error(token, f"@{name}", "is not a modifier", got=token.text, hint=hint)
        return
    label = draft.label(name)
    if inner is None or not inner.text.endswith(")"):
        if draft.whole:
            problems.error(
                token, label, "must have its value in parentheses", got=token.text,
                hint=f"write {label}(...)",
            )  # fmt: skip
        draft.pieces.setdefault(name, ())
        return
    if late:
        problems.error(
            token, label, "stands behind a field", got=token.text,
            hint="write modifiers right behind the schedule, and fields after them",
        )  # fmt: skip
    inner = inner.part(0, -1)
    separator = SEPARATORS[name]
    parts = list(split(inner, separator)) if separator else [inner]
    _put(draft, name, token, parts, problems)


def _take_field(token: Piece, key: str, draft: Draft, problems: Problems) -> None:
    if key not in FIELDS:
        is_modifier = key.lower() in MODIFIERS
        hint = f"write @{key.lower()}(...)" if is_modifier else unknown(key, among=FIELDS)
        problems.error(token, key, "is not a field", got=token.text, hint=hint)
        return
    value = token.part(len(key) + 1)
    try:
        text = _value(key, value.text)
    except DefinitionError as error:
        if draft.whole:
            problems.error(value, key, error.reason, got=value.text, hint=error.hint)
        draft.pieces.setdefault(key, ())
        return
    in_quotes = value.text.startswith('"')
    piece = Piece(text, value.line, value.column + in_quotes, is_word=not in_quotes)
    _put(draft, key, token, [piece], problems)


def _put(draft: Draft, name: str, token: Piece, parts: Sequence[Piece], problems: Problems) -> None:
    """Add what was written under a name; only `env` may be written again."""
    if name == "env":
        parts = (*draft.pieces.get(name, ()), *parts)
    elif name in draft.pieces:
        hint = "join the clauses with ;" if SEPARATORS.get(name) == ";" else "write it once"
        problems.error(token, draft.label(name), "stands here for the second time", hint=hint)
        return
    draft.pieces[name] = tuple(parts)


def _value(key: str, raw: str) -> str:
    """The value without its quotes; those of an `env` may be around its value alone."""
    name, equals, value = raw.partition("=")
    if key == "env" and equals and value.startswith('"') and '"' not in name:
        return f"{name}={unquote(value)}"
    return unquote(raw)


def _refuse_word(tokens: list[Piece], index: int, draft: Draft, problems: Problems) -> None:
    word = tokens[index]
    draft.whole = False
    if word.text == "\\" and index == len(tokens) - 1:
        problems.error(
            word, "line", "does not go on on the next", got=word.text, hint="write one line"
        )
        return
    hint = "write fields as key=value"
    before = tokens[index - 1].text if index else ""
    key = _KEY.match(before)
    if key is not None and not before.endswith('"'):
        value = " ".join([before[key.end() :], *(token.text for token in tokens[index:])])
        hint = f"put the value in quotes: {key[1]}={quote(value)}"
    problems.error(word, "word", "stands alone", got=word.text, hint=hint)
