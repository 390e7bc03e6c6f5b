"""Recipes made one after another, of which some fail."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from recompose import phases
from recompose.backbones.steps import BACKBONE
from recompose.data import content
from recompose.digest import sha256_file
from recompose.errors import DamagedError, DataError, DownloadError, FailedError, RecomposeError
from recompose.files import read_json
from recompose.params.sections import GivenGrids
from recompose.phases import make
from recompose.recipes.plan import Planner, Recipe, closure
from recompose.workspace import Workspace
from tests.configuration import new_workspace
from tests.errors import raises

pytestmark = pytest.mark.slow
PICTURES = "recompose.tracks.gzsl.data.classes:pictures"


@pytest.fixture
def made_keys(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of what is made, in order: each writes a file and nothing else; metrics are none."""
    keys: list[str] = []
    replace_makers(monkeypatch, lambda recipe: keys.append(recipe.key))
    return keys


def replace_makers(monkeypatch: pytest.MonkeyPatch, before: Callable[[Recipe], object]) -> None:
    def write(recipes: Mapping[Path, Recipe], needs: Mapping[str, Path]) -> None:
        for folder, recipe in recipes.items():
            before(recipe)
            (folder / "made.txt").write_text(recipe.key)

    monkeypatch.setattr(phases, "carry_out", write)
    monkeypatch.setattr(phases, "_measure", lambda *_: None)
    monkeypatch.setattr(phases, "acquire", lambda recipe, raw: raw)


