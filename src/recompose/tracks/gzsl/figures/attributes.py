"""The distribution and co-occurrence of attributes."""

from functools import partial

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from recompose.papers.declaration import Paper
from recompose.tables.results import Results
from recompose.tables.style import COLUMN_WIDTH, Sheet
from recompose.tracks.gzsl.stored import read_classes

SHOWN = 40  # attributes, the strongest over all classes


def draw_co_occurrence(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw for each data set (a) the strength of each attribute in classes, the strongest first, and (b) the
    correlation over classes of any two attributes' strengths.
    """
    benchmarks = results.benchmarks(paper.track)
    frames = [_correlations(results, paper.track, benchmark) for benchmark in benchmarks]
    sheet.write(pd.concat(frames, ignore_index=True), partial(_figure, benchmarks, frames))


def _figure(benchmarks: list[str], frames: list[pd.DataFrame]) -> Figure:
    size = (2.2 * COLUMN_WIDTH, 3.2 * len(frames))
    figure, axes = plt.subplots(len(frames), 2, figsize=size, squeeze=False, layout="constrained")
    for (bar_axis, matrix_axis), benchmark, frame in zip(axes, benchmarks, frames, strict=True):
        _draw(bar_axis, matrix_axis, frame)
        bar_axis.set_title(f"{benchmark} (a) mean strength")
        matrix_axis.set_title(f"{benchmark} (b) correlation over classes")
    return figure


def _correlations(results: Results, track: str, benchmark: str) -> pd.DataFrame:
    """Return a row for any two of the strongest attributes."""
    data = read_classes(results, results.data(track, benchmark))
    strengths = data.signatures.mean(axis=0)
    strongest = np.argsort(-strengths, kind="stable")[:SHOWN]
    together = correlations(data.signatures[:, strongest])
    names = [data.attributes[attribute] for attribute in strongest]
    return pd.DataFrame(
        {
            "dataset": benchmark,
            "attribute": np.repeat(names, len(names)),
            "other": np.tile(names, len(names)),
            "strength": np.repeat(strengths[strongest], len(names)),
            "correlation": together.ravel(),
        }
    )


def correlations(strengths: np.ndarray) -> np.ndarray:
    """Return the correlation [attributes, attributes] over classes of strengths [classes, attributes]; 0 for an
    attribute that is equally strong in every class.

    Example:
        >>> correlations(np.array([[1.0, 0.0, 5.0], [0.0, 1.0, 5.0]])).tolist()
        [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    centred = strengths - strengths.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    unit = np.divide(centred, norms, out=np.zeros_like(centred), where=norms > 0)
    product: np.ndarray = unit.T @ unit
    return product.round(12) + 0.0


def _draw(bar_axis: plt.Axes, matrix_axis: plt.Axes, frame: pd.DataFrame) -> None:
    first = frame.drop_duplicates("attribute")
    bar_axis.barh(first["attribute"], first["strength"], height=0.7)
    bar_axis.invert_yaxis()
    bar_axis.tick_params(axis="y", labelsize=5)
    bar_axis.set_xlabel("mean strength in a class")
    order = list(first["attribute"])
    matrix = frame.pivot(index="attribute", columns="other", values="correlation").loc[order, order]
    sns.heatmap(matrix, ax=matrix_axis, vmin=-1, vmax=1, cmap="vlag", square=True, cbar_kws={"shrink": 0.7})
    matrix_axis.tick_params(labelsize=4)
    matrix_axis.set(xlabel="", ylabel="")
    sns.despine(ax=bar_axis)
