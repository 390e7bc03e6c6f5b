"""Measured cells by kind, from evaluations and data sets that are made up."""

import math
from math import sqrt
from statistics import stdev
from typing import Any

import pytest

from recompose.errors import PlanError
from recompose.papers.declaration import Variant, View
from recompose.parts.cells import Cell
from recompose.tables.measured import metrics, settings
from recompose.tracks.czsl import tables
from recompose.tracks.czsl.data.pairs import PairData, Sample
from recompose.tracks.czsl.tables import frequencies, group_counts, groups
from tests.errors import raises
from tests.tables.fakes import Fake, by_cell, by_seed, key, paper_of

# groups

# images of training: of ten seen pairs two are head, three medium and five tail
SHOWN = {"a x": 9, "a y": 1, "b x": 2, "b y": 8, "c x": 4, "c y": 3, "d x": 6, "d y": 1, "e x": 5, "e y": 2}
GROUP = {"a x": "head", "b y": "head", "d x": "medium", "e x": "medium", "c x": "medium"}
TESTED = {"a x": 5, "d x": 2, "c x": 1, "c y": 3, "e y": 1, "f x": 4, "f y": 2}  # f is seen in no pair


def labelled(split: str, counts: dict[str, int]) -> list[Sample]:
    return [
        Sample(f"{split} {name} {i}.png", *name.split(), split) for name, count in counts.items() for i in range(count)
    ]


@pytest.fixture(scope="module")
def data() -> PairData:
    pairs = {
        split: [tuple(name.split()) for name in names]
        for split, names in (("train", SHOWN), ("val", ["a x", "g x"]), ("test", TESTED))
    }
    samples = [*labelled("test", TESTED), *labelled("val", {"a x": 3, "g x": 9}), *labelled("train", SHOWN)]
    return PairData(pairs, samples)  # type: ignore[arg-type]


def by_hand(counts: dict[str, int]) -> dict[str, int]:
    found = dict.fromkeys(("head", "medium", "tail", "unseen"), 0)
    for name, count in counts.items():
        found[GROUP.get(name, "tail" if name in SHOWN else "unseen")] += count
    return found


def test_groups_count_the_images_of_a_split_by_the_pairs_that_training_shows_often(data: PairData) -> None:
    assert group_counts(data, "train") == by_hand(SHOWN) == {"head": 17, "medium": 15, "tail": 9, "unseen": 0}
    assert group_counts(data, "test") == by_hand(TESTED) == {"head": 5, "medium": 3, "tail": 4, "unseen": 6}


# metrics

COST = {
    "cost/trainable_parameters": 1_500_000,
    "cost/trainable_parameters_at_vit_l_14": 9_916_000,
    "cost/epoch_seconds": 90.0,
    "cost/test_seconds": 4.5,
    "cost/peak_memory_bytes": 3 * 2**29,
    "test/closed/dense/auc": 0.12,
    "test/closed/dense/harmonic_mean": 0.3,
}
COLUMNS = {
    "params (M)": "cost/trainable_parameters",
    "params at ViT-L/14 (M)": "cost/trainable_parameters_at_vit_l_14",
    "peak memory (G)": "cost/peak_memory_bytes",
    "train time per epoch (min)": "cost/epoch_seconds",
    "test time (s)": "cost/test_seconds",
    "AUC": "test/closed/dense/auc",
    "H": "test/closed/dense/harmonic_mean",
}


def cells_of(work: Fake, columns: dict[str, str] = COLUMNS, **rows: str) -> dict[tuple[str, str], Cell]:
    paper = paper_of(kind="metrics", rows=rows, columns=columns)
    found = by_cell(metrics(work, paper, "table-1"))  # type: ignore[arg-type]
    return {(row, column): cell for (row, column, _), cell in found.items()}


