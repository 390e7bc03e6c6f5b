"""The fingerprint of code: a digest per module, of what the code does and not of how it is laid out.

It is taken from the sources without importing them, so that planning stays light.
"""

import ast
import functools
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import recompose

PACKAGE = "recompose"
# what can move no number: what is only said to people, and what only finds, names and keeps things, whose contents are compared by digests
OUTSIDE = {
    f"{PACKAGE}.{name}"
    for name in (
        "digest",
        "errors",
        "files",
        "fingerprint",
        "params",
        "plan",
        "progress",
        "store",
        "tracks",
        "workspace",
    )
}
ROOT = Path(recompose.__file__).parent


def path_of(module: str) -> Path:
    """The file of a module.

    Raises:
        ModuleNotFoundError: it is no module of this package.
    """
    path = _path(module)
    if path is None:
        raise ModuleNotFoundError(f"{module} is not a module of {PACKAGE}")
    return path


def _path(module: str) -> Path | None:
    stem = ROOT.joinpath(*module.split(".")[1:])
    candidates = (stem.with_suffix(".py"), stem / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def _said(node: object) -> Iterator[str]:
    """What a syntax tree says: types and values, no positions, docstrings or empty fields.

    Empty fields are left out because Python's versions differ in which of them exist.
    """
    if isinstance(node, ast.AST):
        yield type(node).__name__ + "("
        for field, value in ast.iter_fields(node):
            if value is None or value == [] or field == "type_comment":
                continue
            yield field + "="
            yield from _said(_without_docstring(node) if field == "body" else value)
        yield ")"
    elif isinstance(node, list):
        for item in node:
            yield from _said(item)
            yield ","
    else:
        yield repr(node)


def _without_docstring(node: ast.AST) -> object:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return node.body  # type: ignore[attr-defined]


def _imports(tree: ast.Module) -> Iterator[str]:
    """The modules of the package that a module imports, also inside its functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_inside(module: str) -> bool:
    """Whether a module's code can move a number. Of a package that stands outside, no module does."""
    top, _, rest = module.partition(".")
    outside = module in OUTSIDE or f"{PACKAGE}.{rest.partition('.')[0]}" in OUTSIDE - {f"{PACKAGE}.tracks"}
    return top == PACKAGE and not outside and _path(module) is not None


@functools.cache
def _read(module: str) -> tuple[str, tuple[str, ...]]:
    """A module's digest, and the modules of the package that it imports."""
    path = path_of(module)
    tree = ast.parse(path.read_bytes(), filename=str(path))
    digest = hashlib.sha256("".join(_said(tree)).encode()).hexdigest()
    inside = {name for name in _imports(tree) if _is_inside(name)}
    return digest, tuple(sorted(inside))


def fingerprint(modules: Iterable[str]) -> dict[str, str]:
    """The digest of each module that these import from this package, directly or not, and of themselves.

    Comments, docstrings and layout do not count. Modules named in strings are not seen: name them among ``modules``.

    Raises:
        ModuleNotFoundError: a name that is no module of this package.
    """
    waiting, found = list(modules), {}
    while waiting:
        module = waiting.pop()
        if module not in found:
            found[module], imports = _read(module)
            waiting.extend(imports)
    return dict(sorted(found.items()))
