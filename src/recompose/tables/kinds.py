"""Kinds of artifacts: the tables and figures that exist, and their files."""

from dataclasses import dataclass

from recompose.claims.cells import verdicts
from recompose.errors import PlanError
from recompose.papers.declaration import AGAINST, CLAIMS, FOREST, SWEEP, Paper
from recompose.params.mistakes import nearest
from recompose.parts.results import Cells
from recompose.tables import measured
from recompose.tables.formats import FORMATS
from recompose.tracks import TRACKS


@dataclass(frozen=True)
class Kind:
    """A kind of tables or figures."""

    cells: Cells | None = None  # of a table; None: it is a figure
    drawing: str = ""  # "module:function" of a figure: planning needs the name, drawing imports matplotlib and more
    row_heading: str = "row"  # of the column with the names of rows
    compares_rows: bool = False  # in the replicates that all of them have
    is_summed_up: bool = True  # its measured part stands in the README of the paper's reports

    @property
    def place(self) -> str:
        """The function that makes it, as ``module:function``."""
        return f"{self.cells.__module__}:{self.cells.__name__}" if self.cells else self.drawing


KINDS = {
    "statistics": Kind(measured.statistics, row_heading="data set", is_summed_up=False),
    "settings": Kind(measured.settings, row_heading="setting", is_summed_up=False),
    "metrics": Kind(measured.metrics, row_heading="method", compares_rows=True),
    "intervals": Kind(measured.intervals, row_heading="method", compares_rows=True),
    "comparisons": Kind(measured.comparisons, row_heading="method"),
    CLAIMS: Kind(verdicts, row_heading="claim"),
    AGAINST: Kind(measured.against, compares_rows=True),
    SWEEP: Kind(drawing="recompose.tables.figures:draw_sweep"),
    FOREST: Kind(drawing="recompose.tables.figures:draw_forest"),
}


def find_kind(paper: Paper, name: str) -> Kind:
    """Return the kind of an artifact: the core's, or its track's own.

    Raises:
        PlanError: neither has its kind.
    """
    kind, track = paper.artifacts[name].kind, TRACKS[paper.track]
    tables = {entry: Kind(cells) for entry, cells in track.tables.items()}
    figures = {entry: Kind(drawing=place) for entry, place in track.figures.items()}
    kinds = KINDS | tables | figures
    if kind not in kinds:
        place, near = f"{paper.file}: artifacts.{name}", nearest(kind, kinds)
        message = f"{place} has the unknown kind {kind!r}{near}; allowed: {', '.join(kinds)}"
        raise PlanError(message, code="unknown-kind", place=place)
    return kinds[kind]


def is_figure(paper: Paper, name: str) -> bool:
    """Return True if an artifact is a figure, False if it is a table."""
    return find_kind(paper, name).cells is None


def artifact_files(paper: Paper, name: str) -> list[str]:
    """Return the files of an artifact, without its paper's folder."""
    return [f"{name}.{ending}" for ending in (("svg", "png", "csv") if is_figure(paper, name) else FORMATS)]
