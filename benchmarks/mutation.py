"""How many small faults in the code of verdicts and measures the tests notice.

Usage: ``python -m benchmarks.mutation [MODULE ...] [--sample 60] [--seed 0] [--jobs 2]``. A mutant has one comparison,
operation, condition, number or return value changed. It is killed if a test of its module fails. The default sample
takes about half an hour.
"""

import argparse
import ast
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from multiprocessing import get_context
from pathlib import Path
from random import Random
from types import CodeType
from typing import Any

import pytest

from benchmarks.machine import machine

ROOT = Path(__file__).parent.parent
CZSL = "recompose.tracks.czsl.metrics"
TESTS = {  # module -> its tests, below tests/
    "recompose.report.trust": ("report/test_trust.py",),
    "recompose.report.claims": ("report/test_claims.py",),
    f"{CZSL}.best": ("tracks/czsl/metrics/test_czsl.py",),
    f"{CZSL}.curves": ("tracks/czsl/metrics/test_czsl.py",),
    f"{CZSL}.czsl": ("tracks/czsl/metrics/test_czsl.py",),
    f"{CZSL}.worlds": ("tracks/czsl/metrics/test_worlds.py",),
    "recompose.tracks.seen_unseen": ("tracks/czsl/metrics/test_czsl.py",),
}
PRELOADED = ("hypothesis", "scipy.stats", "seaborn", "torch")  # once, not for each mutant
LIMIT = 300  # seconds, after which a mutant counts as killed: it never ends
PAIRS = (
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot)),
    *((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitAnd, ast.BitOr), (ast.And, ast.Or), (ast.USub, ast.UAdd)),
)
OTHERS = {**dict(PAIRS), **{second: first for first, second in PAIRS}, ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult}
NOT_RUN = ("annotation", "returns", "decorator_list")  # parts of the syntax that compute nothing


@dataclass(frozen=True)
class Mutant:
    """The source of a module with one change."""

    line: int
    text: str  # the changed expression or statement
    source: str


def mutants(source: str) -> list[Mutant]:
    """Return all mutants of a module, in the order of their lines."""
    tree = ast.parse(source)
    made = []
    for node in _nodes(tree):
        for place, key, value in _changes(node):
            before = place[key]
            place[key] = value
            made.append(Mutant(getattr(node, "lineno", 0), ast.unparse(node), ast.unparse(tree)))
            place[key] = before
    return sorted(made, key=lambda mutant: mutant.line)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a syntax tree that are carried out."""
    yield node
    for name, value in ast.iter_fields(node):
        if name not in NOT_RUN:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
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
        case ast.Return(value=ast.expr()):
            yield parts, "value", ast.Constant(None)


class MutantLoader(SourceFileLoader):
    """A loader of one module, also its finder, with another source than its file has."""

    source = ""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec")


def is_killed(module: str, source: str) -> bool:
    """Return True if a test of a module fails with this source; for a process of its own."""

    def stop(*_: object) -> None:
        raise TimeoutError

    assert module not in sys.modules, f"{module} is imported before it is changed"
    loader = MutantLoader(module, str(path_of(module)))
    loader.source = source
    sys.meta_path.insert(0, loader)  # type: ignore[arg-type]
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not engines and not browser"]
    folder = f"--basetemp={tempfile.gettempdir()}/{os.getpid()}"
    with Path(os.devnull).open("w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        code = pytest.main([*options, folder, *(str(ROOT / "tests" / name) for name in TESTS[module])])
    if code in (pytest.ExitCode.NO_TESTS_COLLECTED, pytest.ExitCode.USAGE_ERROR):
        raise RuntimeError(f"pytest cannot run the tests of {module}: {code!r}")
    return code != pytest.ExitCode.OK


def path_of(module: str) -> Path:
    """Return the file of a module."""
    return ROOT.joinpath("src", *module.split(".")).with_suffix(".py")


def measure(modules: Sequence[str], sample: int, seed: int, jobs: int) -> Iterator[tuple[str, int, list[Mutant]]]:
    """Yield each module with the number of its mutants that were tried, and those that survived.

    Raises:
        RuntimeError: the tests of a module fail without any change.
    """
    with get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
        for module in modules:
            source = path_of(module).read_text(encoding="utf-8")
            if pool.apply(is_killed, (module, source)):
                raise RuntimeError(f"the tests of {module} fail without a change")
            every = mutants(source)
            chosen = Random(seed).sample(every, min(sample, len(every)))
            killed = pool.starmap(is_killed, [(module, mutant.source) for mutant in chosen], chunksize=1)
            yield module, len(chosen), [mutant for mutant, gone in zip(chosen, killed, strict=True) if not gone]


def main() -> None:
    """Print a Markdown table, with the survivors of each module below it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"of {', '.join(TESTS)}; by default all")
    parser.add_argument("--sample", type=int, default=60, help="mutants of each module")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    os.environ["HYPOTHESIS_PROFILE"] = "repeatable"
    for name in PRELOADED:
        import_module(name)
    print(f"On {machine()}.\n\n| module | killed |\n| --- | ---: |")
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        for module, tried, alive in measure(
            arguments.modules or list(TESTS), arguments.sample, arguments.seed, arguments.jobs
        ):
            print(f"| `{module}` | {tried - len(alive)} / {tried} |", flush=True)
            survivors += [f"{module}:{mutant.line}: {mutant.text.splitlines()[0]}" for mutant in alive]
    print("\nSurvivors:", *survivors, sep="\n")


if __name__ == "__main__":
    main()
