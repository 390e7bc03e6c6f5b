"""Tables of means over seeds with their 95 % confidence intervals."""

from collections.abc import Iterator

from recompose.claims.estimates import paired
from recompose.papers.declaration import Paper
from recompose.tables.cells import Cell, mean_cell
from recompose.tables.results import Results
from recompose.tables.rows import rows_of
from recompose.tracks import TRACKS


def intervals(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield, for each row, the mean over seeds with its sample standard deviation, and the ends of its interval.

    The ends of the 95 % interval of Student's t have a row each and one digit more. Fewer than two seeds have none.
    """
    track = TRACKS[paper.track]
    columns = next(iter(paper.artifacts[name].all_views.values())).columns
    for row in rows_of(results, paper, name):
        for column, metric in columns.items():
            description = track.description_of(metric)
            measured = [results.metrics(evaluation) for evaluation in row.complete]
            values = [numbers[metric] for numbers in measured if metric in numbers]
            if row.complete and not values:
                continue
            label = f"{row.benchmark} {column}"
            cell = mean_cell(row.row, label, values, row.complete, row.planned, description)
            cell = row.place_cell(cell, "", metric)
            yield cell
            if len(values) < 2:
                continue
            scaled = [description.factor * value for value in values]
            for end, value in zip(("from", "to"), paired(scaled).interval(), strict=True):
                text = f"{value:.{description.digits + 1}f}"
                row_of_end = f"{row.row}, interval {end}"
                yield cell.but(row=row_of_end, text=text, value=value, spread=None, values=[], better=0)
