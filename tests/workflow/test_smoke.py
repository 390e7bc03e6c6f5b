"""The whole workflow at its smallest: every method, once in a session, on four cores."""

import json

import pytest

from recompose.papers.declaration import PAPERS, load_paper
from recompose.tables.kinds import artifact_files
from recompose.tables.provenance import Provenance
from recompose.tables.stored_results import StoredResults
from recompose.tracks import TRACKS
from recompose.workspace import Workspace
from tests.conftest import Project

pytestmark = pytest.mark.engines


def behind(project: Project) -> set[str]:
    """The evaluations behind the cells of all artifacts."""
    provenance = Provenance.read(project.published)
    keys = {key for entry in provenance.artifacts.values() for cell in entry.cells for key in cell.made_from}
    return {key for key in keys if key.startswith("evaluations/")}


def test_every_artifact_is_there_and_every_cell_has_its_evaluations(smoke_project: Project) -> None:
    for paper in map(load_paper, PAPERS):
        declared = {file for name in paper.artifacts for file in artifact_files(paper, name)}
        files = {path.name for path in (smoke_project.published / paper.name).iterdir()}
        assert files == declared | {"README.md"}
    plan = Workspace(smoke_project.root).plan
    assert not Workspace(smoke_project.root).missing(plan.recipes)
    evaluated = {recipe.labels["method"] for recipe in plan.of("evaluations")}
    assert evaluated >= {*TRACKS["czsl"].methods, *TRACKS["gzsl"].methods, "clip", "fsc-clip"}
    assert behind(smoke_project) == {recipe.key for recipe in plan.of("evaluations")}


def test_every_metric_of_an_evaluation_is_declared(smoke_project: Project) -> None:
    work = Workspace(smoke_project.root)
    results, evaluations = StoredResults(work), work.plan.of("evaluations")
    assert {recipe.track for recipe in evaluations} == {*TRACKS}
    for recipe in evaluations:
        track, names = TRACKS[recipe.track], results.computed(recipe)
        assert names
        for name in names:
            track.check_metric(name, work.params)  # an undeclared one is an error


def test_its_reports_are_clean(smoke_project: Project) -> None:
    """Also where rows of a table have unequal seeds, and data of their own in each."""
    audit = json.loads(smoke_project.recompose("audit", "--json").stdout)
    assert (audit["findings"], set(audit["cells"])) == ([], {"current"})


def test_nothing_of_any_track_is_due(smoke_project: Project) -> None:
    assert "Nothing to be done" in smoke_project.snakemake("--dry-run").stdout
