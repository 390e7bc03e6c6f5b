"""A table as its cells, each with what it says and what it was made from."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cell:
    """One value of a table: what the paper printed, or what was measured here."""

    row: str
    column: str
    source: str  # reported or measured
    text: str  # as people read it
    value: float | None = None  # in the unit of its metric
    spread: float | None = None  # sample standard deviation over seeds
    n: int | None = None
    made_from: tuple[str, ...] = ()  # keys of evaluations, or of data
    expected: tuple[str, ...] = ()  # the same, of all that the plan wants: more where seeds are missing
    correct: str = ""  # where the printed value is wrong
    flag: str = ""  # and why
    view: str = ""  # of a table that measures in several ways
    values: tuple[float, ...] = ()  # of each of made_from, where it is a mean of them
    names: tuple[str, ...] = ()  # the methods or variants that were measured
    benchmark: str = ""
    metric: str = ""
    better: int = 0  # which end of the metric is the better one, see Metric
    part: str = ""  # of a claim, what of it the cell says
    beside: tuple[str, ...] = ()  # the methods and variants whose common seeds it is measured in, where those are fewer

    @property
    def section(self) -> str:
        """The section of its table that it stands in: a view, or its source."""
        return self.view or self.source


@dataclass(frozen=True)
class Table:
    """The cells of a table, and what is said above and below it."""

    paper: str
    name: str
    title: str
    caption: str
    cells: list[Cell]
    about: dict[str, dict[str, str]] = field(default_factory=dict)  # reported row -> category, citation, venue
    notes: list[str] = field(default_factory=list)
    watermarks: list[str] = field(default_factory=list)
    views: dict[str, str] = field(default_factory=dict)  # view -> heading
    summary: str = ""  # what its cells come to, of which data

    @property
    def sections(self) -> dict[str, str]:
        """The sections that it has, in order, with their headings: what was measured in each view, and what was
        reported.
        """
        headings = {**(self.views or {"measured": "Measured here"}), "reported": "Reported by the paper"}
        return {section: heading for section, heading in headings.items() if self.of(section)}

    @property
    def measured(self) -> list[Cell]:
        """The measured cells of all views."""
        return [cell for cell in self.cells if cell.source == "measured"]

    def of(self, section: str) -> list[Cell]:
        """The cells of a section."""
        return [cell for cell in self.cells if cell.section == section]

    def is_in_words(self, section: str) -> bool:
        """Whether a section says in words what other sources say, and has no values."""
        cells = self.of(section)
        return section in self.views and bool(cells) and all(cell.source == "reported" for cell in cells)

    def rows(self, section: str) -> list[str]:
        """The rows of a section, in order."""
        return list(dict.fromkeys(cell.row for cell in self.of(section)))

    def columns(self, section: str) -> list[str]:
        """The columns of a section, in order."""
        return list(dict.fromkeys(cell.column for cell in self.of(section)))
