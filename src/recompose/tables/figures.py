"""Figures that all tracks share: sweeps, and forest plots."""

from collections.abc import Mapping
from functools import partial
from math import nan

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from recompose.claims.differences import number_text
from recompose.claims.verdicts import (
    NEGLIGIBLE,
    REVERSED,
    SUPPORTED,
    UNDECIDED,
    ClaimComparison,
    ClaimTests,
    TestedComparison,
    comparisons_of,
)
from recompose.palette import VERDICTS
from recompose.papers.declaration import Artifact, Claim, Paper
from recompose.parts.results import Results, described_metrics, rows_of
from recompose.parts.style import Drawing, panels

MAGNITUDES = 50  # ratio of the largest to the smallest number above which the axis is logarithmic
LINE, AROUND, WIDTH = 0.16, 0.75, 7.0  # inches: the height of a comparison, the margins of a panel, and the width
MARKERS = {SUPPORTED: "o", REVERSED: "s", NEGLIGIBLE: "^", UNDECIDED: "D"}  # verdicts differ in more than colour
NUMBERS = ("difference", "low", "high", "margin", "p", "adjusted p")
COLUMNS = ("dataset", "claims", "metric", "comparison", "unit", "verdict", "reason", *NUMBERS, "n")
Line = dict[str, str | float | None]  # of the file beside the figure


