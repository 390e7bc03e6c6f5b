"""Mutants of a module: its source with one comparison, operation, condition, number or return value changed. Texts of
errors and names stay as they are.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

PAIRS = (
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot)),
    *((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitAnd, ast.BitOr), (ast.And, ast.Or), (ast.USub, ast.UAdd)),
)
OTHERS = {**dict(PAIRS), **{second: first for first, second in PAIRS}, ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult}
NOT_RUN = ("annotation", "returns", "decorator_list")  # parts of the syntax that compute nothing
TEXTS = (ast.Raise, ast.JoinedStr)  # on which no number depends


@dataclass(frozen=True)
class Mutant:
    """The source of a module with one change."""

    line: int
    text: str  # the changed expression or statement
    source: str


def mutants(source: str) -> list[Mutant]:
    """Return all mutants of a module, each source once, in the order of their lines."""
    tree = ast.parse(source)
    made: dict[str, Mutant] = {}
    for node in _nodes(tree):
        for place, key, value in _changes(node):
            before = place[key]
            place[key] = value
            mutant = Mutant(getattr(node, "lineno", 0), ast.unparse(node), ast.unparse(tree))
            made.setdefault(mutant.source, mutant)
            place[key] = before
    return sorted(made.values(), key=lambda mutant: mutant.line)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a syntax tree that are executed."""
    yield node
    for name, value in ast.iter_fields(node):
        if name not in NOT_RUN:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(child, TEXTS):
                    yield from _nodes(child)


def _changes(node: ast.AST) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the changes of a node: the list or the attributes, the position in it, and the new part."""
    parts = vars(node)
    match node:
        case ast.Compare(ops=ops):
            yield from ((ops, place, OTHERS[type(op)]()) for place, op in enumerate(ops))
        case ast.UnaryOp(op=ast.Not() | ast.Invert()):
            yield parts, "operand", ast.UnaryOp(node.op, node.operand)
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.UnaryOp(op=op) if type(op) in OTHERS:
            yield parts, "op", OTHERS[type(op)]()
        case ast.Constant(value=bool()):
            yield parts, "value", not node.value
        case ast.Constant(value=int() | float()):
            yield parts, "value", node.value + 1
        case ast.If() | ast.IfExp() | ast.While():
            yield parts, "test", ast.UnaryOp(ast.Not(), node.test)
        case ast.comprehension(ifs=ifs):
            yield from ((ifs, place, ast.UnaryOp(ast.Not(), test)) for place, test in enumerate(ifs))
        case ast.Return(value=ast.expr()) if ast.unparse(node) != "return None":
            yield parts, "value", ast.Constant(None)
