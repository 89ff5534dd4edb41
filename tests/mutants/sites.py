"""
Where can one small thing of a module be changed, and what is the module then?

A site is an expression or a statement that a slip of the hand could have written otherwise: a
bound that is included or not, `and` for `or`, a number that is off by one, a call that is missing.
Annotations, docstrings, `__all__`, assertions and the parts of f-strings are no sites. Nothing here
runs anything.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Mutant", "mutants_of"]

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}  # fmt: skip
_CALLED = {"min": "max", "max": "min", "all": "any", "any": "all"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of one place: from the character `begin` to `end`, other text."""

    path: str
    line: int
    begin: int
    end: int
    before: str
    after: str

    def applied(self, source: str) -> str:
        return source[: self.begin] + self.after + source[self.end :]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {_flat(self.before)}  ->  {_flat(self.after)}"


def mutants_of(path: str, source: str) -> list[Mutant]:
    """All mutants of a module that still parse, in the order of its text."""
    starts = _line_starts(source)
    found = []
    for node, changed in _changes(ast.parse(source)):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = _place(source, starts, node.lineno, node.col_offset)
        end = _place(source, starts, node.end_lineno, node.end_col_offset)
        mutant = Mutant(
            path=path,
            line=node.lineno,
            begin=begin,
            end=end,
            before=source[begin:end],
            after=changed,
        )
        if _parses(mutant.applied(source)):
            found.append(mutant)
    return sorted(found, key=lambda mutant: (mutant.begin, mutant.end, mutant.after))


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    for child in _children(tree):
        if isinstance(child, ast.JoinedStr | ast.Assert | ast.Import | ast.ImportFrom):
            continue
        if isinstance(child, ast.expr | ast.stmt):
            for text in _changed(child):
                yield child, text
        yield from _changes(child)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Those of its parts that run when the program runs."""
    if isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
    ):
        return
    left_out = {"annotation", "returns", "decorator_list", "bases", "type_comment"}
    if isinstance(node, ast.arg):
        return
    for name, value in ast.iter_fields(node):
        if name in left_out:
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield part


def _changed(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Compare(left=left, ops=[first, *others], comparators=comparators):
            if other := _COMPARED.get(type(first)):
                yield _text(ast.Compare(left, [other(), *others], comparators))
        case ast.BoolOp(op=op, values=values):
            yield _text(ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield _text(operand)
        case ast.BinOp(left=left, op=op, right=right):
            if operator := _COMPUTED.get(type(op)):
                yield _text(ast.BinOp(left, operator(), right))
        case ast.Constant(value=bool(value)):
            yield str(not value)
        case ast.Constant(value=int(number)):
            yield str(number + 1)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield _text(ast.IfExp(test, orelse, body))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in _CALLED:
            yield _text(ast.Call(ast.Name(_CALLED[name]), args, keywords))
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign() | ast.Continue():
            yield "pass"


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def _line_starts(source: str) -> list[int]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _place(source: str, starts: list[int], line: int, column: int) -> int:
    """The index of a character; the parser counts columns in bytes."""
    text = source[starts[line - 1] : starts[line]]
    return starts[line - 1] + len(text.encode()[:column].decode())


def _flat(text: str) -> str:
    return " ".join(text.split())
