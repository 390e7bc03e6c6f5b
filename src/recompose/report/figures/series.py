"""The runs that a figure shows."""

from dataclasses import dataclass

from recompose.papers.declaration import Artifact
from recompose.plan import Run
from recompose.report.cells import Cell
from recompose.report.lineage import key_of
from recompose.workspace import Workspace


@dataclass(frozen=True)
class Series:
    """The runs that a figure shows of a row on a data set: those there are, and those the plan wants."""

    row: str
    measures: str
    dataset: str
    complete: list[Run]
    planned: list[Run]


def series_of(work: Workspace, artifact: Artifact) -> list[Series]:
    """What a figure shows, row by row and data set by data set."""
    found = []
    for row, name in artifact.measured.items():
        for dataset in work.plan.datasets:
            planned = work.plan.runs_of(name, dataset)
            complete = [run for run in planned if work.runs.is_complete(run)]
            if planned:
                found.append(Series(row, name, dataset, complete, planned))
    return found


def by_dataset(work: Workspace, artifact: Artifact) -> dict[str, dict[str, Run]]:
    """The first complete run of each row, by data set: of those data sets where every row has one."""
    found: dict[str, dict[str, Run]] = {}
    for series in series_of(work, artifact):
        if series.complete:
            found.setdefault(series.dataset, {})[series.row] = series.complete[0]
    return {dataset: runs for dataset, runs in found.items() if len(runs) == len(artifact.measured)}


def cells_of(work: Workspace, artifact: Artifact) -> list[Cell]:
    """A cell per row and data set, for lineage."""
    what = {"curves": "curve", "sweep": "AUC"}.get(artifact.kind, artifact.kind)
    return [
        Cell(
            series.row,
            f"{series.dataset} {what}",
            "measured",
            what,
            n=len(series.complete),
            made_from=tuple(key_of("runs", run) for run in series.complete),
            expected=tuple(key_of("runs", run) for run in series.planned),
            measures=(series.measures,),
        )
        for series in series_of(work, artifact)
    ]