def draw_sweep(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw metrics over a setting, a column for each benchmark and a row for each metric.

    A metric that an evaluation does not have, since a profile may lack suites, has no point.
    """
    artifact, metrics = paper.artifacts[name], described_metrics(results, paper, name)
    rows = [
        {
            "dataset": series.benchmark,
            "x": float(series.row),
            "seed": evaluation.labels["seed"],
            **{
                column: description.factor * results.metrics(evaluation).get(metric, nan)
                for column, (metric, description) in metrics.items()
            },
        }
        for series in rows_of(results, paper, name)
        for evaluation in series.complete
    ]
    points = pd.DataFrame(rows, columns=["dataset", "x", "seed", *metrics])
    units = {column: description.unit for column, (_, description) in metrics.items()}
    return Drawing(points, partial(_sweep, points, units, artifact))


def _sweep(points: pd.DataFrame, units: dict[str, str], artifact: Artifact) -> Figure:
    benchmarks = list(points["dataset"].unique())
    figure, axes = panels(len(units), len(benchmarks))
    for line, (column, unit) in zip(axes, units.items(), strict=True):
        for axis, benchmark in zip(line, benchmarks, strict=False):
            _draw_sweep(axis, points[points["dataset"] == benchmark], benchmark, column, unit)
            axis.set_xlabel(artifact.x_label)
    return figure


def _draw_sweep(axis: plt.Axes, points: pd.DataFrame, benchmark: str, column: str, unit: str) -> None:
    """Draw the mean at each number, with the standard deviation over seeds if there are several."""
    by_x = points.groupby("x")[column]
    spread = by_x.std().fillna(0)
    axis.errorbar(by_x.mean().index, by_x.mean(), yerr=spread, marker="o", markersize=3.5, linewidth=1.2, capsize=2)
    axis.set_ylabel(f"{column} ({unit})" if unit else column)
    _set_ticks(axis, sorted(points["x"].unique()))
    axis.tick_params(axis="x", labelsize=7)
    counts = [str(count) for count in sorted(points.groupby("x")["seed"].nunique().unique())]
    axis.set_title(f"{benchmark}, n = {' or '.join(counts)}")
    sns.despine(ax=axis)


def _set_ticks(axis: plt.Axes, numbers: list[float]) -> None:
    """Set a tick at each number; numbers of several magnitudes have a logarithmic axis with room for zero."""
    positive = [number for number in numbers if number > 0]
    if positive and max(positive) > MAGNITUDES * min(positive):
        axis.set_xscale("symlog", linthresh=min(positive), linscale=0.5)
    axis.set_xticks(numbers, [f"{number:g}" for number in numbers])
    axis.tick_params(axis="x", which="minor", bottom=False)


def draw_forest(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw every comparison behind a paper's claims with its interval, a line each, coloured by verdict.

    There is a panel for each benchmark and unit.
    """
    by_place: dict[tuple[str, str], list[TestedComparison]] = {}
    lines: list[Line] = []
    for benchmark in paper.benchmarks_among(results.benchmarks(paper.track)):
        tests = ClaimTests.of(results, paper, benchmark)
        claims = _claims_by_comparison(tests.claims)
        for comparison, tested in tests.comparisons.items():
            by_place.setdefault((benchmark, tested.unit), []).append(tested)
            lines.append(_csv_line(benchmark, claims[comparison], tested))
    return Drawing(
        pd.DataFrame(lines, columns=list(COLUMNS)).astype(dict.fromkeys(NUMBERS, float)), partial(_forest, by_place)
    )


def _forest(panels: Mapping[tuple[str, str], list[TestedComparison]]) -> Figure:
    heights = [max(1, len(comparisons)) for comparisons in panels.values()] or [1]
    size = (WIDTH, LINE * sum(heights) + AROUND * len(heights))
    figure, axes = plt.subplots(len(heights), figsize=size, squeeze=False, height_ratios=heights, layout="constrained")
    for axis, ((benchmark, unit), comparisons) in zip(axes[:, 0], panels.items(), strict=False):
        _draw_panel(axis, benchmark, unit, comparisons)
    if panels:
        _add_legend(figure)
    else:
        axes[0, 0].set_axis_off()
    return figure


def _claims_by_comparison(claims: Mapping[str, Claim]) -> Mapping[ClaimComparison, list[str]]:
    """Return the claims that rest on each comparison."""
    rows: dict[ClaimComparison, list[str]] = {}
    for row, claim in claims.items():
        for comparison in comparisons_of(claim):
            rows.setdefault(comparison, []).append(row)
    return rows


def _csv_line(benchmark: str, claims: list[str], tested: TestedComparison) -> Line:
    """Return a line of the file beside the figure; unknown numbers are None."""
    result, comparison = tested.difference, tested.comparison
    test = result.test
    interval = test.interval() if test else (None, None)
    p = min(comparison.p_beyond(test), test.p_within(comparison.margin)) if test else None
    texts = (benchmark, " ".join(claims), tested.metrics_text, comparison.text, tested.unit)
    numbers = (result.value, *interval, comparison.margin, p, tested.adjusted)
    return dict(zip(COLUMNS, (*texts, tested.verdict, tested.reason, *numbers, tested.n_text), strict=True))


def _draw_panel(axis: plt.Axes, benchmark: str, unit: str, comparisons: list[TestedComparison]) -> None:
    """Draw estimates from the top down, with labels on the left and numbers on the right."""
    places = range(len(comparisons))
    for place, tested in zip(places, comparisons, strict=True):
        _draw_line(axis, place, tested)
    axis.axvline(0, color="black", linewidth=0.7)
    labels = [f"{tested.metrics_text}: {tested.comparison.text}" for tested in comparisons]
    axis.set_yticks(places, labels, fontsize=6)
    xlabel = f"difference{f' ({unit})' if unit else ''} with its 95 % interval"
    axis.set(ylim=(len(comparisons) - 0.5, -0.5), xlabel=xlabel)
    axis.set_title(benchmark, loc="left")
    numbers = axis.secondary_yaxis("right")
    numbers.set_yticks(places, [_numbers_text(tested) for tested in comparisons], fontsize=6)
    for label, tested in zip(numbers.get_yticklabels(), comparisons, strict=True):
        label.set_color(VERDICTS[tested.verdict])
    numbers.tick_params(length=0)
    sns.despine(ax=axis, left=True)
    numbers.spines["right"].set_visible(False)
    axis.tick_params(axis="y", length=0)


def _draw_line(axis: plt.Axes, place: int, tested: TestedComparison) -> None:
    """Draw a comparison: its estimate, filled if it is decided, its interval, and its margin."""
    result, colour = tested.difference, VERDICTS[tested.verdict]
    if result.value is None:
        return
    if result.test:
        axis.plot(result.test.interval(), [place, place], color=colour, linewidth=1.2)
    marker, face = MARKERS[tested.verdict], _face_colour(tested.verdict)
    axis.plot(result.value, place, marker, color=colour, markerfacecolor=face, markersize=3.5, clip_on=False)
    margin = tested.comparison.margin
    axis.vlines([-margin, margin], place - 0.4, place + 0.4, color="black", linewidth=0.7, linestyle="dotted")


def _numbers_text(tested: TestedComparison) -> str:
    """Return the numbers of a line."""
    result = tested.difference
    if result.value is None or result.test is None:
        return result.obstacle
    return f"{number_text(result.value, tested.digits, '+')} ({tested.interval_text})"


def _add_legend(figure: Figure) -> None:
    """Explain colours and markers above the panels."""
    handles = [
        Line2D([], [], label=verdict, color=colour, marker=MARKERS[verdict], markersize=3.5, mfc=_face_colour(verdict))
        for verdict, colour in VERDICTS.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), fontsize=6)


def _face_colour(verdict: str) -> str:
    """Return the colour inside a marker: filled if the comparison is decided."""
    return "white" if verdict == UNDECIDED else VERDICTS[verdict]
