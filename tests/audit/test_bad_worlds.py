"""Each bad world: what is spoiled is found, and audit, page, trace and status say the same word of a number."""

import subprocess
from pathlib import Path

import pytest

from recompose.audit.audit import audit
from recompose.audit.findings import Audit
from recompose.commands.status import store_item
from recompose.commands.trace import Artifact
from recompose.recipes import fingerprint as fingerprints
from recompose.recipes import plan
from recompose.recipes.plan import Recipe
from recompose.recipes.state import STATES
from recompose.site.document import Site
from recompose.tables import committed
from recompose.tables.committed import committed_since
from recompose.tables.published import Published
from recompose.tables.reports import Reports
from recompose.workspace import Workspace
from tests.audit import worlds
from tests.audit.worlds import WORLDS, Patch, World, audited, key_of
from tests.conftest import commit_files, environment

TABLE, ROW, COLUMN, VIEW = worlds.TABLE, "chance", worlds.COLUMN, "exact"


@pytest.mark.parametrize("world", WORLDS)
def test_all_say_the_same_word_of_what_is_spoiled(root: Path, clean: Audit, monkeypatch: Patch, world: World) -> None:
    """Nothing else is blamed; where ``found`` is None, several results are told of."""
    folders = (*worlds.evaluations_of(root), *worlds.indexes_of(root))
    names = dict(zip(("first", "second", "index", "other"), map(key_of, folders), strict=True))
    world.spoil(root, monkeypatch)
    work, key = Workspace(root), ("measured", VIEW, ROW, COLUMN)
    reports = Reports(work)
    published = Published.read(reports)
    found, of_page = audited(root), audit(reports, published, worlds.PAPERS_LOADED, quick=True)
    if world.found is None:
        assert found.findings
    else:
        places = sorted((finding.state, finding.place) for finding in found.findings)
        assert places == sorted((state, place.format(**names)) for state, place in world.found)
    assert worlds.moved(found, clean) == world.moved
    assert found.recomputed == world.recomputed
    if not world.word:
        return
    table = Artifact.read(work, TABLE)
    state = table.state(table.find(row=ROW, column=COLUMN, view=VIEW)[0])
    assert (found.cells[TABLE][key].word, of_page.cells[TABLE][key].word, state.word) == (world.word,) * 3
    assert bool(state.why) == (world.word != "current")
    cells = Site(worlds.PAPERS_LOADED, published, of_page, work.params, work.catalogue).document()["cells"]
    place = {"artifact": TABLE, "row": ROW, "column": COLUMN, "view": VIEW}
    assert [each["state"] for each in cells if each.items() >= place.items()] == [world.word]
    damaged = {f.keys[0] for f in found.findings if f.state == "changed" and f.place.startswith("results/")}
    status = {recipe.key: store_item(work, recipe).state for recipe in work.plan.recipes}
    assert {key for key, state in status.items() if state == "changed"} <= damaged


def test_every_word_is_said_of_some_world() -> None:
    assert {row.values[0].word for row in WORLDS} - {""} == set(STATES)


def forget() -> None:
    """A process reads sources, and asks git of them, once."""
    for kept in (fingerprints._own_reach, fingerprints._fingerprint_of_own, committed._find_commit):
        kept.cache_clear()


def test_code_that_was_committed_since_is_that_of_a_commit_and_no_other(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: Patch
) -> None:
    """A repository with one module: uncommitted, committed, edited again, and edited in its comments alone; and a
    plugin with a repository of its own.
    """
    source = tmp_path / "src/recompose/odd.py"
    source.parent.mkdir(parents=True)
    (tmp_path / "requirements.lock").touch()
    for module in (fingerprints, committed):
        monkeypatch.setattr(module, "ROOT", source.parent)

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, env=environment(), check=True, capture_output=True)

    def recipe_of(text: str, **others: str) -> Recipe:
        source.write_text(text)
        forget()
        return Recipe.of("runs", "odd", {"make": "recompose.odd", **others}, {})

    def same(text: str) -> None:
        assert recipe_of(text).code == recipe.code

    monkeypatch.setattr(plan, "ARITHMETIC", "recompose.odd")

    git("init", "--quiet")
    try:
        recipe = recipe_of("x = 1\n")
        assert committed_since(recipe) is None
        git("add", "--all")
        git("commit", "--quiet", "--message", "it")
        committed._find_commit.cache_clear()
        commit = committed_since(recipe)
        assert commit
        other = recipe_of("x = 2\n")
        assert committed_since(recipe) is committed_since(other) is None
        same("x = 1  # one\n")
        assert committed_since(recipe) is None  # what would be cloned has another file
        same("x = 1\n")
        assert committed_since(recipe) == commit
        gone = recipe.changed(code=recipe.code | {"recompose.gone": "0"})
        assert committed_since(gone) is committed_since(Recipe("runs")) is None
        apart = tmp_path_factory.mktemp("apart")
        for name in ("plugin.yaml", "model.py"):
            (apart / "my_apart").mkdir(exist_ok=True)
            (apart / "my_apart" / name).touch()
        monkeypatch.syspath_prepend(apart)
        both = recipe_of("x = 1\n", other="my_apart.model")
        assert committed_since(both) is None
        commit_files(apart, "my_apart/model.py")
        committed._find_commit.cache_clear()
        assert committed_since(both) == commit
    finally:
        forget()
