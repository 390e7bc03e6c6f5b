"""Measured cells by kind, from runs and data sets that are made up, and the numbers that printed texts say."""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as checked
from hypothesis import strategies as st

from recompose.papers.declaration import Artifact, Paper, View, load_paper
from recompose.plan import Recipe, Run
from recompose.report import measured
from recompose.report.cells import Cell
from recompose.report.measured import costs, frequencies, group_accuracy, group_counts, groups, settings, statistics
from recompose.report.tables import number_in
from recompose.tracks.czsl.data.pairs import PairData, Sample

# printed numbers


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("10^-4", 1e-4),
        ("10^4", 1e4),
        ("5×10^-4", 5e-4),
        ("1.5×10^-5", 1.5e-5),
        ("49.7 ± 0.3", 49.7),
        ("+1.00", 1.0),
        ("-0.4", -0.4),
        ("0", 0.0),
        ("278362", 278362.0),
        ("100.0", 100.0),
    ],
)
def test_a_printed_number_is_read_without_its_spread(text: str, number: float) -> None:
    assert number_in(text) == number


@pytest.mark.parametrize(
    "text",
    ["-", "", " ", "±", "± 0.3", "49.7 ±", "49.7 0.3", "not run", "five", "1,262", "3 of 5", "10^", "x10^2", "4M"],
)
def test_a_text_that_says_no_number_gives_none(text: str) -> None:
    assert number_in(text) is None


@checked(deadline=None)
@given(st.decimals(-1000, 1000, places=2), st.decimals(0, 10, places=1))
def test_any_decimal_is_read_with_and_without_a_spread(value: Any, spread: Any) -> None:
    assert number_in(str(value)) == number_in(f"{value} ± {spread}") == float(value)


@checked(deadline=None)
@given(st.text(alphabet="0123456789.+-×^± e", max_size=10))
def test_no_text_is_an_error(text: str) -> None:
    assert isinstance(number_in(text), float | None)


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


COUNTS = {"head": 5, "medium": 3, "tail": 4, "unseen": 6}


def of_groups(**right: int) -> dict[str, Any]:
    """Metrics of so many right answers; without a bias, and twice as many wrong ones at the balanced one."""
    shares = {name: count / COUNTS[name] for name, count in right.items()}
    return {"groups": {"unbiased": shares, "balanced": {name: share / 2 for name, share in shares.items()}}}


def test_the_accuracy_of_a_group_is_its_own_in_percent() -> None:
    metrics = {"test/closed": of_groups(head=4, medium=1, tail=0, unseen=3), "test/open": of_groups(head=2, unseen=6)}
    for world, group, value in (
        ("closed", "head", 80),
        ("closed", "tail", 0),
        ("closed", "unseen", 50),
        ("open", "head", 40),
    ):
        assert group_accuracy(metrics, world, "unbiased", group, COUNTS) == pytest.approx(value)
        assert group_accuracy(metrics, world, "balanced", group, COUNTS) == pytest.approx(value / 2)


@checked(deadline=None)
@given(st.tuples(*(st.integers(0, COUNTS[name]) for name in ("head", "medium", "tail"))))
def test_seen_is_the_share_of_right_answers_among_all_images_of_seen_pairs(right: tuple[int, int, int]) -> None:
    metrics = {"test/closed": of_groups(**dict(zip(("head", "medium", "tail"), right, strict=True)), unseen=6)}
    assert group_accuracy(metrics, "closed", "unbiased", "seen", COUNTS) == pytest.approx(100 * sum(right) / 12)


def test_a_seen_group_without_images_does_not_count() -> None:
    metrics = {"test/closed": of_groups(head=5, tail=1)}
    counts = COUNTS | {"medium": 0}
    assert group_accuracy(metrics, "closed", "unbiased", "seen", counts) == pytest.approx(100 * 6 / 9)
    assert math.isnan(group_accuracy(metrics, "closed", "unbiased", "medium", counts))


# runs that are made up


