"""The fingerprint of code: a digest of the functions and classes that what runs can reach, by module.

It begins at the functions that make a content, and follows the names that they use: functions, classes and constants of
this package and of plugins, through imports. A definition counts as its syntax, without what cannot change a number:
comments, docstrings, layout, annotations of functions, descriptions of settings, and the words of messages. So an edit
of one method leaves another one that stands beside it alone.

It is computed from the sources without importing them, so that planning stays light. A plugin's modules count as a
whole, with all that they import. Other packages do not count: records hold their versions.
"""

import ast
import functools
import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

import recompose
from recompose.errors import PluginError
from recompose.files import write_text

PACKAGE = "recompose"
ROOT = Path(recompose.__file__).parent
DECLARATION = "plugin.yaml"  # the file that makes a package a plugin
WHOLE = "*"  # in place of a name: all of a module
REST = ""  # of a module: its statements that define no name, which run when it is imported
OUTSIDE = {  # module with those below it, or module:name -> why it cannot choose, order or compute content
    "recompose.errors": "tells people what is wrong",
    "recompose.progress": "tells people and logs how far it is",
    "recompose.recipes": "describes, names and stores what determines a content",
    "recompose.digest:digest": "names what determines a content",
    "recompose.data.upstream": "downloads files, whose digests are compared with those of the recipe",
    "recompose.data.transports": "carries downloads",
    "recompose.training.devices": "reserves GPUs",
    "recompose.cores": "says how many things can be done at once",
    "recompose.phases:carry_out": "calls the function that a recipe names",
    "recompose.data.content:function_of": "finds the function that a recipe names",
    "recompose.workspace:Workspace": "finds the parts of a project, and recipes hold what they use of them",
    "recompose.params.sections:Names": "finds an entry of params.yaml",
    "recompose.tracks:TRACKS": "finds a track, whose class is in the recipes of what uses it",
    "recompose.tracks.track:Catalogue": "finds a track, too",
}
MESSAGES = {"message", "fault", "remedy"}  # names of variables that hold a text for people
Part = tuple[str, str]  # module, and the name of a definition in it, or WHOLE or REST


def location(package: str) -> Path | None:
    """Return the folder of an importable package of the top level, or None; nothing is imported."""
    if not package.isidentifier():
        return None
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0]) if folders else None


def path_of(module: str) -> Path:
    """Return the file of a module.

    Raises:
        ModuleNotFoundError: this package has no such module.
        PluginError: no plugin has it, so its code cannot be fingerprinted.
    """
    path = _path(module)
    if path is None and _is_own(module):
        raise ModuleNotFoundError(f"{module} is not a module of {PACKAGE}")
    if path is None:
        message = f"{module} is no module of {PACKAGE} or of a plugin: its code cannot be fingerprinted"
        raise PluginError(f"{message}; make its package a plugin", code="no-fingerprint", place=module)
    return path


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == PACKAGE


def _is_outside(module: str, name: str = REST) -> bool:
    return f"{module}:{name}" in OUTSIDE or any(f"{module}.".startswith(f"{outside}.") for outside in OUTSIDE)


def _folder(module: str) -> Path | None:
    """Return the folder of the package of a module: this one or a plugin's."""
    if _is_own(module):
        return ROOT
    folder = location(module.partition(".")[0])
    return folder if folder and (folder / DECLARATION).is_file() else None


