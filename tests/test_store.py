"""The store: completeness, damage, what need not be read again, locks, and what is removed."""

import errno
import multiprocessing
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recompose.digest import digest, sha256_file
from recompose.errors import DamagedError, UnknownError
from recompose.recipes import stamps
from recompose.recipes import store as module
from recompose.recipes.plan import Recipe
from recompose.recipes.records import Build, StoredFile
from recompose.recipes.store import Store
from tests.errors import raises

RECIPE = Recipe("features", "three", {"size": 3})
OTHER = Recipe("features", "four", {"size": 4})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def make(store: Store, recipe: Recipe, **files: str) -> Path:
    with store.build(recipe) as folder:
        assert folder is not None
        for name, text in (files or {"file": "content"}).items():
            (folder / f"{name}.txt").write_text(text)
    return store.folder(recipe)


def test_a_thing_is_complete_when_its_maker_ended_and_not_before(store: Store, tmp_path: Path) -> None:
    with store.build(RECIPE) as folder:
        assert folder == tmp_path / "features" / RECIPE.digest[:12]
        (folder / "file.txt").write_text("half")
        assert not store.is_complete(RECIPE)
    assert store.is_complete(RECIPE)
    assert not store.is_complete(OTHER)
    record = store.verify(RECIPE)
    assert record.plain() == RECIPE.plain()
    assert set(record.files) == {"file.txt"}


def test_what_is_complete_is_not_made_again(store: Store) -> None:
    make(store, RECIPE)
    with store.build(RECIPE) as folder:
        assert folder is None


def test_a_failure_leaves_scratch_and_its_trace_but_no_record(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.build(RECIPE) as folder:
        assert folder is not None
        (folder / "scratch" / "last.ckpt").write_text("epoch 3")
        raise ZeroDivisionError("by zero")
    assert not store.is_complete(RECIPE)
    assert "by zero" in (store.folder(RECIPE) / "error.txt").read_text()
    with store.build(RECIPE) as folder:
        assert folder is not None
        assert (folder / "scratch" / "last.ckpt").read_text() == "epoch 3"
        assert not (folder / "error.txt").exists()
    assert not (store.folder(RECIPE) / "scratch").exists()
    assert store.record(RECIPE).made.attempts == 2


def test_what_the_disk_refuses_without_a_name_names_the_folder(store: Store) -> None:
    with pytest.raises(OSError) as error, store.build(RECIPE) as folder:
        assert folder is not None
        (folder / "error.txt").mkdir()  # nothing can be written there either
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert (error.value.errno, error.value.filename) == (errno.ENOSPC, str(store.folder(RECIPE)))


def test_a_build_goes_on_only_with_what_was_made_of_the_same_inputs(store: Store) -> None:
    need = Recipe("data", "images", {})
    recipe = Recipe("pixels", "decoded", {}, {"data": need})
    make(store, need, raw="first")
    for attempt, left in enumerate((False, True, False)):
        if attempt == 2:  # the raw files are others now, by the same recipe
            store.discard(need.key)
            make(store, need, raw="second")
        with pytest.raises(KeyboardInterrupt), store.build(recipe) as folder:
            assert folder is not None
            assert (folder / "scratch" / "written.json").exists() == (folder / f"{attempt - 1}.npy").exists() == left
            (folder / "scratch" / "written.json").touch()
            (folder / f"{attempt}.npy").touch()
            raise KeyboardInterrupt
    with store.build(recipe):
        second = store.record(need).content
        store.discard(need.key)
        make(store, need, raw="third")
    assert set(store.record(recipe).files) == {"2.npy"}
    assert store.record(recipe).inputs == {"data": second}  # which was there to be read when the build began


def test_a_build_asks_whether_the_code_of_its_plugins_is_committed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("plugin.yaml", "model.py", "unused.py"):
        (tmp_path / "my_store_plugin").mkdir(exist_ok=True)
        (tmp_path / "my_store_plugin" / name).touch()
    asked: list[set[Path]] = []
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        module, "state_of_sources", lambda _, others: asked.append(others) or {"commit": None, "dirty": None}
    )
    code = dict.fromkeys(
        ("my_store_plugin.model", "my_store_plugin.gone", "recompose.recipes.plan", "nobodys.model"), "1"
    )
    make(store, Recipe("runs", "mine", {}, code=code))
    assert asked == [{tmp_path / "my_store_plugin/model.py"}]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_text("conten"),
        lambda path: path.write_text("CONTENT"),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: (path.unlink(), path.symlink_to("/nowhere/at/all")),
    ],
)
def test_damage_is_found_and_named_with_a_remedy(store: Store, damage: Callable[[Path], object]) -> None:
    path = make(store, RECIPE) / "file.txt"
    store.verify(RECIPE)
    damage(path)
    with raises(DamagedError, "damaged", path) as error:
        store.verify(RECIPE)
    assert f"recompose store discard features/{RECIPE.folder}" in str(error.value)
    with raises(DamagedError, "damaged", path):
        store.file(RECIPE, "file.txt")


