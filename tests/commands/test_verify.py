"""Runs that are made again: forgeries are found, and nothing is left behind.

Makers are replaced by ones that write bytes which follow from the recipe, and a metric by one that follows from these.
"""

import hashlib
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import mean, stdev

import pytest
from filelock import Timeout

from recompose import phases
from recompose.commands.places import CellPlace
from recompose.commands.verify import (
    BYTES,
    DIFFERS,
    FAILED,
    UNPLANNED,
    Rerun,
    Runs,
    _separate_folder,
    draw,
    exit_code,
    make_again,
    runs_behind,
    sentence,
)
from recompose.data.raw import unpack
from recompose.recipes import store
from recompose.recipes.locks import lock_below
from recompose.recipes.plan import Recipe, closure
from recompose.recipes.records import Record
from recompose.tables.provenance import MADE
from recompose.tables.published import Published
from recompose.tables.reports import Reports
from recompose.workspace import Workspace
from tests.audit import invented
from tests.audit.invented import cell_of, edit_provenance
from tests.audit.worlds import correct, edit_json
from tests.configuration import write_params

pytestmark = pytest.mark.slow

METRIC, FAR = "test/closed/dense/auc", 10.0
SEEDS = [0, 1, 2, 3]
FILE = {"runs": "checkpoint.safetensors", "evaluations": "scores.safetensors"}
TABLE = "msci/table-2"
NUMBER = re.compile(rf"{METRIC} of (\S+): (\S+) in the reports, (\S+) now(?:; spread of (\d) replicates: (\S+))?")


def number_in(scores: Path) -> float:
    """A number far from those of other seeds, which moves a little with the bytes; that of a forgery is in between."""
    seed = re.match(r"seed (\d)", scores.read_text())
    level = (1 + int(seed[1])) / 5 if seed else 0.5
    return level + int(hashlib.sha256(scores.read_bytes()).hexdigest()[:4], 16) / 0xFFFF / 50


def replace_makers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every phase write one file of bytes that follow from the recipe and from what it needs."""

    def write(recipes: Mapping[Path, Recipe], needs: Mapping[str, Path]) -> None:
        for folder, recipe in recipes.items():
            records = [Record.read(needs[role] / "record.json").content for role in recipe.needs]
            text = f"seed {recipe.labels.get('seed')} {recipe.digest} {records}"
            (folder / FILE.get(recipe.kind, "made.txt")).write_text(text)

    def metrics(needs: object, evaluation: Path) -> dict[str, float]:
        return {METRIC: number_in(evaluation / FILE["evaluations"])}

    monkeypatch.setattr(phases, "carry_out", write)
    monkeypatch.setattr(phases, "_measure", lambda *_: None)
    monkeypatch.setattr(phases, "acquire", lambda recipe, raw: raw)
    monkeypatch.setattr(store, "state_of_sources", lambda *_: {"commit": None, "dirty": None})  # git takes long
    monkeypatch.setattr("recompose.tracks.czsl.metric_values.read_metrics", metrics)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
def work(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A copy of it, with the same makers and a folder of its own for temporary files."""
    replace_makers(monkeypatch)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    shutil.copytree(finished, tmp_path / "project")
    return Workspace(tmp_path / "project")


def evaluations_of(work: Workspace) -> list[Recipe]:
    return work.plan.evaluations("czsl", "csp", "shapes-pairs")


def publish(
    work: Workspace, value: Callable[[float], float] = lambda value: value, count: int = len(SEEDS)
) -> Published:
    """Write a table with the mean over some runs and the number of the first, as if the stored results were right."""
    evaluations = evaluations_of(work)[:count]
    numbers = [value(number_in(work.store.folder(recipe) / FILE["evaluations"])) for recipe in evaluations]
    cells = [
        cell_of("CSP", evaluations[:of], column=column, view="", values=numbers[:of], value=mean(numbers[:of]))
        for column, of in (("AUC", count), ("first AUC", 1))
    ]
    builds = {recipe.key: work.store.record(recipe).build for recipe in closure(evaluations)}
    values = {recipe.key: {METRIC: number} for recipe, number in zip(evaluations, numbers, strict=True)}
    invented.publish(work.reports, {TABLE: (evaluations, cells)}, values, results=builds)
    return read(work)


def read(work: Workspace) -> Published:
    return Published.read(Reports(work))


def forge(work: Workspace, recipe: Recipe) -> None:
    """Change a stored file, and its digest in the record."""
    folder = work.store.folder(recipe)
    name = next(name for name in work.store.record(recipe).files if name != "log.txt")
    (folder / name).write_text("forged")
    correct(folder / "record.json", name)


