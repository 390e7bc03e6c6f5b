"""Reports of things that nobody made: what a plan asks for, with files, numbers and circumstances that are invented."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from recompose.digest import sha256_file
from recompose.files import read_json, write_json, write_text
from recompose.parts.cells import Cell
from recompose.recipes.plan import NOTHING, Recipe, closure
from recompose.tables.formats import FORMATS
from recompose.tables.provenance import MADE, PROVENANCE, ArtifactCells, Made, Provenance, Values
from recompose.tables.published import Published

Artifacts = Mapping[str, tuple[Iterable[Recipe], list[dict[str, Any]]]]  # what each needs, and its cells


def publish(
    reports: Path, artifacts: Artifacts, values: Values = NOTHING, planned: Mapping[str, Recipe] = NOTHING, **made: Any
) -> None:
    """Write the provenance of artifacts, with these recipes where they are planned, and the files of those, and when
    and where everything behind them was made.
    """
    recipes, entries, files = list[Recipe](), dict[str, ArtifactCells](), dict[str, str]()
    for name, (needs, cells) in artifacts.items():
        recipe = planned.get(name, Recipe("artifacts", name, {"artifact": name}, roles_of(needs)))
        recipes.append(recipe)
        entries[name] = ArtifactCells(recipe=recipe.key, cells=[Cell.model_validate(cell) for cell in cells])
        for file in [f"{name}.{ending}" for ending in FORMATS if name in planned]:
            write_text(reports / file, "")
            files[file] = sha256_file(reports / file)
    write_text(reports / PROVENANCE, Provenance.of(closure(recipes), values, entries, files).text)
    Made(**{"provenance": sha256_file(reports / PROVENANCE), **made}).write(reports)


def published_of(artifacts: Artifacts, **parts: Any) -> Published:
    """What reports tell of artifacts, without files."""
    recipes, cells = dict[str, Recipe](), dict[str, list[Cell]]()
    for name, (needs, of) in artifacts.items():
        recipes[name] = Recipe("artifacts", name, {}, roles_of(needs))
        cells[name] = [Cell.model_validate(cell) for cell in of]
    return Published(recipes, cells, **parts)


def roles_of(needs: Iterable[Recipe]) -> dict[str, Recipe]:
    """What an artifact needs, evaluations and data, by role; variants of a method have no names here."""
    roles: dict[str, Recipe] = {}
    for need in needs:
        labels = need.labels
        name = labels.get("name", labels.get("method"))
        role = f"{name}/{labels['dataset']}/{labels['seed']}" if "seed" in labels else need.key
        roles[need.key if role in roles else role] = need
    return roles


def edit_provenance(reports: Path, edit: Callable[[Any], object]) -> None:
    """Edit provenance.json, and its digest, as a forger would."""
    document, made = read_json(reports / PROVENANCE), read_json(reports / MADE)
    edit(document)
    write_json(reports / PROVENANCE, document)
    write_json(reports / MADE, {**made, "provenance": sha256_file(reports / PROVENANCE)})


def edit_artifact(reports: Path, artifact: str, edit: Callable[[Any], object]) -> None:
    """Edit what provenance.json has of an artifact."""
    edit_provenance(reports, lambda document: edit(document["artifacts"][artifact]))


def correct_artifact(reports: Path, artifact: str, *names: str) -> None:
    """Make provenance.json agree with files of an artifact that were changed."""
    paper = artifact.partition("/")[0]
    digests = {f"{paper}/{name}": sha256_file(reports / paper / name) for name in names}
    edit_provenance(reports, lambda document: document["files"].update(digests))


def cell_of(row: str, evaluations: Iterable[Recipe], **more: Any) -> dict[str, Any]:
    """A cell that was made from evaluations of one method or variant; ``names`` says which."""
    keys = [recipe.key for recipe in evaluations]
    return {
        "row": row,
        "column": "shapes-pairs AUC",
        "view": "exact",
        "part": "",
        "benchmark": "shapes-pairs",
        "metric": "test/closed/dense/auc",
        "names": [],
        "text": "1.0",
        "value": 1.0,
        "spread": None,
        "n": len(keys),
        "better": 1,
        "made_from": keys,
        "values": [1.0] * len(keys),
        "beside": [],
        **more,
    }
