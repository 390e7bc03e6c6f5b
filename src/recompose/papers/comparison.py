"""Comparisons: users' own tables of methods or variants against one or several others, ``comparisons/<name>.yaml``.

What makes, checks, prices and shows the artifacts and claims of papers does so here. A comparison has a table, its
verdicts, and a figure of them; the page lists the settings that differ.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from recompose.errors import PlanError
from recompose.papers.checks import RESERVED, check_paper, labels_of
from recompose.papers.declaration import (
    AGAINST,
    CLAIMS,
    COMPARISONS,
    FOREST,
    Artifact,
    Claim,
    Margin,
    Paper,
    Variant,
    View,
)
from recompose.params.mistakes import Problem
from recompose.params.schema import Params
from recompose.params.track import TrackChoice

if TYPE_CHECKING:
    from recompose.tracks.track import Catalogue, Track

TABLE = "table"  # the name of the artifact that its claims are about
NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
# of a comparison that declares none: no difference is called negligible
NO_MARGIN = Margin.model_construct(source="no margin is declared")


def read_comparisons(root: Path, params: Params, catalogue: "Catalogue") -> list[Paper]:
    """Return the comparisons of a project that have data sets in the chosen profile, in the order of their names.

    Raises:
        PlanError: a file is wrong; the message has a line for each mistake.
    """
    comparisons, taken = [], {*RESERVED, *(paper.name for paper in catalogue.papers)}
    for path in sorted((root / COMPARISONS).glob("*.y*ml")):
        source, name = f"{COMPARISONS}/{path.name}", path.stem
        if path.suffix != ".yaml" or not NAME.fullmatch(name) or name in taken:
            fault = "rename the file: to small letters, digits, - and _, then .yaml; no paper or rule has the name"
            raise PlanError(f"{source}: {fault}", code="wrong-name", place=source)
        declared = Paper.read(path, source, name=name, source=None)
        if not declared.is_comparison:
            raise declared.error([Problem(("baseline",), "this key is missing", "missing-key")])
        check_paper(declared, params, catalogue)
        choice = params.chosen.tracks.get(declared.track)
        if isinstance(choice, TrackChoice):
            comparison = with_artifacts(declared, catalogue[declared.track], choice.datasets)
            if comparison.benchmarks_among(choice.datasets):
                comparisons.append(comparison)
    return comparisons


def with_artifacts(comparison: Paper, track: "Track", datasets: Iterable[str]) -> Paper:
    """Return a comparison with its artifacts and claims, by default on these data sets.

    Raises:
        PlanError: two labels of metrics give the same names.
    """
    shown = comparison.datasets or {dataset: dataset for dataset in datasets}
    labels = labels_of(comparison, track)
    variants = {
        name: variant.model_copy(update={"datasets": variant.datasets or list(shown), "compared": True})
        for name, variant in comparison.variants.items()
    }
    claims = _claims(comparison, labels)
    if len(claims) < len(comparison.compared[len(comparison.baseline) :]) * len(comparison.baseline) * len(labels):
        message = "two labels differ in signs or capitals only; choose others"
        raise comparison.error([Problem(("metrics",), message, "repeated-label")])
    return comparison.model_copy(
        update={
            "title": comparison.title or comparison.name,
            "datasets": shown,
            "variants": variants,
            "claims": claims,
            "artifacts": _artifacts(comparison, labels),
        }
    )


def compared_variants(track: "Track", params: Params, comparisons: Iterable[Paper]) -> dict[str, Variant]:
    """Return the variants of a track's comparisons, and the methods in them that the profile lacks, by name.

    A variant that several comparisons declare runs on the data sets of all of them.
    """
    choice, variants = params.chosen.tracks[track.name], dict[str, Variant]()
    run = {*choice.methods} if isinstance(choice, TrackChoice) else set()
    for comparison in comparisons:
        if comparison.track == track.name:
            lacking = sorted({*comparison.compared} & {*track.methods} - run)
            plain = {row: Variant(method=row, datasets=list(comparison.datasets), compared=True) for row in lacking}
            for name, variant in {**plain, **comparison.variants}.items():
                before = variants[name].datasets if name in variants else []
                datasets = list(dict.fromkeys([*before, *variant.datasets]))
                variants[name] = variant.model_copy(update={"datasets": datasets})
    return variants


def _claims(comparison: Paper, labels: Mapping[str, str]) -> dict[str, Claim]:
    """Return a claim for each row, baseline and metric."""
    several, margins = len(comparison.baseline) > 1, comparison.margin or {}
    if isinstance(margins, float):
        margins = dict.fromkeys(labels, margins)
    return {
        claim_name(row, baseline if several else "", label): Claim(
            sentence=f"{row} is above {baseline} in {label}.",
            artifact=TABLE,
            metric=metric,
            higher=row,
            lower=[baseline],
            margin=Margin(value=margins[label], source="the comparison's file") if label in margins else NO_MARGIN,
        )
        for row in comparison.compared
        if row not in comparison.baseline
        for baseline in comparison.baseline
        for label, metric in labels.items()
    }


def _artifacts(comparison: Paper, labels: dict[str, str]) -> dict[str, Artifact]:
    """Return the table of a comparison, its verdicts, and their figure."""
    others = " and ".join(comparison.baseline)
    views = {"measured": View(heading="Measured here", columns=labels)}
    for baseline in comparison.baseline:
        name = "difference" if len(comparison.baseline) == 1 else f"difference-{baseline}"
        views[name] = View(heading=f"Difference from {baseline}", columns=labels, baseline=baseline)
    return {
        TABLE: Artifact(
            kind=AGAINST,
            caption=f"Each row against {others}, with 95 % intervals of the paired differences.",
            note="p is that of a difference or, where a margin is declared and it is smaller, that of a difference "
            f"within the margin; corrected, by Holm, for {comparison.family}.",
            rows={row: row for row in comparison.compared},
            views=views,
        ),
        "claims": Artifact(kind=CLAIMS, caption=f"The verdict on each row against {others}, and its price."),
        "differences": Artifact(kind=FOREST, caption=f"The differences from {others}, with 95 % intervals."),
    }


def claim_name(row: str, baseline: str, label: str) -> str:
    """Return the name of the claim on a row in a metric, as on a command line; with the baseline, if there are several.

    >>> claim_name("csp-wide", "", "I2T Ret"), claim_name("mine", "csp", "AUC")
    ('csp-wide-i2t-ret', 'mine-against-csp-auc')
    """
    name = f"{row}-against-{baseline}-{label}" if baseline else f"{row}-{label}"
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-")