def all_runs(published: Published) -> Runs:
    return runs_behind(published, published.cells[TABLE])


def verified(work: Workspace, published: Published, count: int = len(SEEDS)) -> list[Rerun]:
    return make_again(work, published, draw(all_runs(published), "seed", count))


def said(reruns: list[Rerun]) -> str:
    return sentence(reruns, len(SEEDS))


def outcomes(reruns: list[Rerun]) -> Counter[str]:
    return Counter(rerun.outcome for rerun in reruns)


def left_behind() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob("recompose-verify-*"))


@pytest.mark.parametrize("is_clone", [True, False])
def test_honest_reports_are_equal_to_the_byte(work: Workspace, is_clone: bool) -> None:
    published = publish(work)
    stored = {path: path.read_bytes() for path in work.results.rglob("record.json")}
    if is_clone:
        shutil.rmtree(work.results)
    result = verified(work, published, 3)
    assert exit_code(result) == 0
    assert outcomes(result).total() == 3
    assert not any(rerun.details for rerun in result)
    assert "75% probability" in said(result)  # one wrong run of four is among three of them
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
    assert exit_code(result) == 1
    differing = [rerun for rerun in result if rerun.outcome == DIFFERS]
    assert all(f" of {recipe.key} differ" in "".join(rerun.details) for rerun in differing)
    assert len(differing) == (len(SEEDS) if kind == "data" and is_shared(work, recipe) else 1)
    assert "%" not in said(result)


def is_shared(work: Workspace, data: Recipe) -> bool:
    return all(data.key in {need.key for need in closure([recipe])} for recipe in evaluations_of(work))


@pytest.mark.parametrize("is_without", [True, False])
def test_nothing_is_equal_to_bytes_that_nobody_tells(work: Workspace, is_without: bool) -> None:
    """Of a forged run, or of all, the file with the digests lacks those; scores and numbers are right."""
    run = evaluations_of(work)[2].needs["run"]
    forge(work, run)
    publish(work)
    if is_without:
        (work.reports / MADE).unlink()
    else:
        edit_json(work.reports / MADE, lambda document: document["results"].pop(run.key))
    result = verified(work, read(work))
    assert exit_code(result) == 1
    assert (outcomes(result)[DIFFERS], outcomes(result)[BYTES]) == ((4, 0) if is_without else (1, 3))
    assert any(line.endswith(f"the files of {run.key}") for rerun in result for line in rerun.details)


@pytest.mark.parametrize("shift", [FAR, 1e-12])
def test_a_number_that_does_not_follow_from_its_runs_is_found(work: Workspace, shift: float) -> None:
    """However little it differs; it is printed in full."""
    published = publish(work, lambda value: value + shift)
    result = verified(work, published)
    assert exit_code(result) == 1
    lines = {line for rerun in result for line in rerun.details}
    numbers = {(match[1], float(match[2]), float(match[3])) for line in lines if (match := NUMBER.fullmatch(line))}
    assert {key for key, _, _ in numbers} == {recipe.key for recipe in evaluations_of(work)}
    assert len(numbers) == len(lines)
    assert all(then == now + shift for _, then, now in numbers)


@pytest.mark.parametrize("count", [1, len(SEEDS)])
def test_a_different_number_stands_beside_the_spread_of_its_replicates(work: Workspace, count: int) -> None:
    """The spread excuses nothing: a number that differs by less is different, too."""
    index = 0 if count == 1 else 1  # of a run whose forged number is near
    forged = evaluations_of(work)[index]
    now = number_in(work.store.folder(forged) / FILE["evaluations"])
    forge(work, forged.needs["run"])
    forge(work, forged)
    published = publish(work, count=count)
    result = verified(work, published)
    (found,) = [rerun for rerun in result if rerun.outcome != BYTES]
    assert (found.outcome, exit_code(result)) == (DIFFERS, 1)
    *files, line = found.details
    assert files == [f"{FILE[recipe.kind]} of {recipe.key} differ" for recipe in (forged.needs["run"], forged)]
    match = NUMBER.fullmatch(line)
    assert match
    values = [published.values[recipe.key][METRIC] for recipe in evaluations_of(work)[:count]]
    assert (match[1], float(match[2]), float(match[3])) == (forged.key, values[index], now)
    if count == 1:
        assert (match[4], match[5]) == (None, None)
    else:
        assert (match[4], match[5]) == (str(count), f"{stdev(values):.2g}")
        assert abs(values[index] - now) < stdev(values)