def _path(module: str) -> Path | None:
    if (folder := _folder(module)) is None:
        return None
    stem = folder.joinpath(*module.split(".")[1:])
    candidates = (stem.with_suffix(".py"), stem / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


# what a module defines and names


@dataclass(frozen=True)
class Definition:
    """A function, a class, a constant, or the rest of a module."""

    digest: str
    uses: list[str]  # names, dotted where attributes of a name are used: ``settings.CspSettings``
    imports: list[tuple[str, str, str]]  # inside it: bound name, module, and the name in that module or empty


@dataclass(frozen=True)
class Summary:
    """What a module defines, by name, and imports at its top level."""

    definitions: dict[str, Definition]
    imports: list[tuple[str, str, str]]


_SUMMARIES = TypeAdapter(dict[str, Summary])


class _Plain(ast.NodeTransformer):
    """Removes from a syntax tree what cannot change a number."""

    def __init__(self) -> None:
        self._is_inside_function = False

    def visit_FunctionDef(self, node: Any) -> Any:
        before, self._is_inside_function = self._is_inside_function, True
        node.returns = None
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        self.generic_visit(_without_docstring(node))
        self._is_inside_function = before
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - ast's names

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        before, self._is_inside_function = self._is_inside_function, False
        self.generic_visit(_without_docstring(node))
        self._is_inside_function = before
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if self._is_inside_function:
            node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        if all(isinstance(target, ast.Name) and target.id in MESSAGES for target in node.targets):
            _blank_texts(node.value)
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> Any:
        _blank_texts(node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "say":
            _blank_texts(node)
        elif name == "Field":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "description"]
        return self.generic_visit(node)


def _without_docstring(node: Any) -> Any:
    if ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:]
    return node


def _blank_texts(node: ast.AST) -> None:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            part.value = ""


def _tokens(node: object) -> Iterator[str]:
    """Yield the types and values of a syntax tree, without positions and empty fields.

    Empty fields are omitted because versions of Python differ in which of them exist.
    """
    if isinstance(node, ast.AST):
        yield type(node).__name__ + "("
        for field, value in ast.iter_fields(node):
            if value is None or value == [] or field == "type_comment":
                continue
            yield field + "="
            yield from _tokens(value)
        yield ")"
    elif isinstance(node, list):
        for item in node:
            yield from _tokens(item)
            yield ","
    else:
        yield repr(node)


def _summary(source: bytes, path: Path) -> Summary:
    """Return what a source defines and imports.

    Raises:
        PluginError: it is no Python.
    """
    try:
        tree = _Plain().visit(_without_docstring(ast.parse(source, filename=str(path))))
    except (SyntaxError, ValueError) as error:
        place = f"{path}:{getattr(error, 'lineno', None) or 1}"
        message = f"{place} is not valid Python: {getattr(error, 'msg', error)}"
        raise PluginError(message, code="no-python", place=path) from None
    statements: dict[str, list[ast.stmt]] = {REST: []}
    for node in tree.body:
        if not (isinstance(node, ast.Import | ast.ImportFrom) or _is_for_types(node)):
            for name in _defined(node):
                statements.setdefault(name, []).append(node)
    imports = [each for node in tree.body if not _is_for_types(node) for each in _imports(node, is_deep=False)]
    return Summary({name: _definition(nodes, imports) for name, nodes in statements.items()}, imports)


def _is_for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _defined(node: ast.stmt) -> list[str]:
    """Return the names that a statement at the top level defines, and nothing else does; REST for any other one."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        if len(names) == len(parts):
            return names
    return [REST]


def _imports(node: ast.AST, *, is_deep: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the bound names of imports in a statement; of a definition those inside it only if ``is_deep``."""
    is_definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    for part in [] if is_definition and not is_deep else ast.walk(node):
        if isinstance(part, ast.Import):
            for alias in part.names:
                yield (alias.asname or alias.name.partition(".")[0], alias.name, "" if alias.asname else WHOLE)
        elif isinstance(part, ast.ImportFrom):
            for alias in part.names:
                yield (alias.asname or alias.name, "." * part.level + (part.module or ""), alias.name)


def _definition(nodes: list[ast.stmt], imports: Iterable[tuple[str, str, str]]) -> Definition:
    uses, inner = set[str](), set[ast.AST]()
    for node in (part for statement in nodes for part in ast.walk(statement)):
        if isinstance(node, ast.Attribute) and node not in inner:
            chain: ast.AST = node
            names: list[str] = []
            while isinstance(chain, ast.Attribute):
                names.append(chain.attr)
                inner.add(chain)
                chain = chain.value
            if isinstance(chain, ast.Name):
                inner.add(chain)
                uses.add(".".join([chain.id, *reversed(names)]))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in inner:
            uses.add(node.id)
    bound_names = {use.partition(".")[0] for use in uses}
    bound = sorted(each for each in imports if each[0] in bound_names)  # what a name stands for counts
    digest = hashlib.sha256(f"{bound} {''.join(_tokens(nodes))}".encode()).hexdigest()
    return Definition(digest, sorted(uses), sorted({each for node in nodes for each in _imports(node, is_deep=True)}))


