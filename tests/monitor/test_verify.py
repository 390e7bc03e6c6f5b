"""Runs that are made again: forgeries are found, and nothing is left behind.

Makers are replaced by ones that write bytes which follow from the recipe, and a metric by one that follows from these.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path
from statistics import mean
from types import SimpleNamespace
from typing import Any

import pytest

from recompose import phases, store
from recompose.digest import sha256_file
from recompose.errors import PlanError, RecomposeError, TraceError
from recompose.exhibits.cells import Cell
from recompose.files import read_json, write_json
from recompose.inference.retraining import DIFFERENT, WITHIN
from recompose.monitor.verify import (
    ELSEWHERE,
    EQUAL,
    UNEQUAL,
    Verification,
    sample_cell,
    sample_runs,
    separate_workspace,
    verify,
)
from recompose.phases import PHASES, Phase
from recompose.plan import Recipe, closure
from recompose.provenance.cell_place import CellPlace
from recompose.provenance.rerun import BYTES, DIFFERS, FAILED, OTHER_MACHINE, UNPLANNED
from recompose.report.artifacts import lineage_of
from recompose.report.lineage import lineage_path, write_made
from recompose.report.published import PublishedLineage
from recompose.report.results import StoredResults
from recompose.report.retraining import RetrainedMetric, RetrainingSpreads
from recompose.terminal.verify import sentence
from recompose.tracks import TRACKS
from recompose.workspace import Workspace
from tests.configuration import write_params
from tests.errors import raises
from tests.provenance.worlds import edit_json

pytestmark = pytest.mark.slow

METRIC, FAR = "test/closed/dense/auc", 10.0
SEEDS = [0, 1, 2, 3]
FILE = {"runs": "checkpoint.safetensors", "evaluations": "scores.safetensors"}
TABLE = "msci/table-2"


def number_in(scores: Path) -> float:
    return int(hashlib.sha256(scores.read_bytes()).hexdigest()[:4], 16) / 0xFFFF


def replace_makers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every phase write one file of bytes that follow from the recipe and from what it needs."""

    def write(work: Workspace, recipe: Recipe, folder: Path) -> None:
        needs = [work.store.record(need).content for need in recipe.needs.values()]
        (folder / FILE.get(recipe.kind, "made.txt")).write_text(f"{recipe.digest} {needs}")

    def metrics(_: object, evaluation: Path, needs: object) -> dict[str, float]:
        return {METRIC: number_in(evaluation / FILE["evaluations"])}

    monkeypatch.setattr(phases, "PHASES", {kind: Phase("", write) for kind in PHASES})
    monkeypatch.setattr(phases, "_say_headline", lambda *_: None)
    monkeypatch.setattr(phases, "raw_folder", lambda work, recipe: work.data)
    monkeypatch.setattr(store, "state_of_sources", lambda: {"commit": None, "dirty": None})  # git takes long
    monkeypatch.setattr(type(TRACKS["czsl"]), "metrics", metrics)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the results of four runs, and without reports yet."""
    root = tmp_path_factory.mktemp("made")
    edits = {"profiles.smoke.czsl.methods": ["csp"], "profiles.smoke.gzsl": None, "profiles.smoke.vlc": None}
    write_params(root, "smoke", edits | {"profiles.smoke.czsl.seeds": SEEDS})
    work = Workspace(root)
    with pytest.MonkeyPatch.context() as monkeypatch:
        replace_makers(monkeypatch)
        phases.make(work, closure(evaluations_of(work)))
    return root


@pytest.fixture
def work(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A copy of it, with the same makers and a folder of its own for temporary files."""
    replace_makers(monkeypatch)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    shutil.copytree(made, tmp_path / "project")
    return Workspace(tmp_path / "project")


def evaluations_of(work: Workspace) -> list[Recipe]:
    return work.plan.evaluations("czsl", "csp", "shapes-pairs")


