"""What is kept in git of the reports says nothing that differs from one making to another of the same: that is in
one file.
"""

import shutil
from pathlib import Path

import pytest
from safetensors.numpy import load_file, save_file

from recompose.digest import sha256_file
from recompose.files import write_json, write_text
from recompose.tables.artifacts import make_artifacts
from recompose.tables.due import artifact_recipe, is_due, written_artifacts
from recompose.tables.kinds import artifact_files
from recompose.tables.published import kept_lineage
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace
from tests.audit.worlds import (
    PAPERS_LOADED,
    audited,
    copy_of,
    correct,
    each_record,
    edit_json,
    evaluations_of,
    findings,
    remake_index,
    remake_reports,
)
from tests.configuration import complete, new_workspace
from tests.conftest import Project

REBUILT = "was rebuilt after the reports, with another result"
DUE = {"table-2": False, "table-3": True}
ELSEWHERE = {
    "started": "2031-05-06T07:08:09+00:00",
    "seconds": 98765.43,
    "attempts": 3,
    "host": "another-host",
    "system": "OtherOS",
    "commit": "e" * 40,
    "device": "8 x Another",
    "python": "3.99",
}


def everything(reports: Path) -> dict[str, bytes]:
    return {path.relative_to(reports).as_posix(): path.read_bytes() for path in reports.rglob("*") if path.is_file()}


MADE = "made.json"
SHOWN = {MADE, "index.html", "provenance.json"}  # the page shows digests, and the provenance has that of the page


@pytest.fixture(scope="module")
def both(chance_project: Project, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The reports as they were made, and made again from results as another machine would have them at another time:
    scores of other bytes that give the same metrics.
    """
    root = copy_of(chance_project.root, tmp_path_factory.mktemp("elsewhere") / "project")
    each_record(root, lambda record: record["made"].update(ELSEWHERE))
    for folder in evaluations_of(root):
        (folder / "log.txt").write_text("another log\n")
        scores = folder / "scores.safetensors"
        save_file(load_file(scores), scores, {"machine": "another"})
        correct(folder / "record.json", "log.txt", scores.name)
    remake_reports(root)
    return chance_project.root, root


def test_only_one_file_and_what_shows_it_differ(both: tuple[Path, Path]) -> None:
    here, there = (everything(root / "reports/smoke") for root in both)
    assert here.keys() == there.keys()
    assert {MADE} <= {name for name in here if here[name] != there[name]} <= SHOWN


def test_reports_that_were_made_again_elsewhere_are_clean(both: tuple[Path, Path]) -> None:
    found = audited(both[1])
    assert findings(found) == []
    assert found.cells.keys() == {"current"}


def test_an_artifact_that_is_older_than_a_rebuilt_result_is_stale_and_due(root: Path) -> None:
    """Its lineage is the same to the byte: the contents that it was made from tell, here and in the reports."""
    folder = evaluations_of(root)[0]
    save_file(load_file(folder / "scores.safetensors"), folder / "scores.safetensors", {"machine": "another"})
    correct(folder / "record.json", "scores.safetensors")
    edit_json(folder / "record.json", lambda record: record["made"].update(started="2031-05-06T07:08:09+00:00"))
    work = Workspace(root)
    czsl = [paper for paper in PAPERS_LOADED if paper.name == "msci"]
    make_artifacts(StoredResults(work), czsl[0], ["table-2"])
    remake_index(work)
    for kept in (True, False):
        if not kept:
            shutil.rmtree(root / "results/lineages")
        found = audited(root)
        assert set(found.states["msci/table-2"].values()) == {"current"}
        assert "stale" in found.states["msci/table-3"].values()
        assert ("stale", f"results/evaluations/{folder.name}", REBUILT) in findings(found)
        again, written = Workspace(root), written_artifacts(Workspace(root))
        recipes = {name: artifact_recipe(work, czsl[0], name) for name in DUE}
        due = {name: is_due(again, czsl[0], name, of, written) for name, of in recipes.items()}
        assert due == DUE


def test_a_table_of_data_is_due_once_the_data_is_indexed_anew_with_another_result(tmp_path: Path) -> None:
    work, (paper,) = new_workspace(tmp_path, "smoke"), [paper for paper in PAPERS_LOADED if paper.name == "msci"]
    recipe, name = artifact_recipe(work, paper, "table-1"), "msci/table-1"
    assert {need.kind for need in recipe.needs.values()} == {"data"}
    complete(work, recipe.needs.values())
    files = [work.reports / "msci" / file for file in artifact_files(paper, "table-1")]
    for file in files:
        write_text(file, "")
    contents = {need.key: work.store.record(need).content for need in recipe.needs.values()}
    made_from = {"recipe": recipe.digest, "contents": contents}
    write_json(kept_lineage(work, name), {**made_from, "files": {file.name: sha256_file(file) for file in files}})
    written = written_artifacts(work)
    assert not is_due(work, paper, "table-1", recipe, written)
    folder = work.results / min(contents)
    (folder / "labels.json").write_text("[]")
    correct(folder / "record.json", "labels.json")
    assert is_due(Workspace(tmp_path), paper, "table-1", recipe, written)
