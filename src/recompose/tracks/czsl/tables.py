"""The measured cells of the tables that only this track has."""

from collections.abc import Iterator

import numpy as np

from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables.cells import Cell, cell_of, data_cell, mean_cell
from recompose.tables.results import Results
from recompose.tables.rows import shared_replicates
from recompose.tracks import TRACKS
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.metrics.groups import GROUPS, frequency_groups
from recompose.tracks.czsl.metrics.worlds import World
from recompose.tracks.czsl.stored import read_pairs

SEEN = GROUPS[:-1]


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
    artifact = paper.artifacts[name]
    (without, first), (with_it, second) = artifact.rows.items()
    for benchmark in results.benchmarks(paper.track):
        absent = [method for method in (first, second) if _is_planned_elsewhere(results, paper, method, benchmark)]
        data = results.data(paper.track, benchmark)
        counts = group_counts(read_pairs(results, data), "test")
        for view, section in artifact.all_views.items():
            for group in (*SEEN, "seen", "unseen"):
                row, metric = group.capitalize(), f"{section.of}/{group}"
                samples = sum(counts[part] for part in SEEN) if group == "seen" else counts[group]
                yield data_cell(data, row, f"{benchmark} samples", samples, benchmark).but(view=view)
                evaluations = {method: results.complete(paper.track, method, benchmark) for method in (first, second)}
                planned = {method: results.planned(paper.track, method, benchmark) for method in evaluations}
                for column, method in ((without, first), (with_it, second)):
                    if method in absent:
                        continue
                    values = [results.metrics(evaluation).get(metric, np.nan) for evaluation in evaluations[method]]
                    about = TRACKS[paper.track].description_of(metric)
                    cell = mean_cell(cell_of(evaluations[method], planned[method], [method], benchmark), values, about)
                    place = {"row": row, "column": f"{benchmark} {column}", "view": view, "metric": metric}
                    yield cell.but(**place, better=0)
                if not absent and bool(planned[first]) == bool(planned[second]):
                    cell = _gain(results, paper, benchmark, metric, (first, second))
                    yield cell.but(row=row, column=f"{benchmark} delta", view=view, metric=metric, better=0)


def _is_planned_elsewhere(results: Results, paper: Paper, method: str, benchmark: str) -> bool:
    """Return whether a variant is evaluated only on other data sets: those that it declares."""
    datasets = [name for name in results.benchmarks(paper.track) if results.planned(paper.track, method, name)]
    return bool(datasets) and benchmark not in datasets


def _gain(results: Results, paper: Paper, benchmark: str, metric: str, methods: tuple[str, str]) -> Cell:
    planned_by_method = {method: results.planned(paper.track, method, benchmark) for method in methods}
    shared = shared_replicates(planned_by_method)  # a profile may have more replicates of one of them
    planned = [evaluation for evaluations in shared.values() for evaluation in evaluations]
    by_seed: list[dict[int, Recipe]] = [
        {int(evaluation.labels["seed"]): evaluation for evaluation in results.complete(paper.track, method, benchmark)}
        for method in methods
    ]
    seeds = sorted(by_seed[0].keys() & by_seed[1].keys())
    values = [
        results.metrics(by_seed[1][seed]).get(metric, np.nan) - results.metrics(by_seed[0][seed]).get(metric, np.nan)
        for seed in seeds
    ]
    paired = [
        evaluation
        for evaluation in planned
        if int(evaluation.labels["seed"]) in seeds and results.is_complete(evaluation)
    ]
    basis = cell_of(paired, planned, methods, benchmark, methods if shared != planned_by_method else ())
    return mean_cell(basis, values, TRACKS[paper.track].description_of(metric))