def test_a_file_is_given_only_where_it_is_one_of_the_record_s(store: Store) -> None:
    folder = make(store, RECIPE)
    assert store.file(RECIPE, "file.txt") == folder / "file.txt"
    (folder / "stray.txt").write_text("")
    with raises(DamagedError, "unrecorded-file", "stray.txt"):
        store.file(RECIPE, "stray.txt")


@pytest.mark.parametrize("text", ["{", "[]", '{"kind": "features", "document": {"size": 4}, "files": {}}'])
def test_a_record_that_is_none_is_damage(store: Store, text: str) -> None:
    folder = make(store, RECIPE)
    (folder / "record.json").write_text(text)
    with raises(DamagedError, "no-record", folder):
        store.record(RECIPE)


def test_another_s_record_is_damage_and_so_is_one_whose_recipe_was_edited(store: Store) -> None:
    path, other = (make(store, recipe) / "record.json" for recipe in (RECIPE, OTHER))
    own = path.read_text()
    edited = own.replace('"size": 3', '"size": 15')
    assert edited != own
    for text in (other.read_text(), edited):
        path.write_text(own)
        assert store.record(RECIPE) == store.record(RECIPE)  # which was read, and is read again once it is edited
        path.write_text(text)
        with raises(DamagedError, "other-recipe", path):
            store.record(RECIPE)
    path.unlink()
    with raises(DamagedError, "missing-record", path):
        store.record(RECIPE)


