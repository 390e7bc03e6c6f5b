"""The style of all figures, and their files: a vector drawing, a bitmap, and the plotted numbers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from recompose.files import write_atomically, write_text

mpl.use("Agg")
COLUMN_WIDTH = 3.4  # inches: one column of a paper
PANEL_HEIGHT = 2.7
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "recompose",  # equal drawings have equal bytes
    "svg.fonttype": "none",
    "figure.dpi": 220,
    "font.size": 8,
    "axes.titlesize": 8,
    "legend.frameon": False,
    "text.parse_math": False,  # names of data sets are text, even with dollar signs
}


@contextmanager
def styled() -> Iterator[None]:
    """Apply the style to all figures drawn in this context."""
    with mpl.rc_context(STYLE), sns.axes_style("ticks"):
        yield


def panels(rows: int, columns: int, width: float | None = None, height: float | None = None, **shared: Any) -> Any:
    """Return a figure with panels, and its axes [rows, columns], at least one.

    Args:
        rows, columns: the numbers of panels.
        width: of the figure, in inches; None: a column of a paper for each panel.
        height: of a row.
        shared: scales that panels share, as of ``subplots``.
    """
    rows, columns = max(1, rows), max(1, columns)
    height = height or (PANEL_HEIGHT if rows == 1 else 2)
    size = (width or COLUMN_WIDTH * columns, height * rows)
    return plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained", **shared)


@dataclass(frozen=True)
class Drawing:
    """A figure: the plotted numbers, and what draws them."""

    numbers: pd.DataFrame
    draw: Callable[[], Figure]

    @property
    def csv(self) -> str:
        """The plotted numbers as CSV."""
        text: str = self.numbers.to_csv(index=False, float_format="%.4f", lineterminator="\n")
        return text

    def write(self, stem: Path, title: str) -> None:
        """Write the plotted numbers as ``.csv`` and what is drawn of them as ``.svg`` and ``.png``.

        Args:
            stem: the path of these files without a suffix.
            title: of the figure, for programs that show files.
        """
        with styled():
            figure = self.draw()
            write_text(stem.with_suffix(".csv"), self.csv)
            for ending, metadata in (("svg", {"Date": None, "Title": title}), ("png", {"Title": title})):
                save = partial(figure.savefig, format=ending, metadata=metadata)
                write_atomically(stem.with_suffix(f".{ending}"), save)
                figure.set_layout_engine("none")  # the bitmap has the layout of the first, in a third of the time
            plt.close(figure)