def publish(work: Workspace, value: Callable[[float], float] = lambda value: value) -> PublishedLineage:
    """Write a table with the mean over all runs and the number of the first, as if the stored results were right."""
    evaluations = evaluations_of(work)
    cells = []
    for column, recipes in (("AUC", evaluations), ("first AUC", evaluations[:1])):
        values = tuple(100 * number_in(work.store.folder(recipe) / FILE["evaluations"]) for recipe in recipes)
        keys = tuple(recipe.key for recipe in recipes)
        shown = value(mean(values))
        cells.append(
            Cell(
                "CSP",
                column,
                "measured",
                f"{shown:.1f}",
                shown,
                None,
                len(keys),
                keys,
                keys,
                values=values,
                names=("csp",),
                benchmark="shapes-pairs",
                metric=METRIC,
            )
        )
    planned = {("csp", "shapes-pairs"): evaluations}
    lineage_of(StoredResults(work), "czsl", cells, planned).write(lineage_path(work.reports / TABLE))
    made = {recipe.key: work.store.record(recipe).made for recipe in closure(evaluations)}
    write_made(work.reports, made)
    return read(work)


def read(work: Workspace) -> PublishedLineage:
    return PublishedLineage.read(work.reports, work.papers)


def forge(work: Workspace, recipe: Recipe) -> None:
    """Change a stored file, and its digest in the record."""
    folder = work.store.folder(recipe)
    name = next(name for name in work.store.record(recipe).files if name != "log.txt")
    (folder / name).write_text("forged")
    size = {"sha256": sha256_file(folder / name), "bytes": (folder / name).stat().st_size}
    edit_json(folder / "record.json", lambda record: record["files"].update({name: size}))


def verified(work: Workspace, published: PublishedLineage, count: int = len(SEEDS)) -> Verification:
    sample = sample_runs(work, published, "seed", count)
    return verify(work, published, sample, RetrainingSpreads.read(work.reports))


def left_behind() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob("recompose-verify-*"))


@pytest.mark.parametrize("is_clone", [True, False])
def test_honest_reports_are_equal_to_the_byte(work: Workspace, is_clone: bool) -> None:
    published = publish(work)
    stored = {path: path.read_bytes() for path in work.results.rglob("record.json")}
    if is_clone:
        shutil.rmtree(work.results)
    result = verified(work, published, 3)
    assert result.exit_code == EQUAL
    assert result.outcomes.total() == 3
    assert all(comparison.words.keys() == {"identical"} for comparison in result.comparisons)
    assert "75 %" in sentence(result)  # one wrong run of four is among three of them
    assert {path: path.read_bytes() for path in work.results.rglob("record.json")} == ({} if is_clone else stored)
    assert left_behind() == []


@pytest.mark.parametrize("is_clone", [True, False])
@pytest.mark.parametrize("kind", ["runs", "evaluations", "data"])
def test_a_published_forgery_is_found(work: Workspace, kind: str, is_clone: bool) -> None:
    """Of a checkpoint, scores, or data: with right digests of the wrong bytes in records, lineage and numbers."""
    recipe = next(recipe for recipe in closure(evaluations_of(work)[2:3]) if recipe.kind == kind)
    forge(work, recipe)
    published = publish(work)
    if is_clone:
        shutil.rmtree(work.results)
    result = verified(work, published)
    assert result.exit_code == UNEQUAL
    differing = [found for found in result.comparisons if found.outcome == DIFFERS]
    assert {recipe.key} <= {difference.key for found in differing for difference in found.files}
    assert len(differing) == (len(SEEDS) if kind == "data" and is_shared(work, recipe) else 1)
    assert "%" not in sentence(result)


def is_shared(work: Workspace, data: Recipe) -> bool:
    return all(data.key in {need.key for need in closure([recipe])} for recipe in evaluations_of(work))


@pytest.mark.parametrize("kind", ["runs", "evaluations"])
def test_a_forgery_of_the_stored_results_alone_is_found(work: Workspace, kind: str) -> None:
    published = publish(work)
    recipe = next(recipe for recipe in closure(evaluations_of(work)[1:2]) if recipe.kind == kind)
    forge(work, recipe)
    (found,) = [found for found in verified(work, published).comparisons if found.outcome == DIFFERS]
    assert {(difference.key, difference.source) for difference in found.files} == {(recipe.key, "results")}


def test_changed_bytes_of_a_stored_file_are_found(work: Workspace) -> None:
    published, recipe = publish(work), evaluations_of(work)[0]
    (work.store.folder(recipe) / FILE["evaluations"]).write_text("changed")
    (found,) = [found for found in verified(work, published).comparisons if found.outcome == DIFFERS]
    assert [difference.files for difference in found.files] == [(FILE["evaluations"],)]


