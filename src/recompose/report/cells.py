"""A table as its cells, each with what it says and what it was made from."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cell:
    """One value of a table: what the paper printed, or what runs here gave."""

    row: str
    column: str
    source: str  # reported or measured
    text: str  # as people read it
    value: float | None = None
    spread: float | None = None  # sample standard deviation over seeds
    n: int | None = None
    made_from: tuple[str, ...] = ()  # "runs/<folder>" or "index/<folder>"
    expected: tuple[str, ...] = ()  # the same, for all that the plan wants: more where seeds are missing
    correct: str = ""  # where the printed value is wrong
    flag: str = ""  # and why
    view: str = ""  # of a table that measures in several ways
    values: tuple[float, ...] = ()  # of each of made_from, where it is a mean of them
    measures: tuple[str, ...] = ()  # the methods or variants whose runs made it

    @property
    def part(self) -> str:
        """The part of its table that it stands in."""
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

    @property
    def parts(self) -> dict[str, str]:
        """The parts that it has, in order, with their headings: what was measured in each view, and what was reported."""
        headings = {**(self.views or {"measured": "Measured here"}), "reported": "Reported by the paper"}
        return {part: heading for part, heading in headings.items() if self.of(part)}

    @property
    def measured(self) -> list[Cell]:
        """The measured cells of all views."""
        return [cell for cell in self.cells if cell.source == "measured"]

    def of(self, part: str) -> list[Cell]:
        """The cells of a part."""
        return [cell for cell in self.cells if cell.part == part]

    def rows(self, part: str) -> list[str]:
        """The rows of a part, in order."""
        return list(dict.fromkeys(cell.row for cell in self.of(part)))

    def columns(self, part: str) -> list[str]:
        """The columns of a part, in order."""
        return list(dict.fromkeys(cell.column for cell in self.of(part)))