def test_measures_and_costs_are_in_the_units_of_their_kind() -> None:
    found = cells_of(Fake({"m": {"d": {0: COST}}}), M="m")
    texts = ("1.500", "9.916", "1.500", "1.500", "4.500", "12.0", "30.0")
    assert {column[2:]: cell.text for (_, column), cell in found.items()} == dict(zip(COLUMNS, texts, strict=True))
    assert {tuple(cell.names) for cell in found.values()} == {("m",)}
    assert {column[2:]: cell.metric for (_, column), cell in found.items()} == COLUMNS
    assert {cell.metric for cell in found.values() if cell.better} == {COLUMNS["AUC"], COLUMNS["H"]}


def test_a_cell_is_a_mean_over_complete_seeds() -> None:
    seconds = by_seed(*({"cost/test_seconds": value} for value in (1.0, 3.0, 99.0)))
    work = Fake({"m": {"d": seconds}}, missing={("m", "d", 2)})
    cell = cells_of(work, M="m")["M", "d test time (s)"]
    assert (cell.value, cell.n, cell.values) == (2.0, 2, [1.0, 3.0])
    assert cell.spread == pytest.approx(math.sqrt(2))
    assert cell.made_from == [key("m", "d", 0), key("m", "d", 1)]


def test_seeds_without_a_measure_do_not_count_in_it() -> None:
    """One was trained together with others: it has no time per epoch of its own."""
    with_it, without = {"cost/epoch_seconds": 60.0}, {"cost/test_seconds": 1.0}
    found = cells_of(Fake({"m": {"d": by_seed(without, with_it, with_it | {"cost/epoch_seconds": 180.0})}}), M="m")
    cell = found["M", "d train time per epoch (min)"]
    assert (cell.value, cell.n, len(cell.made_from), cell.values) == (2.0, 2, 3, [])


def test_a_row_of_means_is_over_its_rows_at_the_seeds_that_all_of_them_have() -> None:
    auc = {"m": [0.1, 0.2], "n": [0.3, 0.8, 0.9], "o": [0.9, 0.9]}
    done = {name: {"d": by_seed(*({"test/closed/dense/auc": value} for value in of))} for name, of in auc.items()}
    rows = {"M": "m", "N": "n", "O": "o"}
    paper = paper_of(kind="metrics", rows=rows, columns={"AUC": COLUMNS["AUC"]}, means={"Avg.": ["M", "N"]})

    def average(missing: set[tuple[str, str, int]]) -> Cell:
        found = by_cell(metrics(Fake(done, missing), paper, "table-1"))  # type: ignore[arg-type]
        assert list(found)[-1] == ("Avg.", "d AUC", "")
        return found["Avg.", "d AUC", ""]

    cell = average(set())
    assert (cell.value, cell.spread, cell.n) == (pytest.approx(35.0), pytest.approx(stdev([20, 50])), 2)
    assert cell.names == ["m", "n"]
    assert set(cell.made_from) == {key(name, "d", seed) for name in "mn" for seed in (0, 1)}
    cell = average({("m", "d", 0)})
    assert (cell.value, cell.spread, cell.n) == (pytest.approx(50.0), None, 1)
    assert set(cell.made_from) == {key("m", "d", 1), key("n", "d", 1)}
    cell = average({("m", "d", 0), ("n", "d", 1), ("n", "d", 2)})
    assert (cell.text, cell.value, cell.made_from) == ("not run", None, [])


def test_without_evaluations_everything_is_not_run_and_what_is_not_planned_has_no_row() -> None:
    work = Fake({"m": {"d": {0: COST}}}, missing={("m", "d", 0)})
    found = cells_of(work, M="m", Other="other")
    assert {row for row, _ in found} == {"M"}
    assert {cell.text for cell in found.values()} == {"not run"}
    assert not any(cell.made_from for cell in found.values())


