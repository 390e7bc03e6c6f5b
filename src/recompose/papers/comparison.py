"""A comparison: a user's own table of methods or variants against one or several others, declared without a paper.

It is a paper without authors: what makes, checks, prices and shows the artifacts and claims of papers does so here. It
has a table, its verdicts, a figure of them, and the settings in which its rows differ.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from recompose.papers.declaration import (
    AGAINST,
    CLAIMS,
    DIFFERING,
    FOREST,
    Artifact,
    Claim,
    Margin,
    Paper,
    Variant,
    View,
)

TABLE = "table"  # the name of the artifact that its claims are about
FOLDER = "comparisons"  # below the root of a project


# of a comparison that declares none: no difference is called negligible
NO_MARGIN = Margin.model_construct(source="no margin is declared")


class ComparedVariant(Variant):
    """A variant of a comparison, or a method that a profile lacks: it runs with all seeds of the profile's methods."""


class Comparison(Paper):
    """The declaration of a comparison; its data sets are the only ones that it shows."""

    is_comparison: ClassVar[bool] = True
    reported_heading: ClassVar[str] = "Declared in the file"
    family: ClassVar[str] = "the distinct comparisons of the file on all of its data sets"

    baselines: list[str]  # methods or variants, which the other rows are compared with

    @property
    def target(self) -> str:
        return f"{FOLDER}/{self.name}"

    @property
    def file(self) -> str:
        return f"{FOLDER}/{self.name}.yaml"

    @property
    def byline(self) -> str:
        return f"a comparison with {' and '.join(self.baselines)}, {self.file}"

    @property
    def rows(self) -> list[str]:
        """The compared methods and variants, the baselines first."""
        return list(self.artifacts[TABLE].rows)

    def benchmarks_among(self, benchmarks: Iterable[str]) -> list[str]:
        return [benchmark for benchmark in benchmarks if benchmark in self.datasets]

    def corrected_with(self, benchmark: str, benchmarks: Iterable[str]) -> list[str]:
        return self.benchmarks_among(benchmarks)


def compare(
    name: str,
    title: str,
    track: str,
    baselines: Sequence[str],
    rows: Sequence[str],
    variants: Mapping[str, ComparedVariant],
    datasets: Iterable[str],
    metrics: Mapping[str, str],
    margins: Mapping[str, float],
) -> Comparison:
    """Return the declaration of a comparison.

    Args:
        name: of its file.
        title: of its part of the page.
        track: of its methods.
        baselines: methods and variants that each row is compared with.
        rows: methods and variants.
        variants: those that the comparison declares.
        datasets: those that it shows.
        metrics: label -> metric.
        margins: label -> the smallest difference of interest, in the metric's unit; none for labels without one.
    """
    columns = dict(metrics)
    claims = {
        claim_name(row, baseline if len(baselines) > 1 else "", label): Claim(
            sentence=f"{row} is above {baseline} in {label}.",
            artifact=TABLE,
            metric=metric,
            higher=row,
            lower=[baseline],
            margin=Margin(value=margins[label], source="the comparison's file") if label in margins else NO_MARGIN,
        )
        for row in rows
        for baseline in baselines
        for label, metric in columns.items()
    }
    named = {row: row for row in (*baselines, *rows)}
    differences = {
        "difference" if len(baselines) == 1 else f"difference-{baseline}": View(
            heading=f"Difference from {baseline}", columns=columns, baseline=baseline
        )
        for baseline in baselines
    }
    views = {"measured": View(heading="Measured here", columns=columns), **differences}
    others = " and ".join(baselines)
    return Comparison(
        name=name,
        title=title,
        track=track,
        datasets={dataset: dataset for dataset in datasets},
        baselines=list(baselines),
        variants=dict(variants),
        claims=claims,
        artifacts={
            TABLE: Artifact(
                kind=AGAINST,
                caption=f"Each row against {others}, with 95 % intervals of the paired differences.",
                note="p is that of a difference or, where a margin is declared and it is smaller, that of a difference "
                f"within the margin; corrected, by Holm, for {Comparison.family}.",
                rows=named,
                views=views,
            ),
            "claims": Artifact(kind=CLAIMS, caption=f"The verdict on each row against {others}, and its price."),
            "differences": Artifact(kind=FOREST, caption=f"The differences from {others}, with 95 % intervals."),
            "settings": Artifact(kind=DIFFERING, caption="The settings in which the rows differ.", rows=named),
        },
    )


def claim_name(row: str, baseline: str, label: str) -> str:
    """Return the name of the claim on a row in a metric, as on a command line; with the baseline, if there are several.

    >>> claim_name("csp-wide", "", "I2T Ret"), claim_name("mine", "csp", "AUC")
    ('csp-wide-i2t-ret', 'mine-against-csp-auc')
    """
    name = f"{row}-against-{baseline}-{label}" if baseline else f"{row}-{label}"
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-")