# what was read and found right


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files whose bytes were read."""
    names: list[str] = []

    def noted(path: Path) -> str:
        names.append(path.name)
        return sha256_file(path)

    monkeypatch.setattr(module, "sha256_file", noted)
    return names


def overwrite(path: Path) -> None:
    """Put other bytes into a file whose size and time of modification stay the same."""
    before = path.stat()
    path.write_text(path.read_text().upper())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_bytes_that_nobody_touched_since_they_were_made_are_not_read_again(store: Store, read: list[str]) -> None:
    folder = make(store, RECIPE, one="1", two="2")
    read.clear()
    Store(store.root).verify(RECIPE)
    assert read == []
    time.sleep(0.02)
    (folder / "two.txt").touch()
    for _ in range(2):
        store.verify(RECIPE)
    assert read == ["two.txt"]
    store.verify(RECIPE, reading=True)
    assert read == ["two.txt", "one.txt", "two.txt"]
    (folder / "two.txt").write_text("3")
    with raises(DamagedError, "damaged", "two.txt"):
        store.verify(RECIPE)


@pytest.mark.parametrize("later", [lambda record: record.chmod(0o600), Path.touch, lambda record: None])
def test_other_bytes_are_found_where_size_and_time_are_made_to_be_the_same(
    store: Store, later: Callable[[Path], object]
) -> None:
    path = make(store, RECIPE) / "file.txt"
    store.verify(RECIPE)
    overwrite(path)
    time.sleep(0.02)
    later(store.record_path(RECIPE))  # so that the record is the last file that was touched
    for each in (store, Store(store.root)):
        with raises(DamagedError, "damaged", path):
            each.verify(RECIPE)


def test_a_link_to_other_bytes_of_an_earlier_time_is_found(store: Store, tmp_path: Path) -> None:
    for name, text in (("weights", "content"), ("others", "CONTENT")):
        (tmp_path / name).write_text(text)
    with store.build(RECIPE) as folder:
        assert folder is not None
        (folder / "file.txt").symlink_to(tmp_path / "weights")
    Store(store.root).verify(RECIPE)
    (store.folder(RECIPE) / "file.txt").unlink()
    (store.folder(RECIPE) / "file.txt").symlink_to(tmp_path / "others")
    with raises(DamagedError, "damaged", "file.txt"):
        Store(store.root).verify(RECIPE)


def test_another_hash_in_a_record_is_found(store: Store) -> None:
    path = make(store, RECIPE) / "file.txt"
    record = store.record_path(RECIPE)
    record.write_text(record.read_text().replace(sha256_file(path), "0" * 64))
    with raises(DamagedError, "damaged", path):
        Store(store.root).verify(RECIPE)


def copied(store: Store, place: Path) -> Store:
    """A copy of a store, as of one that is so large that records come after the first files."""
    shutil.copytree(store.root, place, ignore=shutil.ignore_patterns("record.json"))
    time.sleep(0.02)
    return Store(Path(shutil.copytree(store.root, place, dirs_exist_ok=True)))


def test_a_copy_of_a_store_is_read_until_a_job_has_read_it(store: Store, tmp_path: Path, read: list[str]) -> None:
    make(store, RECIPE, one="1", two="2")
    place = copied(store, tmp_path / "copy").root
    read.clear()
    for names, keeps in ((["one.txt", "two.txt"], False), (["one.txt", "two.txt"], True), ([], False)):
        Store(place).verify(RECIPE, keeps=keeps)
        assert read == names
        read.clear()


def test_what_was_changed_before_a_store_was_copied_is_found(store: Store, tmp_path: Path) -> None:
    overwrite(make(store, RECIPE) / "file.txt")
    copy = copied(store, tmp_path / "copy")
    for keeps in (False, True, False):
        with raises(DamagedError, "damaged", "file.txt"):
            Store(copy.root).verify(RECIPE, keeps=keeps)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"file.txt": 3}', "[" * 100_000])
def test_of_what_was_noted_by_somebody_else_nothing_is_believed(store: Store, read: list[str], text: str) -> None:
    (make(store, RECIPE) / ".seen.json").write_text(text)
    read.clear()
    Store(store.root).verify(RECIPE)
    assert read == ["file.txt"]


def no_file(**_: object) -> None:
    raise PermissionError


def with_time(nanoseconds: int) -> SimpleNamespace:
    """The system of a disk that gives every change this time."""
    return SimpleNamespace(utime=os.utime, fstat=lambda _: SimpleNamespace(st_ctime_ns=nanoseconds))


@pytest.mark.parametrize(("name", "other"), [("TemporaryFile", no_file), ("os", with_time(0)), ("os", with_time(1))])
def test_where_a_disk_notes_no_changes_bytes_are_read(
    store: Store, monkeypatch: pytest.MonkeyPatch, read: list[str], name: str, other: object
) -> None:
    make(store, RECIPE)
    with monkeypatch.context() as patch:
        patch.setattr(stamps, name, other)
        make(store, OTHER)
        Store(store.root).verify(OTHER, keeps=True)
    read.clear()
    for recipe in (RECIPE, OTHER):
        Store(store.root).verify(recipe)
    assert read == ["file.txt"]


# contents


def test_what_others_find_of_a_content_is_all_that_its_recipe_determines(store: Store) -> None:
    names = ("a.txt", "log.txt", "costs.json", "b")
    files = {name: StoredFile(sha256=name * 2, bytes=1) for name in names}
    record = Build.model_construct(inputs={}, files=files)
    assert record.content == digest({"a.txt": "a.txta.txt", "b": "bb"})
    record.files["log.txt"].sha256 = "another day"
    assert record.content == digest({"a.txt": "a.txta.txt", "b": "bb"})
    record.files["b"].sha256 = "other"
    assert record.content != digest({"a.txt": "a.txta.txt", "b": "bb"})


# several processes


def _make_slowly(results: Path, log: Path) -> None:
    with Store(results).build(RECIPE) as folder:
        if folder is not None:
            with log.open("a") as file:
                file.write("made\n")
            time.sleep(0.3)


@pytest.mark.slow
def test_of_two_processes_that_want_the_same_thing_one_makes_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_make_slowly, args=(tmp_path, log)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert log.read_text() == "made\n"


def test_a_process_at_work_is_seen_and_nothing_is_taken_from_it(store: Store) -> None:
    assert not store.is_being_made(RECIPE)
    with store.build(RECIPE):
        context = multiprocessing.get_context("fork")
        with context.Pool(1) as pool:
            assert pool.apply(Store.is_being_made, (store, RECIPE))
            for key in (RECIPE.key, f"{RECIPE.key}/"):  # as shells complete it
                with raises(UnknownError, "being-made", RECIPE.folder):
                    pool.apply(Store.discard, (store, key))
            assert pool.apply(Store.prune, (store, ["features"], []), {"dry": False}) == []
    assert not store.is_being_made(RECIPE)
    assert store.is_complete(RECIPE)


# removal


def test_what_is_being_removed_is_not_made_meanwhile(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    make(store, RECIPE)
    seen: list[bool] = []
    monkeypatch.setattr(module.shutil, "rmtree", lambda path: seen.append(store.is_being_made(RECIPE)))
    store.discard(RECIPE.key)
    assert seen == [True]


def test_prune_keeps_what_is_asked_for(store: Store) -> None:
    make(store, RECIPE)
    make(store, OTHER)
    assert store.prune(["features"], [RECIPE], dry=True) == [OTHER.key]
    assert store.is_complete(OTHER)
    assert store.prune(["runs"], [], dry=False) == []
    assert store.prune(["features"], [RECIPE], dry=False) == [OTHER.key]
    assert store.is_complete(RECIPE)
    assert not store.folder(OTHER).exists()


def test_discard_does_not_leave_its_store(tmp_path: Path) -> None:
    store, precious = Store(tmp_path / "results"), tmp_path / "precious"
    make(store, RECIPE)
    (precious / "inner").mkdir(parents=True)
    names = ("../precious", "..", ".", "", "features", "features/", "features/.", "features/..", "features/.locks")
    for name in (*names, "features/../../precious", str(precious / "inner"), "../precious/inner", "features/none"):
        with raises(UnknownError, "unknown", name):
            store.discard(name)
    assert (precious / "inner").exists()
    assert store.is_complete(RECIPE)


DATA, REREAD = (Recipe("data", "suites", {}, code={"reader": edit}) for edit in ("before", "after"))


def needing(data: Recipe, **parts: Any) -> Recipe:
    """A recipe that needs data, with a part of its own in place of the usual one."""
    usual: dict[str, Any] = {"document": {"alpha": 1}, "code": {"recompose.scores": "a"}}
    return Recipe("evaluations", "scores", needs={"data": data}, **usual | parts)


def make_data(store: Store, **reread: str) -> None:
    """Make data twice, by other code that reads the same unless it is told what else."""
    make(store, DATA)
    make(store, REREAD, **reread)


def test_what_the_same_code_made_of_the_same_inputs_is_copied(store: Store) -> None:
    make_data(store)
    scored, equal = needing(DATA), needing(REREAD)
    assert store.adopt_equal(scored) is None  # the first of all
    make(store, scored, scores="0.5")
    assert store.adopt_equal(equal) == scored.key
    record = store.verify(equal)
    assert (record.digest, record.needs["data"].digest) == (equal.digest, REREAD.digest)
    assert record.made == store.record(scored).made.model_copy(update={"equal_to": scored.key})
    assert (store.folder(equal) / "scores.txt").read_text() == "0.5"
    assert store.adopt_equal(equal) is None  # it is complete


@pytest.mark.parametrize(
    ("content", "parts"),
    [("others", {}), ("content", {"document": {"alpha": 2}}), ("content", {"code": {"recompose.scores": "b"}})],
)
def test_what_something_else_determines_is_not_copied(store: Store, content: str, parts: dict[str, Any]) -> None:
    make_data(store, file=content)
    make(store, needing(DATA))
    assert store.adopt_equal(needing(REREAD, **parts)) is None
    assert not store.folder(needing(REREAD, **parts)).exists()


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_text("0.9")])
def test_what_is_damaged_is_not_copied(store: Store, damage: Callable[[Path], object]) -> None:
    make_data(store)
    damage(make(store, needing(DATA), scores="0.5") / "scores.txt")
    assert store.adopt_equal(needing(REREAD)) is None
    assert not store.folder(needing(REREAD)).exists()


def test_what_is_discarded_while_it_is_copied_is_made(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    make_data(store)
    make(store, needing(DATA))
    copytree = module.shutil.copytree

    def discarding(source: Path, *rest: Any, **more: Any) -> None:
        store.discard(needing(DATA).key)
        copytree(source, *rest, **more)

    monkeypatch.setattr(module.shutil, "copytree", discarding)
    assert store.adopt_equal(needing(REREAD)) is None
    assert not store.folder(needing(REREAD)).exists()