EMPTY = _definition([], []).digest  # of the rest of a module without one


class _Summaries:
    """A cache of what each source defines, beside Python's compiled files (parsing is slower than planning)."""

    def __init__(self, file: Path) -> None:
        self._file, self._grew = file, False
        try:
            self._cached = _SUMMARIES.validate_json(file.read_bytes())
        except (OSError, ValidationError):
            self._cached = {}

    def of(self, path: Path) -> Summary:
        """Return what a source defines and imports."""
        source = path.read_bytes()
        key = hashlib.sha256(source).hexdigest()
        if key not in self._cached:
            self._cached[key] = _summary(source, path)
            self._grew = True
        return self._cached[key]

    def write(self) -> None:
        """Write new entries; without write access the next process is only slower."""
        if self._grew:
            self._grew = False
            with suppress(OSError):
                write_text(self._file, _SUMMARIES.dump_json(self._cached).decode())


@functools.cache
def _summaries() -> _Summaries:
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]  # of the code that summarises
    return _Summaries(
        Path(__file__).parent / "__pycache__" / f"fingerprints-{sys.implementation.cache_tag}-{version}.json"
    )


def keep_summaries() -> None:
    """Keep what was read of sources for later processes; the workflow does so when it starts."""
    _summaries().write()


# what is reached


class _Reach:
    """The definitions that others reach. One reads each module once, so that an edit meanwhile changes nothing."""

    def __init__(self) -> None:
        self._modules: dict[str, Summary] = {}
        self._edges: dict[Part, list[Part]] = {}

    def of(self, roots: Iterable[Part]) -> set[Part]:
        """Return these definitions and all that they reach."""
        queue, reached = list(roots), set[Part]()
        while queue:
            part = queue.pop()
            if part not in reached:
                reached.add(part)
                queue.extend(self._next(part))
        return {part for part in reached if part[1] != WHOLE}

    def digest(self, part: Part) -> str:
        """Return the digest of a definition."""
        module, name = part
        return self._read(module).definitions[name].digest

    def _read(self, module: str) -> Summary:
        if module not in self._modules:
            self._modules[module] = _summaries().of(path_of(module))
        return self._modules[module]

    def _next(self, part: Part) -> list[Part]:
        if part not in self._edges:
            found = dict.fromkeys(self._find_next(part))
            self._edges[part] = [each for each in found if not _is_outside(*each)]
        return self._edges[part]

    def _find_next(self, part: Part) -> Iterator[Part]:
        module, name = part
        summary = self._read(module)
        if name == WHOLE:
            yield from ((module, each) for each in summary.definitions if each != REST or not _is_own(module))
            if summary.definitions[REST].digest != EMPTY:
                yield module, REST
            if not _is_own(module):
                for each in summary.imports:
                    yield from self._imported(module, each, [])
            return
        if not _is_own(module):
            yield module, WHOLE
        if summary.definitions[REST].digest != EMPTY:
            yield module, REST
        definition = summary.definitions[name]
        for use in definition.uses:
            first, *attributes = use.split(".")
            yield from self._named(module, first, attributes, definition.imports)
        if not _is_own(module):
            for each in definition.imports:
                yield from self._imported(module, each, [])

    def _named(
        self, module: str, name: str, attributes: list[str], inside: Iterable[tuple[str, str, str]] = ()
    ) -> Iterator[Part]:
        """Yield what a name stands for in a module, with the attributes that are used of it; nothing for a built-in
        or a local one.
        """
        summary = self._read(module)
        if name in summary.definitions:
            yield module, name
        for each in (*summary.imports, *inside):
            if each[0] == name:
                yield from self._imported(module, each, attributes)

    def _imported(self, module: str, binding: tuple[str, str, str], attributes: list[str]) -> Iterator[Part]:
        """Yield what an import in a module brings, with the attributes that are used of it."""
        _, source, name = binding
        base = self._absolute(module, source)
        is_submodule = name not in ("", WHOLE) and _path(f"{base}.{name}") is not None
        if _is_outside(base) or not (is_submodule or _path(base)):
            return
        if name == WHOLE and binding[0] != WHOLE:  # `import a.b.c` binds a: the attributes begin with b and c
            rest = base.split(".")[1:]
            base, attributes = (base, attributes[len(rest) :]) if attributes[: len(rest)] == rest else (base, [])
            name = ""
        if name == "":
            yield from self._of_module(base, attributes)
        elif name == WHOLE:  # `from a import *`
            yield base, WHOLE
        elif is_submodule:
            yield from self._of_module(f"{base}.{name}", attributes)
        else:
            yield from self.member(base, name, attributes)

    def _of_module(self, module: str, attributes: list[str]) -> Iterator[Part]:
        """Yield what attributes of a module stand for; all of it where none is named."""
        while attributes and _path(f"{module}.{attributes[0]}") is not None:
            module, attributes = f"{module}.{attributes[0]}", attributes[1:]
        if attributes:
            yield from self.member(module, attributes[0], attributes[1:])
        elif not _is_outside(module):
            yield module, WHOLE

    def member(self, module: str, name: str, attributes: Sequence[str] = ()) -> Iterator[Part]:
        """Yield what a name of a module stands for; all of the module where its statements do not tell."""
        found = list(self._named(module, name, [*attributes])) if not _is_outside(module) else []
        bound = any(each[0] == name for each in self._read(module).imports)
        yield from found or ([] if bound or _is_outside(module) else [(module, WHOLE)])

    def _absolute(self, module: str, source: str) -> str:
        package = module if path_of(module).name == "__init__.py" else module.rpartition(".")[0]
        try:
            return importlib.util.resolve_name(source, package)
        except ImportError as error:
            message = f"{path_of(module)} is not valid Python: {error}"
            raise PluginError(message, code="no-python", place=path_of(module)) from None


