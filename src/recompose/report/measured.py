"""The measured cells of tables, by kind: what the index of a data set or the runs of a method say."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import mean, stdev
from typing import Any

import numpy as np

from recompose.files import read_json
from recompose.papers.declaration import METRICS, Paper, View
from recompose.plan import Run
from recompose.report.cells import Cell
from recompose.report.lineage import key_of
from recompose.report.numbers import read_costs, read_metrics, read_pairs
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.metrics.groups import GROUPS, frequency_groups
from recompose.tracks.czsl.metrics.worlds import World
from recompose.workspace import Workspace

STATISTICS = {  # column -> name in the statistics of a data set
    "states": "states",
    "objects": "objects",
    "train seen pairs": "train_pairs",
    "train images": "train_images",
    "val seen pairs": "val_seen",
    "val unseen pairs": "val_unseen",
    "val images": "val_images",
    "test seen pairs": "test_seen",
    "test unseen pairs": "test_unseen",
    "test images": "test_images",
}
COSTS = {  # column -> what a run's costs say, and of which unit how much
    "params (M)": ("trainable_parameters", 1e6),
    "params at ViT-L/14 (M)": ("trainable_parameters_at_vit_l_14", 1e6),
    "peak memory (G)": ("peak_memory_bytes", 2**30),
    "train time per epoch (min)": ("epoch_seconds", 60),
    "test time (s)": ("test_seconds", 1),
}
SEEN = GROUPS[:-1]


def statistics(work: Workspace, paper: Paper, name: str) -> Iterator[Cell]:
    """The counts of each data set."""
    columns = paper.reported(name)[0]
    for dataset, recipe in work.plan.datasets.items():
        counts = read_json(work.store("index").file(recipe, "statistics.json"))
        counts = {column: counts[key] for column, key in STATISTICS.items()}
        counts["pairs"] = counts["states"] * counts["objects"]
        for column in columns:
            if column in counts:
                row = paper.datasets.get(dataset, dataset)
                yield _of_index(work, dataset, row, column, counts[column])


def _of_index(work: Workspace, dataset: str, row: str, column: str, value: float) -> Cell:
    source = (key_of("index", work.plan.datasets[dataset]),)
    return Cell(row, column, "measured", f"{value:g}", value, n=1, made_from=source, expected=source)


def frequencies(work: Workspace, paper: Paper, name: str) -> Iterator[Cell]:
    """How many images of training and test show pairs of each group."""
    for dataset in work.plan.datasets:
        counts = {split: group_counts(read_pairs(work, dataset), split) for split in ("train", "test")}
        for row in (*GROUPS, "total"):
            for split, found in counts.items():
                count, total = found.get(row, sum(found.values())), sum(found.values())
                share = round(100 * count / total, 1)
                for column, value in (("count", count), ("instance %", share)):
                    yield _of_index(work, dataset, row.capitalize(), f"{dataset} {split} {column}", value)


def group_counts(data: PairData, split: str) -> dict[str, int]:
    """How many images of a split show pairs of each group."""
    world = World.closed(data)
    groups = frequency_groups(world.shown, world.seen)[data.targets(split, world.pairs)]
    return {name: int((groups == index).sum()) for index, name in enumerate(GROUPS)}


def settings(work: Workspace, paper: Paper, name: str) -> Iterator[Cell]:
    """Settings of a method on each data set, as its runs had them."""
    artifact = paper.artifacts[name]
    for row, setting in artifact.measured.items():
        for dataset in work.plan.datasets:
            runs = work.plan.runs_of(artifact.of, dataset)
            if runs:
                value = runs[0].document["settings"][setting]
                keys = tuple(key_of("runs", run) for run in runs)
                complete = tuple(key_of("runs", run) for run in runs if work.runs.is_complete(run))
                yield Cell(
                    row,
                    dataset,
                    "measured",
                    f"{value:g}",
                    value,
                    None,
                    len(complete),
                    complete,
                    keys,
                    measures=(artifact.of,),
                )


def accuracy(work: Workspace, paper: Paper, name: str) -> Iterator[Cell]:
    """S, U, H and AUC of each row's runs, in each view."""
    artifact = paper.artifacts[name]
    for row, method, dataset, planned, complete in _rows(work, artifact.measured):
        measured = [read_metrics(work, run) for run in complete]
        for view, section in artifact.views.items():
            key = f"test/{section.world}"
            if not all(key in numbers for numbers in measured):
                continue  # chance knows no feasibility
            for column, metric in METRICS.items():
                values = [100 * numbers[key][section.sweep][metric] for numbers in measured]
                cell = over_seeds(row, f"{dataset} {column}", values, complete, planned)
                yield replace(cell, view=view, measures=(method,))


