"""The cells of a table, each with its text, its value and the evaluations behind it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import Annotated, Any, Self, TypeAlias

from pydantic import Field, model_validator

from recompose.files import Document
from recompose.recipes.plan import Recipe
from recompose.recipes.records import LenientModel
from recompose.tables.metric import Metric

EVERY_SEED = "every seed"  # in place of the seed of a value that no seed changes
DIFFERENCE = "difference of means over seeds"
Number: TypeAlias = int | float  # validation as a float would change an integer, which is written otherwise


class DifferenceTest(LenientModel):
    """The test of a comparison, before correction."""

    replicates: int  # that both sides share
    difference: float
    p: float  # that there is a difference; of a claim that something is kept: that it is beyond the margin
    p_margin: float  # that the difference is within the margin


class ComparisonEvidence(LenientModel):
    """A comparison of a claim."""

    # first - second, or (first - second) - (third - fourth)
    sides: Annotated[list[str], Field(min_length=2, max_length=4)]
    verdict: str
    margin: float
    is_kept: bool  # the claim is that the difference is within the margin
    test: DifferenceTest | None = None  # None: not tested
    p: float | None  # corrected for other comparisons
    p_margin: float | None
    price: str  # the replicates that decide it, if the difference is as measured / if it is zero; empty: unknown
    needed: int | None  # the first of these; None: too many

    @property
    def text(self) -> str:
        """The difference in words."""
        parts = [" - ".join(self.sides[start : start + 2]) for start in range(0, len(self.sides), 2)]
        return parts[0] if len(parts) == 1 else " - ".join(f"({part})" for part in parts)


class ClaimEvidence(LenientModel):
    """The evidence for a verdict: of the deciding comparison first."""

    unit: str
    values: dict[str, dict[str, float]]  # side -> seed -> value
    comparisons: Annotated[list[ComparisonEvidence], Field(min_length=1)]
    family: int  # the comparisons whose tests of a difference are corrected for each other
    margin_family: int  # the same of the tests of a difference within its margin

    @model_validator(mode="after")
    def _check_sides(self) -> Self:
        if unknown := {side for comparison in self.comparisons for side in comparison.sides} - self.values.keys():
            raise ValueError(f"it has no values of {min(unknown)}")
        return self

    def differences(self, comparison: ComparisonEvidence) -> dict[str, float]:
        """Return the difference at each seed that all sides of a comparison share."""
        sides = [self.values[side] for side in comparison.sides]
        numbered = [values.keys() for values in sides if EVERY_SEED not in values]
        seeds = [seed for seed in numbered[0] if all(seed in other for other in numbered)] if numbered else []
        signs = (1, -1, -1, 1)
        return {
            seed: sum(
                sign * values.get(seed, values.get(EVERY_SEED, 0.0)) for sign, values in zip(signs, sides, strict=False)
            )
            for seed in seeds
        }


class Cell(LenientModel):
    """One value of a table: printed by the paper, or measured here. Provenance holds the measured ones."""

    row: str
    column: str
    source: str = Field(default="measured", exclude=True)  # or reported
    view: str = ""  # of a table with several views
    part: str = ""  # of the cell of a claim: verdict, estimate, ...
    benchmark: str = ""
    metric: str = ""
    names: list[str] = Field(default=[])  # the methods or variants that were measured
    text: str  # as people read it
    value: Number | None = None  # in the unit of its metric
    spread: float | None = None  # sample standard deviation over seeds
    n: int | None = None
    better: int = 0  # the better end of the metric, see Metric
    rule: str = ""  # how the value follows from the evaluations, where spread and names do not tell
    made_from: list[str] = Field(default=[])  # keys of evaluations, or of data
    values: list[Number] = Field(default=[])  # a value for each of made_from, where the cell is a mean of them
    other_benchmarks: list[str] = Field(default=[])  # that it rests on, too: p is corrected for comparisons there
    beside: list[str] = Field(default=[])  # the methods and variants whose common seeds it is restricted to, if it is
    evidence: ClaimEvidence | None = None  # of the verdict on a claim
    correct: str = Field(default="", exclude=True)  # the right value, where it is known that the printed one is wrong
    flag: str = Field(default="", exclude=True)  # what is wrong with the printed value, in words

    def __hash__(self) -> int:
        return hash((self.key, self.text))

    @property
    def section(self) -> str:
        """The section of the table with this cell: a view, or its source."""
        return self.view or self.source

    @property
    def key(self) -> tuple[str, ...]:
        """Its place in the artifact: source, view, row and column."""
        return self.source, self.view, self.row, self.column

    @property
    def verdict(self) -> str:
        """The verdict of a claim without its reason."""
        return self.text.partition(" (")[0]

    @property
    def aggregate(self) -> str:
        """How the value follows from the values of the evaluations, in words."""
        if self.rule:
            return self.rule
        if self.part == "estimate" or (self.spread is None and len(self.names) > 1 and not self.part):
            return DIFFERENCE
        return "single value" if self.spread is None else "mean and sample standard deviation over seeds"

    def but(self, **changes: Any) -> Self:
        """Return the same cell with other values of these fields."""
        return self.model_copy(update=changes)

    def plain(self) -> Document:
        """Return what provenance holds of a measured cell: what it is, without what is empty."""
        return self.model_dump(exclude_defaults=True)


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
    return Cell(row=row, column=column, text=f"{value:g}", value=value, n=1, made_from=[data.key], benchmark=benchmark)


def cell_of(evaluations: Sequence[Recipe], names: Iterable[str], benchmark: str) -> Cell:
    """Return a cell that rests on complete evaluations, without its place and what it shows.

    Args:
        evaluations: that were made.
        names: the methods or variants that were measured.
        benchmark: their data.
    """
    made_from = [evaluation.key for evaluation in evaluations]
    basis = Cell(row="", column="", text="", made_from=made_from, names=[*names])
    return basis.but(n=len(evaluations), benchmark=benchmark)


def mean_cell(cell: Cell, values: list[float], metric: Metric) -> Cell:
    """Return a cell with the mean over seeds, and the sample standard deviation if there are several seeds.

    Args:
        cell: that rests on the evaluations.
        values: as they are stored, before they are converted to the metric's unit.
        metric: the description of the metric.
    """
    cell = cell.but(text="not measured" if cell.made_from else "not run", n=len(values), better=metric.better)
    if not values:
        return cell
    values = [metric.factor * value for value in values]
    spread = stdev(values) if len(values) > 1 else None
    digits = metric.digits
    return cell.but(
        text=f"{mean(values):.{digits}f}" + (f" ± {spread:.{digits}f}" if spread is not None else ""),
        value=mean(values),
        spread=spread,
        values=values if len(values) == len(cell.made_from) else [],
    )
