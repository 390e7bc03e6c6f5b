"""How attributes are distributed, and which of them appear together."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt

from recompose.papers.declaration import Paper
from recompose.report.figures.style import COLUMN_WIDTH, Sheet
from recompose.report.results import Results
from recompose.tracks.gzsl.stored import read_classes

SHOWN = 40  # attributes, the strongest over all classes


def draw_co_occurrence(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Of each data set (a) how strongly classes have each attribute, the strongest first, and (b) the correlation over
    classes of any two attributes' strengths.
    """
    benchmarks = results.benchmarks(paper.track)
    frames = [_correlations(results, paper.track, benchmark) for benchmark in benchmarks]
    size = (2.2 * COLUMN_WIDTH, 3.2 * len(frames))
    figure, axes = plt.subplots(len(frames), 2, figsize=size, squeeze=False, layout="constrained")
    for (left, right), benchmark, frame in zip(axes, benchmarks, frames, strict=True):
        _draw(left, right, frame)
        left.set_title(f"{benchmark} (a) mean strength")
        right.set_title(f"{benchmark} (b) correlation over classes")
    sheet.write(figure, pd.concat(frames, ignore_index=True))


def _correlations(results: Results, track: str, benchmark: str) -> pd.DataFrame:
    """Return a line for any two attributes that are shown."""
    data = read_classes(results, results.data(track, benchmark))
    strengths = data.signatures.mean(axis=0)
    shown = np.argsort(-strengths, kind="stable")[:SHOWN]
    together = correlations(data.signatures[:, shown])
    names = [data.attributes[attribute] for attribute in shown]
    return pd.DataFrame(
        {
            "dataset": benchmark,
            "attribute": np.repeat(names, len(names)),
            "other": np.tile(names, len(names)),
            "strength": np.repeat(strengths[shown], len(names)),
            "correlation": together.ravel(),
        }
    )


def correlations(strengths: np.ndarray) -> np.ndarray:
    """Return the correlation [attributes, attributes] over classes of strengths [classes, attributes]; 0 where an
    attribute is as strong in every class.

    Example:
        >>> correlations(np.array([[1.0, 0.0, 5.0], [0.0, 1.0, 5.0]])).tolist()
        [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    centred = strengths - strengths.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    unit = np.divide(centred, norms, out=np.zeros_like(centred), where=norms > 0)
    product: np.ndarray = unit.T @ unit
    return product.round(12) + 0.0


def _draw(left: plt.Axes, right: plt.Axes, frame: pd.DataFrame) -> None:
    first = frame.drop_duplicates("attribute")
    left.barh(first["attribute"], first["strength"], height=0.7)
    left.invert_yaxis()
    left.tick_params(axis="y", labelsize=5)
    left.set_xlabel("mean strength in a class")
    order = list(first["attribute"])
    matrix = frame.pivot(index="attribute", columns="other", values="correlation").loc[order, order]
    sns.heatmap(matrix, ax=right, vmin=-1, vmax=1, cmap="vlag", square=True, cbar_kws={"shrink": 0.7})
    right.tick_params(labelsize=4)
    right.set(xlabel="", ylabel="")
    sns.despine(ax=left)
