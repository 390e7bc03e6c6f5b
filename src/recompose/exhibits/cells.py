"""The cells of a table, each with its text, its value and the evaluations behind it."""

from dataclasses import dataclass, field
from statistics import mean, stdev

from recompose.exhibits.evidence import ClaimEvidence
from recompose.exhibits.metric import Metric
from recompose.plan import Recipe


@dataclass(frozen=True)
class Cell:
    """One value of a table: printed by the paper, or measured here."""

    row: str
    column: str
    source: str  # reported or measured
    text: str  # as people read it
    value: float | None = None  # in the unit of its metric
    spread: float | None = None  # sample standard deviation over seeds
    n: int | None = None
    made_from: tuple[str, ...] = ()  # keys of evaluations, or of data
    expected: tuple[str, ...] = ()  # the same, of all that the plan has: more where seeds are missing
    correct: str = ""  # the right value where the printed one is wrong, or another one with its place
    flag: str = ""  # the reason
    view: str = ""  # of a table with several views
    values: tuple[float, ...] = ()  # a value for each of made_from, where the cell is a mean of them
    names: tuple[str, ...] = ()  # the methods or variants that were measured
    benchmark: str = ""
    metric: str = ""
    better: int = 0  # the better end of the metric, see Metric
    part: str = ""  # of the cell of a claim: verdict, estimate, ...
    beside: tuple[str, ...] = ()  # the methods and variants whose common seeds it is restricted to, if it is
    aggregate: str = ""  # how the value follows from the evaluations, where spread and names do not tell
    evidence: ClaimEvidence | None = field(default=None, hash=False)  # of the verdict on a claim

    @property
    def section(self) -> str:
        """The section of the table with this cell: a view, or its source."""
        return self.view or self.source


@dataclass(frozen=True)
class Table:
    """The cells of a table, with its title, caption and notes."""

    paper: str
    name: str
    title: str
    caption: str
    cells: list[Cell]
    about: dict[str, dict[str, str]] = field(default_factory=dict)  # reported row -> category, citation, venue
    notes: list[str] = field(default_factory=list)
    watermarks: list[str] = field(default_factory=list)
    views: dict[str, str] = field(default_factory=dict)  # view -> heading
    summary: list[str] = field(default_factory=list)  # paragraphs on what came out, for a table of claims
    row_heading: str = "row"  # of the column with the names of rows
    reported_heading: str = "Reported by the paper"

    @property
    def sections(self) -> dict[str, str]:
        """The non-empty sections in order, with their headings: the measured views, then the reported values."""
        headings = {**(self.views or {"measured": "Measured here"}), "reported": self.reported_heading}
        return {section: heading for section, heading in headings.items() if self.section_cells(section)}

    @property
    def measured(self) -> list[Cell]:
        """The measured cells of all views."""
        return [cell for cell in self.cells if cell.source == "measured"]

    def section_cells(self, section: str) -> list[Cell]:
        """Return the cells of a section."""
        return [cell for cell in self.cells if cell.section == section]

    def is_textual(self, section: str) -> bool:
        """Return True if a section quotes sources in words and has no values."""
        cells = self.section_cells(section)
        return section in self.views and bool(cells) and all(cell.source == "reported" for cell in cells)

    def rows(self, section: str) -> list[str]:
        """Return the rows of a section, in order."""
        return list(dict.fromkeys(cell.row for cell in self.section_cells(section)))

    def columns(self, section: str) -> list[str]:
        """Return the columns of a section, in order."""
        return list(dict.fromkeys(cell.column for cell in self.section_cells(section)))


def data_cell(data: Recipe, row: str, column: str, value: float, benchmark: str) -> Cell:
    """Return a cell that a data set alone determines."""
    source = (data.key,)
    return Cell(
        row, column, "measured", f"{value:g}", value, n=1, made_from=source, expected=source, benchmark=benchmark
    )


def mean_cell(
    row: str, column: str, values: list[float], complete: list[Recipe], planned: list[Recipe], metric: Metric
) -> Cell:
    """Return a cell of the mean over seeds, with the sample standard deviation if there are several seeds.

    Args:
        row: of the cell.
        column: of the cell.
        values: as they are stored, before they are converted to the metric's unit.
        complete: the evaluations that were made.
        planned: the evaluations that the plan has.
        metric: the description of the metric.
    """
    keys = tuple(evaluation.key for evaluation in complete)
    expected = tuple(evaluation.key for evaluation in planned)
    if not values:
        text = "not measured" if complete else "not run"
        return Cell(row, column, "measured", text, n=0, made_from=keys, expected=expected, better=metric.better)
    values = [metric.factor * value for value in values]
    spread = stdev(values) if len(values) > 1 else None
    digits = metric.digits
    text = f"{mean(values):.{digits}f}" + (f" ± {spread:.{digits}f}" if spread is not None else "")
    return Cell(
        row,
        column,
        "measured",
        text,
        mean(values),
        spread,
        len(values),
        keys,
        expected,
        values=tuple(values) if len(values) == len(keys) else (),
        better=metric.better,
    )