@dataclass
class Fake:
    """Runs, in the place of a workspace: method -> data set -> seed -> what the run says."""

    said: dict[str, dict[str, dict[int, Any]]]
    missing: set[tuple[str, str, int]] = field(default_factory=set)
    folder: Path = Path()

    @property
    def plan(self) -> Any:
        names = dict.fromkeys(name for of in self.said.values() for name in of)
        return SimpleNamespace(datasets={name: recipe_of(name) for name in names}, runs_of=self.runs_of)

    @property
    def runs(self) -> Any:
        return SimpleNamespace(is_complete=lambda run: (run.name, run.dataset, run.seed) not in self.missing)

    def store(self, kind: str) -> Any:
        return SimpleNamespace(file=lambda recipe, name: self.folder / kind / recipe.name / name)

    def runs_of(self, name: str, dataset: str) -> list[Run]:
        return [run_of(name, dataset, seed) for seed in self.said.get(name, {}).get(dataset, {})]

    def of(self, run: Run) -> Any:
        """What a run said; one that is not complete has nothing to read."""
        assert (run.name, run.dataset, run.seed) not in self.missing
        return self.said[run.name][run.dataset][run.seed]


def recipe_of(dataset: str) -> Recipe:
    return Recipe(dataset, {"dataset": dataset})


def run_of(name: str, dataset: str, seed: int) -> Run:
    document = {"method": name, "settings": {"lr": 1e-4 * (1 + (dataset == "e")), "epochs": 20}, "seed": seed}
    return Run(name, document | {"dataset": {"name": dataset}})


def key(name: str, dataset: str, seed: int) -> str:
    return f"runs/{run_of(name, dataset, seed).folder}"


def by_cell(cells: Any) -> dict[tuple[str, str, str], Cell]:
    """Row, column and view -> cell, each once."""
    listed = list(cells)
    found = {(cell.row, cell.column, cell.view): cell for cell in listed}
    assert len(found) == len(listed)
    assert all(cell.source == "measured" for cell in listed)
    return found


def paper_of(**artifact: Any) -> Paper:
    about = {"name": "p", "title": "t", "authors": "a", "venue": "v", "track": "czsl"}
    return Paper(**about, datasets={}, artifacts={"table-1": Artifact(caption="c", **artifact)})


# costs