def costs(work: Workspace, paper: Paper, name: str) -> Iterator[Cell]:
    """What the runs cost on the machine that made them, with their accuracy."""
    for row, method, dataset, planned, complete in _rows(work, paper.artifacts[name].measured):
        found, metrics = ([read(work, run) for run in complete] for read in (read_costs, read_metrics))
        for column, (key, unit) in COSTS.items():
            values = [each[key] / unit for each in found if each[key] is not None]
            cell = over_seeds(row, f"{dataset} {column}", values, complete, planned, digits=3)
            yield replace(cell, measures=(method,))
        for column in ("AUC", "H"):
            values = [100 * each["test/closed"]["dense"][METRICS[column]] for each in metrics]
            yield replace(over_seeds(row, f"{dataset} {column}", values, complete, planned), measures=(method,))


def groups(work: Workspace, paper: Paper, name: str) -> Iterator[Cell]:
    """Accuracies by how often training showed a pair, of a method without and with something, and the gain over seeds that both have."""
    artifact = paper.artifacts[name]
    (without, first), (with_it, second) = artifact.measured.items()
    for dataset in work.plan.datasets:
        counts = group_counts(read_pairs(work, dataset), "test")
        for view, section in artifact.views.items():
            for group in (*SEEN, "seen", "unseen"):
                row = group.capitalize()
                samples = sum(counts[part] for part in SEEN) if group == "seen" else counts[group]
                yield replace(_of_index(work, dataset, row, f"{dataset} samples", samples), view=view)
                of = {method: _by_seed(work, method, dataset, section, group, counts) for method in (first, second)}
                for column, method in ((without, first), (with_it, second)):
                    planned = work.plan.runs_of(method, dataset)
                    complete = [run for run in planned if run.seed in of[method]]
                    cell = over_seeds(
                        row, f"{dataset} {column}", list(of[method].values()), complete, planned, digits=2
                    )
                    yield replace(cell, view=view, measures=(method,))
                yield replace(_gain(work, row, dataset, first, second, of), view=view)


def _by_seed(
    work: Workspace, method: str, dataset: str, view: View, group: str, counts: dict[str, int]
) -> dict[int, float]:
    runs = [run for run in work.plan.runs_of(method, dataset) if work.runs.is_complete(run)]
    return {run.seed: group_accuracy(read_metrics(work, run), view.world, view.bias, group, counts) for run in runs}


def group_accuracy(metrics: dict[str, Any], world: str, bias: str, group: str, counts: dict[str, int]) -> float:
    """The accuracy, in percent, of a group of a run's test images; ``seen`` is head, medium and tail together."""
    found = metrics[f"test/{world}"]["groups"][bias]
    if group != "seen":
        return 100 * float(found.get(group, np.nan))
    present = [part for part in SEEN if part in found]
    return 100 * float(np.average([found[part] for part in present], weights=[counts[part] for part in present]))


def _gain(work: Workspace, row: str, dataset: str, first: str, second: str, of: dict[str, dict[int, float]]) -> Cell:
    seeds = sorted(of[first].keys() & of[second].keys())
    planned = [run for method in (first, second) for run in work.plan.runs_of(method, dataset)]
    runs = [run for run in planned if run.seed in seeds]
    values = [of[second][seed] - of[first][seed] for seed in seeds]
    return replace(over_seeds(row, f"{dataset} delta", values, runs, planned, digits=2), measures=(first, second))


def _rows(work: Workspace, measured: dict[str, str]) -> Iterator[tuple[str, str, str, list[Run], list[Run]]]:
    """Row, method or variant, data set, its planned and its complete runs, where the profile asks for any."""
    for row, method in measured.items():
        for dataset in work.plan.datasets:
            planned = work.plan.runs_of(method, dataset)
            if planned:
                yield row, method, dataset, planned, [run for run in planned if work.runs.is_complete(run)]


def over_seeds(
    row: str, column: str, values: list[float], complete: list[Run], planned: list[Run], *, digits: int = 1
) -> Cell:
    """A cell of the mean over seeds, and the sample standard deviation where there are several."""
    keys = tuple(key_of("runs", run) for run in complete)
    expected = tuple(key_of("runs", run) for run in planned)
    if not values:
        return Cell(row, column, "measured", "not run", n=0, expected=expected)
    spread = stdev(values) if len(values) > 1 else None
    text = f"{mean(values):.{digits}f}" + (f" ± {spread:.{digits}f}" if spread is not None else "")
    each = tuple(values) if len(values) == len(keys) else ()
    return Cell(row, column, "measured", text, mean(values), spread, len(values), keys, expected, values=each)