_own_reach = functools.cache(_Reach)  # a process reads its own sources once; a plugin may be edited


def reached(roots: Iterable[str]) -> set[Part]:
    """Return the definitions that these functions, classes or modules reach, themselves included.

    Args:
        roots: each ``module:name``, or a module with all of it.

    Raises:
        ModuleNotFoundError: the package has no module of this name.
        PluginError: a module is outside of this package and of all plugins, or is no Python.
    """
    names = tuple(roots)
    return set(_find_reached(_reach_of(names), names))


def _reach_of(roots: Iterable[str]) -> _Reach:
    return _own_reach() if all(map(_is_own, roots)) else _Reach()


def _find_reached(reach: _Reach, roots: Iterable[str]) -> set[Part]:
    parts: list[Part] = []
    for root in roots:
        module, _, name = root.partition(":")
        path_of(module)  # or an error
        parts += reach.member(module, name) if name else [(module, WHOLE)]
    return reach.of(parts)


def fingerprint(roots: Iterable[str]) -> dict[str, str]:
    """Return, by module, the digest of the definitions that these functions, classes or modules reach.

    Modules named in strings are not found: add them to ``roots``.

    Raises:
        ModuleNotFoundError: the package has no module of this name.
        PluginError: a module is outside of this package and of all plugins, or is no Python.
    """
    names = tuple(roots)
    return dict(_fingerprint_of_own(names) if all(map(_is_own, names)) else _fingerprint(_Reach(), names))


@functools.cache
def _fingerprint_of_own(roots: tuple[str, ...]) -> dict[str, str]:
    return _fingerprint(_own_reach(), roots)


def _fingerprint(reach: _Reach, roots: tuple[str, ...]) -> dict[str, str]:
    digests: dict[str, list[str]] = {}
    for module, name in sorted(_find_reached(reach, roots)):
        digests.setdefault(module, []).append(f"{name} {reach.digest((module, name))}")
    return {module: hashlib.sha256("\n".join(parts).encode()).hexdigest() for module, parts in digests.items()}


def plugin_sources(modules: Iterable[str]) -> set[Path]:
    """Return the files of those of these modules that plugins have."""
    return {path for module in modules if not _is_own(module) and (path := _path(module))}