COST = {
    "trainable_parameters": 1_500_000,
    "trainable_parameters_at_vit_l_14": 9_916_000,
    "epoch_seconds": 90.0,
    "test_seconds": 4.5,
    "peak_memory_bytes": 3 * 2**29,
}
ACCURACY = {"seen": 0.5, "unseen": 0.25, "harmonic_mean": 0.3, "auc": 0.12}


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs are what a run says; metrics are the same for all."""
    monkeypatch.setattr(measured, "read_costs", lambda work, run: COST | work.of(run))
    monkeypatch.setattr(measured, "read_metrics", lambda work, run: {"test/closed": {"dense": ACCURACY, "field": {}}})


def costs_of(work: Fake, **rows: str) -> dict[tuple[str, str], Cell]:
    found = by_cell(costs(work, paper_of(kind="costs", measured=rows), "table-1"))  # type: ignore[arg-type]
    return {(row, column): cell for (row, column, _), cell in found.items()}


@pytest.mark.usefixtures("readers")
def test_costs_are_in_the_units_of_their_columns() -> None:
    found = costs_of(Fake({"m": {"d": {0: {}}}}), M="m")
    assert {column: cell.text for (_, column), cell in found.items()} == {
        "d params (M)": "1.500",
        "d params at ViT-L/14 (M)": "9.916",
        "d peak memory (G)": "1.500",
        "d train time per epoch (min)": "1.500",
        "d test time (s)": "4.500",
        "d AUC": "12.0",
        "d H": "30.0",
    }
    assert {cell.measures for cell in found.values()} == {("m",)}


@pytest.mark.usefixtures("readers")
def test_costs_are_means_over_complete_seeds() -> None:
    work = Fake({"m": {"d": {0: {"test_seconds": 1.0}, 1: {"test_seconds": 3.0}, 2: {"test_seconds": 99.0}}}})
    work.missing = {("m", "d", 2)}
    cell = costs_of(work, M="m")["M", "d test time (s)"]
    assert (cell.value, cell.n) == (2.0, 2)
    assert cell.spread == pytest.approx(math.sqrt(2))
    assert set(cell.expected) - set(cell.made_from) == {key("m", "d", 2)}


@pytest.mark.usefixtures("readers")
def test_a_run_that_another_one_trained_has_no_time_per_epoch_and_all_other_costs() -> None:
    untrained = {seed: {"epoch_seconds": None} for seed in range(2)}
    found = costs_of(Fake({"m": {"d": {0: {}}}, "shown": {"d": untrained}}), M="m", Shown="shown")
    cell = found["Shown", "d train time per epoch (min)"]
    assert (cell.value, cell.spread, cell.n, cell.text) == (None, None, 0, "not run")
    for (row, column), other in found.items():
        if (row, column) != ("Shown", "d train time per epoch (min)"):
            assert other.value is not None
            assert other.n == (2 if row == "Shown" else 1)


@pytest.mark.usefixtures("readers")
def test_memory_of_which_nothing_is_known_is_left_out() -> None:
    said = {0: {"peak_memory_bytes": None}, 1: {"peak_memory_bytes": 2**30}, 2: {"peak_memory_bytes": 2**31}}
    assert costs_of(Fake({"m": {"d": said}}), M="m")["M", "d peak memory (G)"].value == 1.5
    cell = costs_of(Fake({"m": {"d": {0: said[0]}}}), M="m")["M", "d peak memory (G)"]
    assert (cell.value, cell.n) == (None, 0)


@pytest.mark.usefixtures("readers")
def test_runs_that_were_trained_alone_have_a_time_per_epoch() -> None:
    said = {0: {"epoch_seconds": None}, 1: {"epoch_seconds": 60.0}, 2: {"epoch_seconds": 180.0}}
    cell = costs_of(Fake({"m": {"d": said}}), M="m")["M", "d train time per epoch (min)"]
    assert (cell.value, cell.n) == (2.0, 2)


@pytest.mark.usefixtures("readers")
def test_without_runs_every_cost_is_not_run_and_what_is_not_planned_has_no_row() -> None:
    work = Fake({"m": {"d": {0: {}}}}, missing={("m", "d", 0)})
    found = costs_of(work, M="m", Other="other")
    assert {row for row, _ in found} == {"M"}
    assert {cell.text for cell in found.values()} == {"not run"}
    assert {cell.expected for cell in found.values()} == {(key("m", "d", 0),)}


# accuracies by group, without and with something

VIEWS = {
    "unbiased": View(heading="h", world="closed"),
    "balanced": View(heading="h", world="closed", bias="balanced"),
}


@pytest.fixture
def found_groups(data: PairData, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The table of a method without and with something, seeds 0 to 2 and 1 to 3, of which 3 is missing."""
    without = {seed: {"test/closed": of_groups(head=seed, medium=1, tail=seed, unseen=0)} for seed in range(3)}
    more = {seed: {"test/closed": of_groups(head=3, medium=1, tail=4, unseen=seed)} for seed in (1, 2, 3)}
    work = Fake({"without": {"d": without}, "with": {"d": more}}, missing={("with", "d", 3)})
    monkeypatch.setattr(measured, "read_metrics", lambda work, run: work.of(run))
    monkeypatch.setattr(measured, "read_pairs", lambda work, dataset: data)
    artifact = paper_of(kind="groups", measured={"w/o": "without", "w/": "with"}, views=VIEWS)
    return by_cell(groups(work, artifact, "table-1"))  # type: ignore[arg-type]


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
    assert without.made_from == tuple(key("without", "d", seed) for seed in range(3))
    assert with_it.made_from == tuple(key("with", "d", seed) for seed in (1, 2))
    assert with_it.expected == tuple(key("with", "d", seed) for seed in (1, 2, 3))


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


