"""Which edits of the track's code give which contents another identity, and what is made anew of these."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recompose import fingerprint
from recompose.plan import Recipe
from recompose.workspace import Workspace
from tests.configuration import write_params

pytestmark = pytest.mark.slow

VLC = "recompose.tracks.vlc"
EVALUATIONS = {"evaluations"}
SUITES = {"data", "pixels", "evaluations"}
Edit = Callable[[str], None]


def forget() -> None:
    """A process reads sources once."""
    fingerprint._own_closure.cache_clear()


@pytest.fixture
def edit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Edit]:
    """Give a module of the package another statement, as far as its fingerprint says."""
    read = fingerprint._read_own

    def edit(name: str) -> None:
        assert fingerprint.is_module(name)
        read(name)  # there is such a module
        monkeypatch.setattr(
            fingerprint, "_read_own", lambda module: ["edited", *read(module)[1:]] if module == name else read(module)
        )
        forget()

    forget()
    yield edit
    forget()


def project(root: Path) -> Workspace:
    """The profile demo with the track alone, planned with the code as it is now."""
    of_demo = {"based_on": "demo", "czsl": None, "gzsl": None}
    write_params(root, "captions", {f"profiles.captions.{key}": value for key, value in of_demo.items()})
    work = Workspace(root)
    assert work.plan.of("evaluations")
    return work


def changed(before: Workspace, after: Workspace) -> list[Recipe]:
    """The recipes that are others than before."""
    known = {recipe.digest for recipe in before.plan.recipes}
    return [recipe for recipe in after.plan.recipes if recipe.digest not in known]


def kinds(recipes: list[Recipe]) -> set[str]:
    return {recipe.kind for recipe in recipes}


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("data.synthetic_suites.standalone", SUITES),
        ("data.formats.aro", SUITES),  # drawn by the profile
        ("data.formats.bivlc", set()),
        ("evaluation", EVALUATIONS),
        ("suites.scores", SUITES),  # tasks know how they are scored
        ("suites.tasks", SUITES),
        ("suites.embeddings", EVALUATIONS),
        ("suites.accuracy", set()),
        ("suites.judges", set()),
        ("suites.catalogue", SUITES),
        ("suites.values", set()),
        ("tables.benchmarks", set()),
        ("figures.holistic", set()),
        ("training", {"runs", "evaluations"}),
        ("losses", {"runs", "evaluations"}),
    ],
)
def test_an_edit_changes_what_its_code_can_move(tmp_path: Path, edit: Edit, module: str, expected: set[str]) -> None:
    before = project(tmp_path)
    edit(f"{VLC}.{module}")
    assert kinds(changed(before, project(tmp_path))) == expected


def test_an_edit_of_attribution_changes_the_evaluations_that_save_it(tmp_path: Path, edit: Edit) -> None:
    before = project(tmp_path)
    saving = [recipe for recipe in before.plan.of("evaluations") if "attribution" in recipe.document["save"]]
    edit(f"{VLC}.attribution.attribute")
    others = changed(before, project(tmp_path))
    assert kinds(others) == EVALUATIONS
    assert len(others) == len(saving) > 0
    assert all("attribution" in recipe.document["save"] for recipe in others)


def test_an_edit_of_a_method_changes_the_methods_that_are_built_on_it(tmp_path: Path, edit: Edit) -> None:
    before = project(tmp_path)
    edit(f"{VLC}.methods.fsc_clip")
    others = changed(before, project(tmp_path))
    assert kinds(others) == {"runs", "evaluations"}
    assert {str(recipe.document["class"]).partition(":")[0] for recipe in others} == {f"{VLC}.methods.fsc_clip"}