def test_a_number_that_does_not_follow_from_its_runs_is_found(work: Workspace) -> None:
    published = publish(work, lambda value: value + FAR)
    result = verified(work, published)
    assert result.exit_code == UNEQUAL
    differing = [number for found in result.comparisons for number in found.numbers if number.word == "different"]
    assert {number.place for number in differing} == {"CSP/AUC", "CSP/first AUC"}
    assert all(number.then - number.now == pytest.approx(FAR) for number in differing)


def on_another_machine(work: Workspace) -> None:
    path = work.reports / "made.json"
    made = read_json(path)
    for build in made["results"].values():
        build["instruction_set"] = "of another machine"
    write_json(path, made)


@pytest.mark.parametrize(("kind", "outcome"), [("runs", OTHER_MACHINE), ("data", DIFFERS)])
def test_another_machine_explains_other_bytes_of_what_is_computed_in_floats(
    work: Workspace, kind: str, outcome: str
) -> None:
    recipe = next(recipe for recipe in closure(evaluations_of(work)[:1]) if recipe.kind == kind)
    forge(work, recipe)
    publish(work)
    on_another_machine(work)
    shutil.rmtree(work.results)
    result = verified(work, read(work))
    assert {found.outcome for found in result.comparisons if found.files} == {outcome}
    assert result.exit_code == (ELSEWHERE if outcome == OTHER_MACHINE else UNEQUAL)


def measure_retraining(work: Workspace, deviation: float) -> None:
    column = {"track": "czsl", "benchmark": "shapes-pairs", "metric": METRIC, "method": "csp", "name": "csp"}
    line = RetrainedMetric(**column, variance=deviation**2, freedom=100, step=0.1)
    RetrainingSpreads((line,)).write(work.reports)


@pytest.mark.parametrize(
    ("deviation", "code"), [(None, UNEQUAL), (1e-6, UNEQUAL), (100.0, ELSEWHERE)], ids=["unmeasured", "small", "large"]
)
def test_another_machine_explains_what_retraining_moves(work: Workspace, deviation: float | None, code: int) -> None:
    """Numbers are random between 0 and 100, so a deviation of 100 moves them all, and a tiny one none."""
    forge(work, evaluations_of(work)[0])
    publish(work)
    on_another_machine(work)
    if deviation is not None:
        measure_retraining(work, deviation)
    shutil.rmtree(work.results)
    result = verified(work, read(work))
    (found,) = [found for found in result.comparisons if found.files]
    assert (result.exit_code, result.has_spreads) == (code, deviation is not None)
    assert found.words.keys() == {DIFFERENT if code == UNEQUAL else WITHIN}
    assert ("recompose retraining" in sentence(result)) == (deviation is None)


def test_retraining_excuses_no_number_of_equal_bytes(work: Workspace) -> None:
    publish(work, lambda value: value + FAR)
    on_another_machine(work)
    measure_retraining(work, 100.0)
    shutil.rmtree(work.results)
    result = verified(work, read(work))
    assert (result.exit_code, [found.files for found in result.comparisons]) == (UNEQUAL, [()] * len(SEEDS))


def test_all_runs_behind_a_cell_are_made_again(work: Workspace) -> None:
    published = publish(work)
    place = CellPlace.parse(f"{work.reports_place}/{TABLE}#CSP/first AUC", work)
    sample = sample_cell(work, published, place)
    first = evaluations_of(work)[0]
    assert sample.runs == {first.needs["run"].key: (first.key,)}
    result = verify(work, published, sample, RetrainingSpreads.read(work.reports))
    assert (result.exit_code, result.detection) == (EQUAL, None)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("msci/table-2", "no-cell"),
        ("msci/table-2#", "no-cell"),
        ("#CSP/AUC", "no-cell"),
        ("reports/study/msci/table-2#CSP/AUC", "other-profile"),
        ("msci/table-2#CPS/AUC", "missing-cell"),
        ("msci/table-9#CSP/AUC", "unknown-artifact"),
    ],
)
def test_a_cell_that_is_none_is_an_error(work: Workspace, text: str, code: str) -> None:
    published = publish(work)
    with raises(TraceError, code):
        sample_cell(work, published, CellPlace.parse(text, work))