def test_settings_are_those_that_runs_had_on_each_data_set() -> None:
    work = Fake({"m": {"d": by_seed(None, None), "e": by_seed(None)}, "other": {"f": by_seed(None)}})
    work.missing = {("m", "d", 1)}
    paper = paper_of(kind="settings", of="m", measured={"Learning rate": "lr", "Number of epochs": "epochs"})
    found = by_cell(settings(work, paper, "table-1"))  # type: ignore[arg-type]
    said = {(row, column): (cell.text, cell.value, cell.n) for (row, column, _), cell in found.items()}
    assert said == {
        ("Learning rate", "d"): ("0.0001", 1e-4, 1),
        ("Learning rate", "e"): ("0.0002", 2e-4, 1),
        ("Number of epochs", "d"): ("20", 20, 1),
        ("Number of epochs", "e"): ("20", 20, 1),
    }
    cell = found["Learning rate", "d", ""]
    assert (cell.made_from, len(cell.expected), cell.measures) == ((key("m", "d", 0),), 2, ("m",))


def by_seed(*values: Any) -> dict[int, Any]:
    return dict(enumerate(values))


# data sets

STATISTICS = {
    "states": 16,
    "objects": 12,
    "train_pairs": 83,
    "train_images": 22998,
    "val_seen": 15,
    "val_unseen": 14,
    "val_images": 3214,
    "test_seen": 18,
    "test_unseen": 17,
    "test_images": 2914,
}
OF_SPLITS = ["83", "22998", "15", "14", "3214", "18", "17", "2914"]


def indexed(folder: Path, *datasets: str) -> Fake:
    for dataset in datasets:
        (folder / "index" / dataset).mkdir(parents=True)
        (folder / "index" / dataset / "statistics.json").write_text(json.dumps(STATISTICS))
    return Fake({"m": {dataset: {0: None} for dataset in datasets}}, folder=folder)


@pytest.mark.parametrize(
    ("name", "before"), [("msci", []), ("duplex", [("states", "16"), ("objects", "12"), ("pairs", "192")])]
)
def test_statistics_have_the_columns_that_the_paper_printed_in_its_order(
    name: str, before: list[tuple[str, str]], tmp_path: Path
) -> None:
    paper = load_paper(name)
    cells = list(statistics(indexed(tmp_path, "shapes-pairs", "ut-zappos"), paper, "table-1"))  # type: ignore[arg-type]
    header = [column for column in paper.reported("table-1")[0] if column != "row"]
    for row in ("shapes-pairs", "UT-Zappos"):
        of_row = [cell for cell in cells if cell.row == row]
        assert [cell.column for cell in of_row] == header
        assert [cell.text for cell in of_row] == [*(text for _, text in before), *OF_SPLITS]
        assert header[: len(before)] == [column for column, _ in before]
    assert {cell.made_from for cell in cells} == {
        (f"index/{recipe_of(dataset).folder}",) for dataset in ("shapes-pairs", "ut-zappos")
    }


def test_frequencies_count_images_of_training_and_test_and_their_shares(
    data: PairData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "read_pairs", lambda work, dataset: data)
    found = by_cell(frequencies(Fake({"m": {"d": {0: None}}}), paper_of(kind="frequencies"), "table-1"))  # type: ignore[arg-type]
    columns = [f"d {split} {what}" for split in ("train", "test") for what in ("count", "instance %")]
    table = {
        row: [found[row, column, ""].text for column in columns]
        for row in ("Head", "Medium", "Tail", "Unseen", "Total")
    }
    assert table == {
        "Head": ["17", "41.5", "5", "27.8"],
        "Medium": ["15", "36.6", "3", "16.7"],
        "Tail": ["9", "22", "4", "22.2"],
        "Unseen": ["0", "0", "6", "33.3"],
        "Total": ["41", "100", "18", "100"],
    }
