"""The measured cells of the tables that only this track has."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell, cell_of, data_cell, mean_cell
from recompose.parts.results import Results, shared_replicates
from recompose.recipes.plan import Recipe
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.metrics.groups import GROUPS, frequency_groups
from recompose.tracks.czsl.metrics.worlds import World

SEEN = GROUPS[:-1]
Evaluations: TypeAlias = dict[str, list[Recipe]]  # by method


def read_pairs(results: Results, data: Recipe) -> PairData:
    """Return the index of a data set."""
    return PairData.read(results.folder(data))


def frequencies(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Return how many training and test images show pairs of each group."""
    for benchmark in results.benchmarks(paper.track):
        data = results.data(paper.track, benchmark)
        pairs = read_pairs(results, data)
        counts = {split: group_counts(pairs, split) for split in ("train", "test")}
        for row in (*GROUPS, "total"):
            for split, of_split in counts.items():
                total = sum(of_split.values())
                count = of_split.get(row, total)
                share = round(100 * count / total, 1)
                for column, value in (("count", count), ("instance %", share)):
                    yield data_cell(data, row.capitalize(), f"{benchmark} {split} {column}", value, benchmark)


def group_counts(data: PairData, split: str) -> dict[str, int]:
    """Return how many images of a split show pairs of each group."""
    world = World.closed(data)
    groups = frequency_groups(world.training_images, world.seen)[data.targets(split, world.pairs)]
    return {name: int((groups == index).sum()) for index, name in enumerate(GROUPS)}


def groups(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield accuracies by how often training showed a pair, of a method without and with a component, and the gain over
    the seeds that both have; no gain if only one of them is planned on the data set.
    """
    artifact, track = paper.artifacts[name], results.tracks[paper.track]
    columns = dict(zip(artifact.rows.values(), artifact.rows, strict=True))  # method -> its label
    for benchmark in results.benchmarks(paper.track):
        planned = {method: results.planned(paper.track, method, benchmark) for method in columns}
        complete = {method: results.complete(paper.track, method, benchmark) for method in columns}
        absent = [method for method in columns if _is_planned_elsewhere(results, paper, method, benchmark)]
        data = results.data(paper.track, benchmark)
        counts = group_counts(read_pairs(results, data), "test")
        for view, section in artifact.all_views.items():
            for group in (*SEEN, "seen", "unseen"):
                row, metric = group.capitalize(), f"{section.of}/{group}"
                samples = sum(counts[part] for part in SEEN) if group == "seen" else counts[group]
                yield data_cell(data, row, f"{benchmark} samples", samples, benchmark).but(view=view)
                about = track.description_of(metric)
                cells = {}
                for method, column in columns.items():
                    if method not in absent:
                        values = [results.metrics(evaluation).get(metric, np.nan) for evaluation in complete[method]]
                        cell = cell_of(complete[method], [method], benchmark)
                        cells[f"{benchmark} {column}"] = mean_cell(cell, values, about)
                if not absent and len({bool(evaluations) for evaluations in planned.values()}) == 1:
                    basis, values = _gains(results, planned, complete, metric, benchmark)
                    cells[f"{benchmark} delta"] = mean_cell(basis, values, about)
                for column, cell in cells.items():
                    yield cell.but(row=row, column=column, view=view, metric=metric, better=0)


def _is_planned_elsewhere(results: Results, paper: Paper, method: str, benchmark: str) -> bool:
    """Return whether a variant is evaluated only on other data sets: those that it declares."""
    datasets = [name for name in results.benchmarks(paper.track) if results.planned(paper.track, method, name)]
    return bool(datasets) and benchmark not in datasets


def _gains(
    results: Results, planned: Evaluations, complete: Evaluations, metric: str, benchmark: str
) -> tuple[Cell, list[float]]:
    """Return the basis of a cell, and the gain of the second of two methods at each seed that both have."""
    shared = shared_replicates(planned)  # a profile may have more replicates of one of them
    compared = [evaluation for evaluations in shared.values() for evaluation in evaluations]
    first, second = ({int(each.labels["seed"]): each for each in evaluations} for evaluations in complete.values())
    seeds = sorted(first.keys() & second.keys())
    sides = [[results.metrics(by_seed[seed]).get(metric, np.nan) for seed in seeds] for by_seed in (first, second)]
    paired = [each for each in compared if int(each.labels["seed"]) in seeds and results.is_complete(each)]
    basis = cell_of(paired, [*planned], benchmark).but(beside=[*planned] if shared != planned else [])
    return basis, [after - before for before, after in zip(*sides, strict=True)]