def test_a_run_that_is_not_planned_any_more_is_not_made(work: Workspace) -> None:
    publish(work)
    shutil.rmtree(work.results)
    edit_json(work.root / "params.yaml", lambda document: document["profiles"]["smoke"]["czsl"].update(seeds=[0, 1]))
    now = Workspace(work.root)
    result = verified(now, read(now))
    assert result.outcomes[UNPLANNED] == 2
    assert result.exit_code == UNEQUAL


def test_a_run_that_fails_is_named_with_its_reason(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    published = publish(work)

    def fail(*_: object) -> None:
        raise ValueError("no such luck")

    monkeypatch.setattr(phases, "PHASES", {kind: Phase("", fail) for kind in PHASES})
    result = verified(work, published, 1)
    assert result.outcomes[FAILED] == 1
    assert "no such luck" in result.comparisons[0].fault
    assert result.exit_code == UNEQUAL


def test_as_many_runs_are_drawn_as_fit_into_the_time(work: Workspace) -> None:
    published = publish(work)
    assert len(sample_runs(work, published, "seed", None, 60.0).runs) == len(SEEDS)
    with raises(PlanError, "too-short", "--minutes"):
        sample_runs(work, published, "seed", None, 0.01)


def test_a_number_of_runs_and_a_time_are_both_kept(work: Workspace) -> None:
    published = publish(work)
    assert len(sample_runs(work, published, "seed", 1, 60.0).runs) == 1
    with raises(PlanError, "too-short", "--minutes"):
        sample_runs(work, published, "seed", 1, 0.01)


@pytest.mark.parametrize(("limit", "begun"), [(inf, len(SEEDS)), (3.0, 1)])
def test_no_run_is_begun_after_the_time(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, limit: float, begun: int
) -> None:
    """A single process makes them one after the other, more slowly than estimated, by a clock of its own."""
    published, make, now = publish(work), phases.make, [0.0]

    def make_slowly(*arguments: Any) -> None:
        make(*arguments)
        now[0] += 4.0

    monkeypatch.setattr("recompose.monitor.verify.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr("recompose.monitor.verify.processes", lambda work: 1)
    monkeypatch.setattr(phases, "make", make_slowly)
    sample = replace(sample_runs(work, published, "seed"), limit=limit)
    result = verify(work, published, sample, RetrainingSpreads.read(work.reports))
    assert (result.outcomes, result.unmade) == ({BYTES: begun}, len(SEEDS) - begun)
    late = f"{begun} of {len(SEEDS)} runs made again ({len(SEEDS) - begun} more were drawn, but the time was over): "
    assert sentence(result).startswith(late) is (begun < len(SEEDS))


def test_reports_without_runs_are_an_error(work: Workspace) -> None:
    with raises(RecomposeError, "no-reports"):
        sample_runs(work, read(work), "seed", 1)


def test_an_interrupt_leaves_nothing(work: Workspace) -> None:
    with pytest.raises(KeyboardInterrupt), separate_workspace(work, keep=False) as rerun:
        phases.make(rerun, closure(evaluations_of(work)[:1]))
        assert left_behind() != []
        raise KeyboardInterrupt
    assert left_behind() == []


def test_published_files_are_those_of_the_project_and_generated_ones_are_not(work: Workspace) -> None:
    data = work.plan.of("data")[0]
    for name in ("archives", f"{data.name}-{data.folder}", ".locks"):
        (work.data / name).mkdir(parents=True)
    (work.root / "archives.lock").write_text("{}")
    with separate_workspace(work, keep=False) as rerun:
        assert [path.name for path in rerun.data.iterdir()] == ["archives"]
        assert (rerun.data / "archives").resolve() == (work.data / "archives").resolve()
        assert (rerun.data.parent / "archives.lock").read_text() == "{}"
    assert (work.data / "archives").is_dir()


def test_the_document_has_everything_that_differs(work: Workspace) -> None:
    forge(work, evaluations_of(work)[0])
    result = verified(work, publish(work))
    document = json.loads(json.dumps(result.document()))
    assert document["runs"] == document["drawn"] == len(SEEDS)
    assert sum(len(found["files"]) for found in document["comparisons"]) == 2  # of the reports and of the results