def test_a_view_against_a_method_shows_what_its_variants_move_in_common_seeds() -> None:
    name = "test/closed/dense/auc"
    measured = {
        "csp": {"d": by_seed({name: 0.30}, {name: 0.34}, {name: 0.50})},
        "csp-wide": {"d": by_seed({name: 0.33}, {name: 0.35})},
        "csp-once": {"d": by_seed({name: 0.28})},
        "csp-same": {"d": by_seed({name: 0.31}, {name: 0.35})},  # by as much at both seeds: its spread is not known
        "coop": {"d": by_seed({name: 0.10})},
    }
    variants = {each: Variant(method="csp", datasets=["d"]) for each in ("csp-wide", "csp-once", "csp-same")}
    views = {"moves": View(heading="", baseline="csp", columns={"AUC": name})}
    paper = paper_of(kind="metrics", rows={each: each for each in measured}, views=views)
    paper = paper.model_copy(update={"variants": variants})
    cells = by_cell(metrics(Fake(measured), paper, "table-1"))  # type: ignore[arg-type]
    assert {row for row, _, _ in cells} == {"csp-wide", "csp-once", "csp-same"}
    wide, once = (cells[row, "d AUC", "moves"] for row in ("csp-wide", "csp-once"))
    assert (wide.n, once.n) == (2, 1)
    assert wide.value == pytest.approx((3 + 1) / 2)
    half = 12.706 * stdev([3, 1]) / sqrt(2)  # Student's t of one degree of freedom
    low, high = (float(part) for part in wide.text.split("(")[1].strip(")").split(" to "))
    assert (low, high) == pytest.approx((2 - half, 2 + half), abs=0.06)
    assert (once.text, cells["csp-same", "d AUC", "moves"].text) == ("-2.0", "+1.0")
    own, base = ({key(name, "d", seed) for seed in range(n)} for name, n in (("csp-wide", 2), ("csp", 3)))
    assert set(wide.made_from) == own | base


# accuracies by group, without and with something

COUNTS = {"head": 5, "medium": 3, "tail": 4, "unseen": 6}
VIEWS = {bias: View(heading="h", of=f"test/closed/groups/{bias}") for bias in ("unbiased", "balanced")}


def of_groups(**right: int) -> dict[str, float]:
    """The shares of so many right answers; without a bias, and half as many at the balanced one."""
    right = {**right, "seen": sum(right[name] for name in ("head", "medium", "tail"))}
    counts = {**COUNTS, "seen": 12}
    return {
        f"test/closed/groups/{bias}/{name}": share * count / counts[name]
        for bias, share in (("unbiased", 1), ("balanced", 1 / 2))
        for name, count in right.items()
    }


