"""The state of a content in the store, and the differences between recipes."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from recompose.files import read_json, write_json, write_text
from recompose.recipes.plan import Recipe
from recompose.recipes.records import COSTS, OF_COSTS
from recompose.recipes.state import CURRENT, STATES, State, changes, state, worst
from recompose.recipes.store import Store

DATA = Recipe("data", "d", {"images": 3})
RUN = Recipe("runs", "csp", {"lr": 1}, {"data": DATA})
TABLE = Recipe("artifacts", "t", {}, {f"csp/d/0{OF_COSTS}": RUN, "d": DATA})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store in which everything is made."""
    store = Store(tmp_path / "results")
    for recipe in (DATA, RUN, TABLE):
        make(store, recipe)
    return store


def make(store: Store, recipe: Recipe, text: str = "x", costs: str = "{}") -> None:
    with store.build(recipe) as folder:
        assert folder is not None
        write_text(folder / "file.txt", text)
        write_text(folder / COSTS, costs)


def words(store: Store) -> list[str]:
    fresh = Store(store.root)
    return [state(fresh, recipe).word for recipe in (DATA, RUN, TABLE)]


def test_the_worst_of_states_counts_with_all_of_its_reasons() -> None:
    assert worst([]) == State(CURRENT)
    for first, second in combinations(STATES, 2):
        for pair in ([first, second], [second, first]):
            assert worst(State(word, (word,)) for word in pair) == State(first, (first,))
    both = worst([State("changed", ("a",)), State("changed", ("b", "a"))])
    assert both.why == ("a", "b")


def test_what_is_made_is_current_and_what_is_not_is_missing_or_unchecked(store: Store) -> None:
    assert words(store) == ["current"] * 3
    store.discard(RUN.key)
    assert words(store) == ["current", "missing", "current"]  # what it needs is its own fault
    assert state(store, RUN, is_told=True).word == "unchecked"


@pytest.mark.parametrize("damage", ["text", "length", "gone", "record"])
def test_a_damaged_content_is_changed_and_names_its_file(store: Store, damage: str) -> None:
    path = store.folder(DATA) / ("record.json" if damage == "record" else "file.txt")
    path.unlink() if damage == "gone" else path.write_text({"text": "y", "length": "xy", "record": "{"}[damage])
    assert words(store) == ["changed", "current", "current"]
    assert [*state(Store(store.root), DATA).faults] == [path.name]


def test_what_was_made_from_an_input_that_was_made_anew_otherwise_is_outdated(store: Store) -> None:
    for text, expected in (("x", "current"), ("y", "outdated")):
        store.discard(DATA.key)
        make(store, DATA, text)
        assert words(store) == ["current", expected, expected]
    (why,) = state(store, RUN).why
    assert "another data" in why and DATA.key in why


def test_costs_are_an_input_of_what_shows_them_alone(store: Store) -> None:
    evaluation = Recipe("evaluations", "e", {}, {"run": RUN})
    make(store, evaluation)
    store.discard(RUN.key)
    make(store, RUN, costs='{"seconds": 2}')
    assert words(store) == ["current", "current", "outdated"]
    assert state(store, evaluation).word == "current"


def test_a_record_of_other_inputs_is_outdated(store: Store) -> None:
    record = store.record_path(RUN)
    write_json(record, read_json(record) | {"inputs": {}})
    assert words(store) == ["current", "outdated", "current"]


# what changed

CODE = {"recompose.tracks.czsl.methods.csp": "1", "recompose.tracks.czsl.metrics.czsl": "2"}
OLD = Recipe("runs", "csp", {"settings": {"lr": 0.1, "epochs": 3}}, {"data": DATA}, CODE)


@pytest.mark.parametrize(
    ("part", "reasons"),
    [
        ({}, []),
        ({"document": {"settings": {"lr": 0.2, "epochs": 3}}}, ["settings.lr was 0.1 and is 0.2 now"]),
        ({"document": {"settings": {"lr": 0.1}}}, ["settings.epochs was 3 and is absent now"]),
        ({"document": {"settings": {"lr": 0.1, "epochs": 3}, "parts": {}}}, ["runs changed: "]),
        (
            {"code": {**CODE, "recompose.tracks.czsl.metrics.czsl": "3"}},
            ["code changed: recompose.tracks.czsl.metrics.czsl"],
        ),
        ({"code": dict([*CODE.items()][:1])}, ["code changed: recompose.tracks.czsl.metrics.czsl"]),
        ({"needs": {"data": Recipe("data", "d", {"images": 4})}}, ["d.images was 3 and is 4 now"]),
        ({"needs": {}}, ["it needs no data now"]),
        ({"needs": {"data": DATA, "backbone": DATA}}, ["it needs a backbone now"]),
    ],
)
def test_every_difference_has_its_line(part: dict[str, Any], reasons: list[str]) -> None:
    lines = changes(OLD, OLD.changed(**part))
    assert [line[: len(reason)] for line, reason in zip(lines, reasons, strict=True)] == reasons


def test_what_changed_in_something_that_several_parts_need_is_said_once() -> None:
    def run(images: int) -> Recipe:
        data = Recipe("data", "d", {"images": images})
        features = Recipe("features", "f", {}, {"data": data})
        return Recipe("runs", "csp", {}, {"data": data, "features": features})

    assert changes(run(1), run(2)) == ["d.images was 1 and is 2 now"]
    assert changes(run(1), None) == ["it is no longer planned"]