def test_numbers_that_nobody_tells_are_different(work: Workspace) -> None:
    publish(work)
    edit_provenance(work.reports, lambda document: document.update(metrics=[]))
    result = verified(work, read(work))
    assert exit_code(result) == 1
    assert all("nothing in the reports" in line for rerun in result for line in rerun.details)


def test_all_runs_behind_a_cell_are_made_again(work: Workspace) -> None:
    published = publish(work)
    place = CellPlace.parse(f"{work.reports_place}/{TABLE}#CSP/first AUC", work)
    behind = runs_behind(published, [place.find(published.cells[TABLE])])
    first = evaluations_of(work)[0]
    assert behind == {first.needs["run"].key: [first.key]}
    result = make_again(work, published, behind)
    assert (exit_code(result), "%" in sentence(result, 0)) == (0, False)


def test_a_run_that_is_not_planned_any_more_is_not_made(work: Workspace) -> None:
    publish(work)
    shutil.rmtree(work.results)
    edit_json(work.root / "params.yaml", lambda document: document["profiles"]["smoke"]["czsl"].update(seeds=[0, 1]))
    now = Workspace(work.root)
    result = verified(now, read(now))
    assert outcomes(result)[UNPLANNED] == 2
    assert exit_code(result) == 1


def test_a_run_that_fails_is_named_with_its_reason(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    published = publish(work)

    def fail(*_: object) -> None:
        raise ValueError("no such luck")

    monkeypatch.setattr(phases, "carry_out", fail)
    result = verified(work, published, 1)
    assert outcomes(result)[FAILED] == 1
    assert "no such luck" in result[0].details[0]
    assert exit_code(result) == 1


def test_the_seed_decides_the_order_and_every_run_is_drawn_as_often(work: Workspace) -> None:
    published = publish(work)
    runs = all_runs(published)
    orders = [[*draw(runs, str(seed))] for seed in range(400)]
    assert orders[7] == [*draw(runs, "7")]
    assert [*draw(runs, "7", 2)] == orders[7][:2]
    first = Counter(order[0] for order in orders)
    assert len(first) == len(SEEDS)
    assert min(first.values()) > 70  # of 100, seven standard deviations


def test_an_interrupt_leaves_nothing(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        assert left_behind() != []
        raise KeyboardInterrupt

    published = publish(work)
    monkeypatch.setattr("recompose.commands.verify._compare", interrupt)
    with pytest.raises(KeyboardInterrupt):
        verified(work, published, 1)
    assert left_behind() == []


def test_published_files_are_those_of_the_project_and_generated_ones_are_not(work: Workspace) -> None:
    data = work.plan.of("data")[0]
    for name in ("archives", f"{data.name}-{data.folder}", ".locks"):
        (work.data / name).mkdir(parents=True, exist_ok=True)
    (work.root / "archives.lock").write_text("{}")
    with _separate_folder(work) as folder:
        assert {path.name for path in (folder / "data").iterdir()} == {"archives", ".locks"}
        for name in ("archives", ".locks"):
            assert (folder / "data" / name).resolve() == (work.data / name).resolve()
        assert (folder / "archives.lock").read_text() == "{}"
    assert (work.data / "archives").is_dir()


def test_what_is_put_into_the_folders_of_the_project_has_its_locks(work: Workspace) -> None:
    """As the folder that archives are unpacked into, beside them."""
    (work.data / "archives" / "mit-states.unpacked").mkdir(parents=True)  # of a process that unpacks it now
    mark = "mit-states/images"

    def unpack_below(data: Path) -> None:
        unpack((), data, data / "mit-states", lambda _, root: (root / "images").mkdir(), "images", "images/")

    with _separate_folder(work) as folder:
        with lock_below(work.data, mark), pytest.raises(Timeout):
            lock_below(folder / "data", mark).acquire(timeout=0)
        unpack_below(folder / "data")  # it is free now
        assert (folder / "data" / mark).is_dir()
    assert not (work.data / "mit-states").exists()


def test_a_folder_that_a_killed_process_left_is_not_taken_for_raw_files(work: Workspace) -> None:
    (work.data / "mit-states.partial").mkdir(parents=True)
    with _separate_folder(work) as folder:
        assert not (folder / "data" / "mit-states.partial").exists()


def test_where_nobody_may_write_locks_are_its_own(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    (work.data / "archives").mkdir(parents=True)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with _separate_folder(work) as folder, lock_below(folder / "data", "archives/a"):
        assert (folder / "data/archives").is_symlink()
    assert not (work.data / ".locks").exists()
