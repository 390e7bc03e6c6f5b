"""Provenance: what is written is read again, nothing twice, and an edit of what determines a number is seen."""

import json
from pathlib import Path
from typing import Any

import pytest

from recompose.errors import ProvenanceError
from recompose.files import write_text
from recompose.parts.cells import Cell
from recompose.recipes.plan import Recipe, closure
from recompose.recipes.records import Build
from recompose.tables.provenance import MADE, PROVENANCE, ArtifactCells, Made, Provenance
from tests.configuration import MADE as BUILT

DATA = Recipe("data", "d", {"images": 3}, code={"reader": "1"}, made_by={"make": "reader:make"}, sources={"url": "u"})
RUNS = [Recipe("runs", f"r {seed}", {"seed": seed, "lr": 0.1}, {"data": DATA}, {"m": "2"}, "czsl") for seed in (0, 1)]
SCORES = [Recipe("evaluations", "e", {}, {"run": run, "data": DATA}, labels={"seed": 0}) for run in RUNS]
TABLE = Recipe("artifacts", "p/t", {"declared": {}}, {"m/d/0": SCORES[0], "m/d/1": SCORES[1], "d": DATA})
CELLS = [
    Cell(row="a", column="AUC", text="1.5", value=1.5, made_from=[each.key for each in SCORES], values=[1.0, 2.0]),
    Cell(row="b", column="AUC", text="2.0", value=2, made_from=[SCORES[1].key]),
    Cell(row="c", column="n", text="not run"),
]
VALUES = {SCORES[0].key: {"auc": 1 / 3, "h": 2.0}, SCORES[1].key: {"auc": 1e-9}}


def written(folder: Path) -> Provenance:
    entries = {"p/t": ArtifactCells(recipe=TABLE.key, cells=CELLS)}
    provenance = Provenance.of(closure([TABLE]), VALUES, entries, {"p/t.csv": "0" * 64})
    write_text(folder / PROVENANCE, provenance.text)
    return Provenance.read(folder)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    read = written(tmp_path)
    expected = {recipe.key: recipe.plain() for recipe in closure([TABLE])}
    assert {key: recipe.plain() for key, recipe in read.recipes.items()} == expected
    assert [cell.plain() for cell in read.artifacts["p/t"].cells] == [cell.plain() for cell in CELLS]
    assert (read.values, read.files) == (VALUES, {"p/t.csv": "0" * 64})
    assert read.text == (tmp_path / PROVENANCE).read_text()


def test_each_thing_stands_once_on_a_line_of_its_own(tmp_path: Path) -> None:
    written(tmp_path)
    lines = (tmp_path / PROVENANCE).read_text().splitlines()
    for recipe in closure([TABLE]):
        assert sum(line.startswith(f'"{recipe.key}": {{') for line in lines) == 1
    assert sum('"reader:make"' in line for line in lines) == 1
    for cell in CELLS:
        assert sum(f'"row": "{cell.row}"' in line for line in lines) == 1


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("recipes", RUNS[0].key, "document", "lr"), 0.2),
        (("recipes", RUNS[0].key, "needs", "data"), SCORES[0].key),  # in a circle
        (("recipes", TABLE.key, "needs", "d"), "data/000000000000"),
        (("recipes", DATA.key, "code"), "0" * 12),
        (("recipes", DATA.key), 3),
    ],
)
def test_a_recipe_that_was_edited_is_an_error(tmp_path: Path, place: tuple[str, ...], value: Any) -> None:
    written(tmp_path)
    document = json.loads((tmp_path / PROVENANCE).read_text())
    *sections, last = place
    section = document
    for name in sections:
        section = section[name]
    section[last] = value
    (tmp_path / PROVENANCE).write_text(json.dumps(document))
    with pytest.raises((ProvenanceError, ValueError), match="recipes"):
        _ = Provenance.read(tmp_path).recipes


def test_builds_are_read_again_and_share_their_environment(tmp_path: Path) -> None:
    builds = {
        recipe.key: Build.model_validate({**BUILT, "seconds": float(number), "host": host})
        for number, (recipe, host) in enumerate(zip([DATA, *RUNS, *SCORES], "aabba", strict=True))
    }
    write_text(tmp_path / PROVENANCE, "{}")
    Made.of(builds, {SCORES[0].key: {"auc": 1.0, "cost/seconds": 2.0}}, tmp_path / PROVENANCE).write(tmp_path)
    read = Made.read(tmp_path)
    assert read.builds == builds
    assert read.costs == {SCORES[0].key: {"cost/seconds": 2.0}}
    assert len(json.loads((tmp_path / MADE).read_text())["environments"]) == 2
