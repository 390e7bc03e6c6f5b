"""Forest plots: every comparison behind a paper's claims with its interval, a line each, coloured by verdict."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from recompose.palette import VERDICTS
from recompose.papers.declaration import Paper
from recompose.report.claims import (
    REVERSED,
    SUPPORTED,
    UNDECIDED,
    Comparison,
    Tested,
    asked_claims,
    compare_all,
    comparisons_of,
)
from recompose.report.figures.style import Sheet
from recompose.report.results import Results

LINE, AROUND, WIDTH = 0.16, 0.75, 7.0  # inches: the height of a comparison, what a panel needs besides, and the width
MARKERS = {SUPPORTED: "o", REVERSED: "s", UNDECIDED: "D"}  # told apart without colours, too
COLUMNS = {
    "dataset": str,
    "claims": str,
    "metric": str,
    "comparison": str,
    "unit": str,
    "verdict": str,
    "reason": str,
    "difference": float,
    "low": float,
    "high": float,
    "p": float,
    "adjusted p": float,
    "n": str,
}


def draw_forest(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """A panel for each benchmark and unit, a line for each comparison."""
    by_panel: dict[tuple[str, str], list[Tested]] = {}
    rows: list[dict[str, Any]] = []
    for benchmark in results.benchmarks(paper.track):
        claims = _claims_of(results, paper, benchmark)
        for comparison, tested in compare_all(results, paper, benchmark).items():
            by_panel.setdefault((benchmark, tested.unit), []).append(tested)
            rows.append(_numbers(benchmark, claims[comparison], tested))
    heights = [max(1, len(tested)) for tested in by_panel.values()] or [1]
    size = (WIDTH, LINE * sum(heights) + AROUND * len(heights))
    figure, axes = plt.subplots(len(heights), figsize=size, squeeze=False, height_ratios=heights, layout="constrained")
    for axis, ((benchmark, unit), lines) in zip(axes[:, 0], by_panel.items(), strict=False):
        _draw_panel(axis, benchmark, unit, lines)
    if by_panel:
        _explain(figure)
    else:
        axes[0, 0].set_axis_off()
    sheet.write(figure, pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS))


def _claims_of(results: Results, paper: Paper, benchmark: str) -> Mapping[Comparison, list[str]]:
    """The claims that rest on each comparison."""
    claims: dict[Comparison, list[str]] = {}
    for row, claim in asked_claims(results, paper, benchmark).items():
        for comparison in comparisons_of(claim):
            claims.setdefault(comparison, []).append(row)
    return claims


def compared(comparison: Comparison) -> str:
    """What is compared, in short."""
    plain = comparison.higher if comparison.lower_metric else f"{comparison.higher} - {comparison.lower}"
    if comparison.gain:
        return f"({plain}) - ({comparison.gain.higher} - {comparison.gain.lower})"
    return plain if comparison.within is None else f"{plain}, within ±{comparison.within:g}"


def _numbers(benchmark: str, claims: list[str], tested: Tested) -> dict[str, Any]:
    """A line of the file beside the figure; what is not known is left empty."""
    estimate = tested.difference.estimate
    numbers = (estimate.value, estimate.low, estimate.high, estimate.p) if estimate else (None,) * 4
    known = [each if each is not None and isfinite(each) else None for each in numbers]
    texts = (benchmark, " ".join(claims), tested.metrics_text, compared(tested.comparison), tested.unit)
    values = (*texts, tested.verdict, tested.reason, *known, tested.adjusted, tested.n_text)
    return dict(zip(COLUMNS, values, strict=True))


def _draw_panel(axis: plt.Axes, benchmark: str, unit: str, tested: list[Tested]) -> None:
    """Estimates from the top down, in words on the left, in numbers on the right."""
    places = range(len(tested))
    for place, each in zip(places, tested, strict=True):
        _draw_line(axis, place, each)
    axis.axvline(0, color="black", linewidth=0.7)
    labels = [f"{each.metrics_text}: {compared(each.comparison)}" for each in tested]
    axis.set_yticks(places, labels, fontsize=6)
    axis.set(ylim=(len(tested) - 0.5, -0.5), xlabel=f"difference{f' ({unit})' if unit else ''} with its 95 % interval")
    axis.set_title(benchmark, loc="left")
    numbers = axis.secondary_yaxis("right")
    numbers.set_yticks(places, [_said(each) for each in tested], fontsize=6)
    for label, each in zip(numbers.get_yticklabels(), tested, strict=True):
        label.set_color(VERDICTS[each.verdict])
    numbers.tick_params(length=0)
    sns.despine(ax=axis, left=True)
    numbers.spines["right"].set_visible(False)
    axis.tick_params(axis="y", length=0)


def _draw_line(axis: plt.Axes, place: int, tested: Tested) -> None:
    """A comparison: its estimate, filled where it is decided, its interval, and the margin that it has to keep."""
    estimate, colour = tested.difference.estimate, VERDICTS[tested.verdict]
    if estimate is None:
        return
    if isfinite(estimate.low):
        axis.plot([estimate.low, estimate.high], [place, place], color=colour, linewidth=1.2)
    marker, face = MARKERS[tested.verdict], _face(tested.verdict)
    axis.plot(estimate.value, place, marker, color=colour, markerfacecolor=face, markersize=3.5, clip_on=False)
    if margin := tested.comparison.within:
        axis.vlines([-margin, margin], place - 0.4, place + 0.4, color="black", linewidth=0.7, linestyle="dotted")


def _said(tested: Tested) -> str:
    """The numbers of a line."""
    estimate = tested.difference.estimate
    if estimate is None or not isfinite(estimate.low):
        return tested.difference.lacking
    return f"{estimate.value:+.{tested.digits}f} ({tested.interval_text})"


def _explain(figure: Figure) -> None:
    """What colours and markers mean."""
    handles = [
        Line2D(
            [], [], color=colour, marker=MARKERS[verdict], markerfacecolor=_face(verdict), markersize=3.5, label=verdict
        )
        for verdict, colour in VERDICTS.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), fontsize=6)


def _face(verdict: str) -> str:
    """The inside of a marker: filled where something is decided."""
    return "white" if verdict == UNDECIDED else VERDICTS[verdict]