@pytest.fixture
def found_groups(data: PairData, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The table of a method without and with something, seeds 0 to 2 and 1 to 3, of which 3 is missing."""
    without = {seed: of_groups(head=seed, medium=1, tail=seed, unseen=0) for seed in range(3)}
    more = {seed: of_groups(head=3, medium=1, tail=4, unseen=seed) for seed in (1, 2, 3)}
    work = Fake({"without": {"d": without}, "with": {"d": more}}, missing={("with", "d", 3)})
    monkeypatch.setattr(tables, "read_pairs", lambda work, dataset: data)
    paper = paper_of(kind="groups", rows={"w/o": "without", "w/": "with"}, views=VIEWS)
    return by_cell(groups(work, paper, "table-1"))  # type: ignore[arg-type]


def test_every_group_has_its_samples_both_accuracies_and_the_gain(found_groups: Any) -> None:
    rows = ("Head", "Medium", "Tail", "Seen", "Unseen")
    columns = ("d samples", "d w/o", "d w/", "d delta")
    assert list(found_groups) == [(row, column, view) for view in VIEWS for row in rows for column in columns]
    samples = [found_groups[row, "d samples", "unbiased"].value for row in rows]
    assert samples == [5, 3, 4, 12, 6]


def test_each_side_is_over_its_own_complete_seeds(found_groups: Any) -> None:
    without, with_it = (found_groups["Head", f"d {side}", "unbiased"] for side in ("w/o", "w/"))
    assert (without.value, without.n, with_it.value, with_it.n) == (pytest.approx(20), 3, pytest.approx(60), 2)
    assert without.text == "20.00 ± 20.00"
    assert without.made_from == [key("without", "d", seed) for seed in range(3)]
    assert with_it.made_from == [key("with", "d", seed) for seed in (1, 2)]


@pytest.mark.parametrize(
    ("row", "gains"),
    [
        ("Head", [100 * 2 / 5, 100 * 1 / 5]),
        ("Medium", [0, 0]),
        ("Tail", [100 * 3 / 4, 100 * 2 / 4]),
        ("Seen", [100 * 5 / 12, 100 * 3 / 12]),
        ("Unseen", [100 * 1 / 6, 100 * 2 / 6]),
    ],
)
def test_gains_are_over_common_seeds(found_groups: Any, row: str, gains: list[float]) -> None:
    """Seeds 1 and 2; not the difference of the two means."""
    first, second = gains
    for view, factor in (("unbiased", 1), ("balanced", 1 / 2)):
        cell = found_groups[row, "d delta", view]
        assert cell.value == pytest.approx(factor * (first + second) / 2)
        assert cell.spread == pytest.approx(factor * abs(first - second) / math.sqrt(2))
        assert cell.n == 2
        assert set(cell.made_from) == {key(name, "d", seed) for name in ("without", "with") for seed in (1, 2)}


# settings


def test_settings_are_those_that_an_evaluation_or_its_run_had_on_each_data_set() -> None:
    work = Fake({"m": {"d": by_seed({}, {}), "e": by_seed({})}, "other": {"f": by_seed({})}}, missing={("m", "d", 1)})
    named = {"Learning rate": "lr", "Number of epochs": "epochs", "Top": "scoring.top"}
    found = by_cell(settings(work, paper_of(kind="settings", of="m", rows=named), "table-1"))
    values = {(row, column): (cell.text, cell.value) for (row, column, _), cell in found.items()}
    rates = {("Learning rate", "d"): ("0.0001", 1e-4), ("Learning rate", "e"): ("0.0002", 2e-4)}
    others = {"Number of epochs": ("20", 20), "Top": ("3", 3)}
    assert values == rates | {(row, column): value for row, value in others.items() for column in "de"}
    cell = found["Learning rate", "d", ""]
    assert (cell.made_from, cell.names) == ([key("m", "d", 0)], ["m"])
    of_both = paper_of(kind="settings", of="m", rows={"Own": "lr", "Its": "other:lr"})
    places = {(*place[:2], *cell.names) for place, cell in by_cell(settings(work, of_both, "table-1")).items()}
    assert places == {("Own", "d", "m"), ("Own", "e", "m"), ("Its", "f", "other")}
    for name in ("gone", "lr.gone"):
        with raises(PlanError, "unknown-setting", name):
            list(settings(work, paper_of(kind="settings", of="m", rows={"G": name}), "table-1"))


def test_a_setting_that_is_no_number_is_told_in_words() -> None:
    work = Fake({"m": {"d": by_seed({})}})
    rows = {"Scoring": "scoring", "Of": "words", "All": "several"}
    evaluation = work.evaluation("m", "d", 0)
    evaluation.document["settings"].update(words="bf16-mixed", several=[1, "a"])
    work.planned = lambda *_: [evaluation]  # type: ignore[method-assign]
    found = by_cell(settings(work, paper_of(kind="settings", of="m", rows=rows), "table-1"))
    assert [cell.text for cell in found.values()] == ['{"top": 3}', "bf16-mixed", '[1, "a"]']
    assert {cell.value for cell in found.values()} == {None}


# data sets


def test_frequencies_are_counts_of_images_and_shares(data: PairData, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "read_pairs", lambda work, dataset: data)
    found = by_cell(frequencies(Fake({}, names=("d",)), paper_of(kind="frequencies"), "table-1"))
    for split, counts in (("train", by_hand(SHOWN)), ("test", by_hand(TESTED))):
        total = sum(counts.values())
        for row, count in {**counts, "total": total}.items():
            texts = [found[row.capitalize(), f"d {split} {what}", ""].text for what in ("count", "instance %")]
            assert texts == [str(count), f"{round(100 * count / total, 1):g}"]
