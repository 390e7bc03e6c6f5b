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

    def of(self, source: str) -> list[Cell]:
        """The cells of one source."""
        return [cell for cell in self.cells if cell.source == source]

    def rows(self, source: str) -> list[str]:
        """The rows of one source, in order."""
        return list(dict.fromkeys(cell.row for cell in self.of(source)))

    def columns(self, source: str) -> list[str]:
        """The columns of one source, in order."""
        return list(dict.fromkeys(cell.column for cell in self.of(source)))
