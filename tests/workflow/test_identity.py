"""Whatever runs where a content is made is part of its identity, or in the one list of what cannot change it."""

import ast
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

import pytest

import recompose
from recompose.backbones.steps import RAW
from recompose.phases import carry_out, needs_of
from recompose.recipes.fingerprint import OUTSIDE, REST, Part, reached
from recompose.recipes.plan import ARITHMETIC, Recipe, closure
from recompose.workflow.worker.server import import_all
from recompose.workspace import Workspace
from tests.conftest import Project

pytestmark = pytest.mark.engines
ROOT = Path(recompose.__file__).parent


@cache
def names_by_line(file: str) -> dict[int, str]:
    """The name that the statement at the top level around each line defines; none of other statements."""
    names: dict[int, str] = {}
    for node in ast.parse(Path(file).read_text()).body:
        targets = [*getattr(node, "targets", []), getattr(node, "target", None)]
        name = getattr(node, "name", None) or next((each.id for each in targets if isinstance(each, ast.Name)), REST)
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        names |= dict.fromkeys(range(first, (node.end_lineno or first) + 1), name)
    return names


@contextmanager
def functions_that_run() -> Iterator[set[CodeType]]:
    """The code of this package's functions that run in this context, in any thread."""
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            codes.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield codes
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def part_of(code: CodeType) -> Part:
    """The module of a function, and the definition at the top level that holds it."""
    path = Path(code.co_filename).relative_to(ROOT).with_suffix("")
    module = ".".join(["recompose", *path.parts]).removesuffix(".__init__")
    return module, names_by_line(code.co_filename).get(code.co_firstlineno, REST)


def is_outside(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in OUTSIDE)


def one_of_each(recipes: tuple[Recipe, ...]) -> list[Recipe]:
    """One recipe of each kind, track, method and data set, and of what evaluations save."""
    chosen: dict[tuple[object, ...], Recipe] = {}
    for recipe in recipes:
        about = recipe.labels.get("method") or recipe.labels.get("dataset") or recipe.name
        saved = tuple(recipe.document.get("save", ()))
        chosen.setdefault((recipe.kind, recipe.track, about, saved), recipe)
    return [*chosen.values()]


def test_whatever_runs_where_a_content_is_made_is_identified(smoke_project: Project, tmp_path: Path) -> None:
    work = Workspace(smoke_project.root)
    import_all()  # what runs at imports runs before
    missing, never, recipes = dict[str, set[Part]](), dict[str, int](), one_of_each(work.plan.recipes)
    for number, recipe in enumerate(recipes):
        folder, needs = tmp_path / str(number), needs_of(work, recipe)
        folder.mkdir()
        if recipe.kind == "data":
            needs[RAW] = tmp_path / "raw"  # it is generated anew
        with functions_that_run() as codes:
            carry_out({folder: recipe}, needs)
        ran = {part for part in map(part_of, codes) if not is_outside(part[0])}
        # raw files that were deleted are generated again by the code of their data, whose digest is part of this one
        makers = [each.made_by.values() for each in closure([recipe]) if each is recipe or each.kind == "data"]
        own = reached([*recipe.made_by.values(), ARITHMETIC])
        identified = own.union(*(reached(roots) for roots in makers))
        if unidentified := {part for part in ran if part not in identified}:
            missing[f"{recipe.kind} {recipe.name}"] = unidentified
        never[f"{recipe.kind} {recipe.name}"] = len({module for module, _ in own} - {module for module, _ in ran})
    print(f"{len(recipes)} contents; modules of identities in which nothing ran, each an average of")
    print(f"{sum(never.values()) / len(never):.1f}; most: {sorted(never.items(), key=lambda item: -item[1])[:5]}")
    assert missing == {}
    assert len({recipe.kind for recipe in recipes}) == 7
