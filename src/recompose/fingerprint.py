"""The fingerprint of code: a digest per module, of what the code does and not of how it is laid out.

It is taken from the sources without importing them, so that planning stays light.
"""

import ast
import functools
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import recompose
from recompose.files import write_text

PACKAGE = "recompose"
# what can move no number: what is only said to people, and what only finds, names and keeps things, whose contents are
# compared by digests
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


@functools.cache
def _is_inside(module: str) -> bool:
    """Whether a module's code can move a number. Of a package that stands outside, no module does."""
    top, _, rest = module.partition(".")
    outside = module in OUTSIDE or f"{PACKAGE}.{rest.partition('.')[0]}" in OUTSIDE - {f"{PACKAGE}.tracks"}
    return top == PACKAGE and not outside and _path(module) is not None


@functools.cache
def _read(module: str) -> tuple[str, tuple[str, ...]]:
    """A module's digest, and the modules of the package that it imports."""
    path = path_of(module)
    source = path.read_bytes()
    summary = _summaries().of(source, str(path))
    return summary[0], tuple(sorted({name for name in summary[1:] if _is_inside(name)}))


class _Summaries:
    """The digest of each source's syntax and the names it imports, kept beside Python's own compiled files: parsing
    all takes longer than planning.
    """

    def __init__(self, file: Path) -> None:
        self._file, self._grew = file, False
        try:
            kept = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            kept = {}
        self._kept: dict[str, list[str]] = kept if isinstance(kept, dict) else {}

    def of(self, source: bytes, filename: str) -> list[str]:
        """The digest, then the names."""
        key = hashlib.sha256(source).hexdigest()
        if key not in self._kept:
            tree = ast.parse(source, filename=filename)
            digest = hashlib.sha256("".join(_said(tree)).encode()).hexdigest()
            self._kept[key] = [digest, *sorted({name for name in _imports(tree) if name.split(".")[0] == PACKAGE})]
            self._grew = True
        return self._kept[key]

    def keep(self) -> None:
        """Write what is new; where that cannot be, it is only slower next time."""
        if self._grew:
            self._grew = False
            with suppress(OSError):
                write_text(self._file, json.dumps(self._kept))


@functools.cache
def _summaries() -> _Summaries:
    own = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]  # other code may summarise otherwise
    return _Summaries(Path(__file__).parent / "__pycache__" / f"fingerprints-{sys.implementation.cache_tag}-{own}.json")


def fingerprint(modules: Iterable[str]) -> dict[str, str]:
    """The digest of each module that these import from this package, directly or not, and of themselves.

    Comments, docstrings and layout do not count. Modules named in strings are not seen: name them among ``modules``.

    Raises:
        ModuleNotFoundError: a name that is no module of this package.
    """
    return dict(_reached(frozenset(modules)))


@functools.cache
def _reached(modules: frozenset[str]) -> dict[str, str]:
    """What a fingerprint says, in the order of the modules' names."""
    waiting, versions = list(modules), dict[str, str]()
    while waiting:
        module = waiting.pop()
        if module not in versions:
            versions[module], imports = _read(module)
            waiting.extend(imports)
    _summaries().keep()
    return dict(sorted(versions.items()))