def test_what_fails_keeps_only_what_needs_it_from_being_made(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = work.plan.of("runs")[:2]

    def fail(recipe: Recipe) -> None:
        if recipe == bad:
            raise RuntimeError("out of memory")

    replace_makers(monkeypatch, fail)
    scores = [each for each in work.plan.of("evaluations") if each.needs.get("run") in (bad, good)]
    behind = [each for each in scores if each.needs["run"] is bad]
    wanted = list(closure([bad, good, *scores]))
    with pytest.raises(FailedError) as error:
        make(work, wanted)
    missing = work.missing(wanted)
    assert missing == [each for each in wanted if each in (bad, *behind)]
    assert behind
    output = str(error.value)
    assert output.startswith(f"{1 + len(behind)} ") and f" {len(wanted)} " in output.splitlines()[0]
    assert f"{bad.name}: out of memory" in output
    assert f"recompose make {bad.key}" in output
    assert str(work.store.folder(bad) / "error.txt") in output
    for each in behind:
        assert any(line.lstrip().startswith(each.name) and bad.key in line for line in output.splitlines())
        assert not work.store.folder(each).exists()
    assert "out of memory" in (work.store.folder(bad) / "error.txt").read_text()


# what goes together


@pytest.fixture
def scorings(work: Workspace, made_keys: list[str]) -> list[Recipe]:
    """Evaluations of one run of MSCI, which differ in settings of scores alone; all that they need is there."""
    run = next(each for each in work.plan.of("runs") if each.labels["name"] == "msci")
    make(work, closure([run]))
    made_keys.clear()
    return [each for each in work.plan.of("evaluations") if each.needs.get("run", each).digest == run.digest]


@pytest.fixture
def passes(work: Workspace, monkeypatch: pytest.MonkeyPatch, scorings: list[Recipe]) -> list[list[str]]:
    """The keys of what was made in one pass, for each pass; it fails while there is a file ``fails``."""
    passes: list[list[str]] = []

    write_each = phases.carry_out

    def write(recipes: Mapping[Path, Recipe], needs: Mapping[str, Path]) -> None:
        if "class" in next(iter(recipes.values())).document:
            passes.append([recipe.key for recipe in recipes.values()])
        for recipe in recipes.values():
            assert work.store.is_being_made(recipe)
        write_each(recipes, needs)
        if (work.root / "fails").exists():
            raise RuntimeError("out of memory")

    monkeypatch.setattr(phases, "carry_out", write)
    return passes


def test_other_scorings_of_a_run_are_made_in_one_pass_each_with_a_record_of_its_own(
    work: Workspace, scorings: list[Recipe], passes: list[list[str]], made_keys: list[str]
) -> None:
    other = next(each for each in work.plan.of("evaluations") if each.labels["name"] == "chance")
    make(work, [scorings[0], *closure([other]), *scorings[1:]])
    assert len(scorings) == 4
    assert passes == [[recipe.key for recipe in scorings], [other.key]]
    assert made_keys[-1] == other.key
    for recipe in scorings:
        record = work.store.verify(recipe)
        assert set(record.files) == {"made.txt", "log.txt"}
        assert record.made.shared_by == 4
        assert not work.store.is_being_made(recipe)
    make(work, scorings)
    assert len(passes) == 2


def test_a_pass_that_fails_leaves_no_record(work: Workspace, scorings: list[Recipe], passes: list[list[str]]) -> None:
    first, *others = scorings
    make(work, [first])
    (work.root / "fails").touch()
    with pytest.raises(FailedError) as error:
        make(work, scorings)
    assert str(error.value).startswith("3 of 4 failed:")
    assert work.missing(scorings) == others
    for recipe in others:
        assert f"recompose make {recipe.key}" in str(error.value)
        assert "out of memory" in (work.store.folder(recipe) / "error.txt").read_text()
    (work.root / "fails").unlink()
    make(work, scorings)
    assert not work.missing(scorings)
    assert work.store.record(others[0]).made.attempts == 2


def test_a_helper_of_what_runs_on_several_devices_takes_no_lock_and_leaves_no_record(
    work: Workspace, made_keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = work.plan.of("runs")[:2]
    make(work, closure([*first.needs.values(), *second.needs.values()]))
    made_keys.clear()
    monkeypatch.setenv("LOCAL_RANK", "1")
    with work.store.build(first) as folder:  # by the process that it helps
        assert folder
        make(work, [first])
    second_folder = work.store.folder(second)
    second_folder.mkdir(parents=True)
    make(work, [second])
    assert made_keys == [first.key, second.key]
    assert not work.store.is_complete(second)
    assert not (second_folder / "error.txt").exists()


def test_data_that_was_changed_since_its_index_is_not_read(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    data = next(each for each in work.plan.of("data") if each.track)
    root = work.data / "raw"
    root.mkdir(parents=True)
    monkeypatch.setattr(content, "acquire", lambda *_: root)
    (root / "images.bin").write_bytes(b"pixels")
    with work.store.build(data) as folder:
        assert folder
        content.write_content(root, ["images.bin"], folder)
    index = work.store.folder(data)
    assert content.unchanged_raw(data, index, work.data) == root
    (root / "images.bin").write_bytes(b"pixelz")
    with raises(DataError, "changed-data", root / "images.bin"):
        content.unchanged_raw(data, index, work.data)


def test_what_is_needed_is_given_verified(work: Workspace, made_keys: list[str]) -> None:
    run = work.plan.of("runs")[0]
    make(work, closure([run]))
    assert phases.needs_of(work, run) == {role: work.store.folder(need) for role, need in run.needs.items()}
    pixels = run.needs["pixels"]
    assert phases.needs_of(work, pixels).keys() == {"data", "raw", "assets"}
    (work.store.folder(run.needs["features"]) / "made.txt").write_text("changed")
    with pytest.raises(DamagedError):
        phases.needs_of(work, run)


# weights that are released with the project


@pytest.fixture
def bundled(work: Workspace) -> tuple[Workspace, Recipe, Path]:
    """A project with one such file, the recipe of its backbone, and the file."""
    name = "shapes-clip"
    path = work.root / "assets" / "shapes-clip.safetensors"
    path.parent.mkdir()
    path.write_bytes(b"weights")
    edited = Workspace(work.root, (f"backbones.{name}.asset.sha256={sha256_file(path)}",))
    return edited, Planner(edited.params).backbone(name), path


def test_weights_of_the_project_need_neither_corpus_nor_network(bundled: tuple[Workspace, Recipe, Path]) -> None:
    work, recipe, path = bundled
    assert recipe.needs == {}
    make(work, [recipe])
    folder = work.store.folder(recipe)
    described = read_json(folder / BACKBONE)
    assert described == {"architecture": "shapes-clip", "activation": "gelu", "weights": path.name}
    assert not (folder / path.name).is_symlink()
    assert (folder / path.name).read_bytes() == b"weights"
    path.unlink()  # results hold it
    work.store.verify(recipe)


@pytest.mark.parametrize("content", [None, b"others"])
def test_weights_of_the_project_that_are_not_there_or_others_are_one_error_with_its_remedy(
    bundled: tuple[Workspace, Recipe, Path], content: bytes | None
) -> None:
    work, recipe, path = bundled
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert_refused(work, recipe, DataError, "wrong-digest", path)


def assert_refused(work: Workspace, recipe: Recipe, error: type[RecomposeError], code: str, place: object) -> None:
    """Check that weights are refused, and that nothing is left of them."""
    folder = work.store.folder(recipe)
    folder.mkdir(parents=True)
    with raises(error, code, place):
        phases.carry_out({folder: recipe}, phases.needs_of(work, recipe))
    assert list(folder.iterdir()) == []


# a network of torchvision, and grids


def test_weights_under_the_name_of_others_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "data/weights/resnet101-63fe2227.pth"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"others")
    work = new_workspace(tmp_path, "demo", f"backbones.resnet-101.weights.file={path.name}")
    recipe = Planner(work.params).backbone("resnet-101")
    assert_refused(work, recipe, DownloadError, "wrong-digest", path.name)


def test_grids_that_somebody_has_are_read_without_images(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    from recompose.backbones import grids

    read: list[tuple[Path, int]] = []
    monkeypatch.setattr(grids, "from_hdf5", lambda path, folder, images: read.append((path, images)))
    monkeypatch.setattr(grids, "function_of", lambda *_: lambda index: ["a.jpg", "b/c.jpg"])
    monkeypatch.setattr(phases, "_verified", lambda work, recipe: work.store.folder(recipe))
    monkeypatch.setattr(grids, "unchanged_raw", lambda *_: pytest.fail("raw images are not needed"))
    path = work.data / "archives" / "maps.hdf5"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"maps")
    recipe = Planner(work.params).grids_from_file(work.plan.of("data")[0], GivenGrids(file="maps.hdf5"), PICTURES)
    phases.carry_out({work.store.folder(recipe): recipe}, phases.needs_of(work, recipe))
    assert read == [(path, 2)]
    path.write_bytes(b"others")
    with raises(DownloadError) as error:
        phases.carry_out({work.store.folder(recipe): recipe}, phases.needs_of(work, recipe))
    assert "maps.hdf5" in str(error.value) and "archives.lock" in str(error.value)
