"""One style for all figures, and how they are written: as vector, as bitmap, and the numbers drawn beside them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from recompose.files import write_atomically, write_text
from recompose.palette import WATERMARK

mpl.use("Agg")
COLUMN_WIDTH = 3.4  # inches: one column of a paper
PANEL_HEIGHT = 2.7
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "recompose",  # the same drawing, the same bytes
    "svg.fonttype": "none",
    "figure.dpi": 220,
    "font.size": 8,
    "axes.titlesize": 8,
    "legend.frameon": False,
    "text.parse_math": False,  # names of data sets are text, also with dollars in them
}


@contextmanager
def styled() -> Iterator[None]:
    """Within this context figures look alike."""
    with mpl.rc_context(STYLE), sns.axes_style("ticks"):
        yield


def panels(rows: int, columns: int) -> Any:
    """A figure of so many panels, with its axes [rows, columns]."""
    columns = max(1, columns)
    size = (COLUMN_WIDTH * columns, PANEL_HEIGHT if rows == 1 else 2 * rows)
    return plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")


def csv_of(numbers: pd.DataFrame) -> str:
    """The numbers of a figure as they are kept beside it."""
    text: str = numbers.to_csv(index=False, float_format="%.4f", lineterminator="\n")
    return text


@dataclass(frozen=True)
class Sheet:
    """A figure to be written: beside which stem, with what title, and what a reader has to know before trusting it."""

    stem: Path
    title: str
    watermarks: list[str]

    def write(self, figure: Figure, numbers: pd.DataFrame) -> None:
        """Write ``.svg``, ``.png`` and, with the numbers drawn, ``.csv``; the figure is closed."""
        if self.watermarks:
            figure.text(0.5, 0.5, "\n".join(self.watermarks), ha="center", color=WATERMARK, alpha=0.6, wrap=True)
        write_text(self.stem.with_suffix(".csv"), csv_of(numbers))
        for ending, metadata in (("svg", {"Date": None, "Title": self.title}), ("png", {"Title": self.title})):
            write_atomically(
                self.stem.with_suffix(f".{ending}"),
                lambda path, e=ending, m=metadata: figure.savefig(path, format=e, metadata=m),  # type: ignore[misc]
            )
        plt.close(figure)


@dataclass(frozen=True)
class NumbersOnly(Sheet):
    """A figure that is drawn for its numbers alone: nothing is written, ``numbers`` holds what would stand beside
    it.
    """

    numbers: list[str] = field(default_factory=list)

    def write(self, figure: Figure, numbers: pd.DataFrame) -> None:
        """Keep the numbers; the figure is closed."""
        self.numbers.append(csv_of(numbers))
        plt.close(figure)
