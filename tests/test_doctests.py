"""The examples in docstrings: of every module that has one."""

import doctest
import importlib
from pathlib import Path

import pytest

import recompose

ROOT = Path(recompose.__file__).parent
MODULES = sorted(
    ".".join(["recompose", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.attempted > 0
    assert results.failed == 0
