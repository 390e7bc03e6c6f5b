"""The store: completeness, damage, locks and pruning."""

import json
import multiprocessing
import time
from pathlib import Path

import pytest

from recompose.plan import Recipe
from recompose.store import DamagedError, Store

RECIPE = Recipe("thing", {"size": 3})
OTHER = Recipe("thing", {"size": 4})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, "features")


def make(store: Store, recipe: Recipe, content: str = "content") -> Path:
    with store.making(recipe) as folder:
        assert folder is not None
        (folder / "file.txt").write_text(content)
    return store.folder(recipe)


def test_a_thing_is_complete_when_its_maker_ended_and_not_before(store: Store) -> None:
    with store.making(RECIPE) as folder:
        assert folder is not None
        (folder / "file.txt").write_text("half")
        assert not store.is_complete(RECIPE)
    assert store.is_complete(RECIPE)
    assert not store.is_complete(OTHER)
    record = store.verify(RECIPE)
    assert record["recipe"] == RECIPE.document
    assert set(record["files"]) == {"file.txt"}


def test_what_is_complete_is_not_made_again(store: Store) -> None:
    make(store, RECIPE)
    with store.making(RECIPE) as folder:
        assert folder is None


def test_a_failure_leaves_scratch_and_its_trace_but_no_record(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.making(RECIPE) as folder:
        assert folder is not None
        (folder / "scratch" / "last.ckpt").write_text("epoch 3")
        raise ZeroDivisionError("by zero")
    assert not store.is_complete(RECIPE)
    assert "by zero" in (store.folder(RECIPE) / "error.txt").read_text()
    with store.making(RECIPE) as folder:
        assert folder is not None
        assert (folder / "scratch" / "last.ckpt").read_text() == "epoch 3"
        assert not (folder / "error.txt").exists()
    assert not (store.folder(RECIPE) / "scratch").exists()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.unlink(), "is missing"),
        (lambda path: path.write_text("conten"), "has 6 bytes instead of 7"),
        (lambda path: path.write_text("CONTENT"), "was changed since it was made"),
    ],
)
def test_damage_is_found_and_named_with_a_remedy(store: Store, damage, said: str) -> None:  # type: ignore[no-untyped-def]
    path = make(store, RECIPE) / "file.txt"
    damage(path)
    with pytest.raises(DamagedError, match=said) as error:
        store.verify(RECIPE)
    assert str(path) in str(error.value)
    assert f"recompose store discard features/{RECIPE.folder}" in str(error.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"recipe": {"size": 4}, "files": {}}'])
def test_a_record_that_is_none_or_another_s_is_damage(store: Store, text: str) -> None:
    folder = make(store, RECIPE)
    (folder / "record.json").write_text(text)
    with pytest.raises(DamagedError):
        store.record(RECIPE)


def _make_slowly(results: Path, log: Path) -> None:
    with Store(results, "features").making(RECIPE) as folder:
        if folder is not None:
            with log.open("a") as file:
                file.write("made\n")
            time.sleep(0.3)


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


def test_a_process_at_work_is_seen(store: Store) -> None:
    assert not store.is_being_made(RECIPE)
    with store.making(RECIPE):
        context = multiprocessing.get_context("fork")
        with context.Pool(1) as pool:
            assert pool.apply(Store.is_being_made, (store, RECIPE))
    assert not store.is_being_made(RECIPE)


def test_prune_keeps_what_is_asked_for(store: Store) -> None:
    make(store, RECIPE)
    make(store, OTHER)
    assert store.prune([RECIPE], dry=True) == [OTHER.folder]
    assert store.is_complete(OTHER)
    assert store.prune([RECIPE], dry=False) == [OTHER.folder]
    assert store.is_complete(RECIPE)
    assert not store.folder(OTHER).exists()


def test_discard_does_not_leave_its_store(store: Store, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    for name in ("../precious", "..", ".", "", str(precious)):
        with pytest.raises(ValueError, match="no folder of"):
            store.discard(name)
    assert precious.exists()


def test_a_record_says_by_what_and_where_it_was_made(store: Store) -> None:
    make(store, RECIPE)
    made = json.loads(store.record_path(RECIPE).read_text())["made"]
    assert {"started", "seconds", "host", "python", "packages", "commit", "dirty"} <= made.keys()
