"""Mutants: each has one change, and a test that sees the change kills it."""

import ast
import subprocess
import sys

import pytest

from benchmarks.mutants import mutants
from benchmarks.mutation import TESTS, path_of
from tests.conftest import ROOT, environment

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("x < 1", {"x <= 1", "x < 2"}),
        ("a and b", {"a or b"}),
        ("a + -b", {"a - -b", "a + +b"}),
        ("not a", {"not not a"}),
        ("a if b else c", {"a if not b else c"}),
        ("[a for a in b if c]", {"[a for a in b if not c]"}),
        ("x = True", {"x = False"}),
        (
            "def f(a: int | None=None) -> int | None:\n    return a",
            {"def f(a: int | None=None) -> int | None:\n    return None"},
        ),
        ("x: int | None = y", set()),
        ("x = 'text'", set()),
    ],
)
def test_every_part_that_computes_is_changed_once(source: str, changed: set[str]) -> None:
    assert {mutant.source for mutant in mutants(source)} == changed


def test_mutants_of_a_module_differ_from_it_and_from_each_other() -> None:
    source = path_of("recompose.claims.verdicts").read_text(encoding="utf-8")
    sources = [mutant.source for mutant in mutants(source)]
    assert len({*sources, ast.unparse(ast.parse(source))}) == len(sources) + 1
    assert all((ROOT / "tests" / name).is_file() for names in TESTS.values() for name in names)


def test_the_measurement_tells_killed_from_all() -> None:
    module = "recompose.claims.verdicts"  # its tests are those that take least
    command = [sys.executable, "-m", "benchmarks.mutation", module, "--sample", "1"]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)
    row = next(line for line in done.stdout.splitlines() if f"{module}` |" in line)
    assert row.endswith("/ 1 |")
