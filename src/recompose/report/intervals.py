"""A table of means over seeds with their 95 % confidence intervals."""

from collections.abc import Iterator
from dataclasses import replace

from recompose.papers.declaration import Paper
from recompose.report.cells import Cell
from recompose.report.inference import paired
from recompose.report.measured import over_seeds, rows_of
from recompose.report.results import Results
from recompose.tracks import TRACKS


def intervals(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Of each row the mean over seeds with its sample standard deviation, and below it where the 95 % interval of
    Student's t begins and ends, with one digit more; of fewer than two seeds nothing is known of that.
    """
    track = TRACKS[paper.track]
    columns = next(iter(paper.artifacts[name].all_views.values())).columns
    for row in rows_of(results, paper, name):
        for column, metric in columns.items():
            about = track.description_of(metric)
            numbers = [results.metrics(evaluation) for evaluation in row.complete]
            values = [of[metric] for of in numbers if metric in of]
            if row.complete and not values:
                continue
            cell = over_seeds(row.row, f"{row.benchmark} {column}", values, row.complete, row.planned, about)
            cell = row.at_place(cell, "", metric)
            yield cell
            if len(values) < 2:
                continue
            shown = [about.factor * value for value in values]
            estimate = paired(shown, [0.0] * len(shown))
            for end, value in (("from", estimate.low), ("to", estimate.high)):
                text = f"{value:.{about.digits + 1}f}"
                at_end = replace(cell, row=f"{row.row}, interval {end}", text=text, value=value)
                yield replace(at_end, spread=None, values=(), better=0)
