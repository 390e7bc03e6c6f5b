"""A comparison: a user's own table of methods or variants against one or several others, ``comparisons/<name>.yaml``.

It is a paper without authors and printed values: what makes, checks, prices and shows the artifacts and claims of
papers does so here. It has a table, its verdicts, and a figure of them; the page lists the settings that differ.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BeforeValidator, Field

from recompose.errors import PlanError
from recompose.papers.checks import RESERVED
from recompose.papers.declaration import (
    AGAINST,
    CLAIMS,
    FOREST,
    PAPERS,
    Artifact,
    Claim,
    Margin,
    Paper,
    Variant,
    View,
)
from recompose.params.mistakes import check_name, read_form
from recompose.params.schema import Params
from recompose.params.sections import Distinct, Name, Positive, Section
from recompose.params.track import TrackChoice, TrackSection

if TYPE_CHECKING:
    from recompose.tracks.track import Track

TABLE = "table"  # the name of the artifact that its claims are about
FOLDER = "comparisons"  # below the root of a project
NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
# of a comparison that declares none: no difference is called negligible
NO_MARGIN = Margin.model_construct(source="no margin is declared")
Unique = Annotated[list[str], Distinct]
Baselines = Annotated[
    Unique, Field(min_length=1), BeforeValidator(lambda named: [named] if isinstance(named, str) else named)
]


class ComparedVariant(Variant):
    """A variant of a comparison, or a method that a profile lacks: it runs with all seeds of the profile's methods."""

    datasets: Unique = Field(default=[])  # by default those of the comparison


class ComparisonFile(Section):
    """The content of a comparison's file."""

    track: str
    title: str = ""  # by default the name of the file
    baseline: Baselines  # a method or a variant, or several
    methods: Annotated[Unique, Field(min_length=1)]  # and variants, of the track, of its papers or of this file
    variants: dict[Name, ComparedVariant] = Field(default={})
    datasets: Unique = Field(default=[])  # by default those of the profile
    suites: Unique = Field(default=[])  # each is the metric test/<suite>
    metrics: Unique | dict[str, str] = Field(default=[])  # names, or label -> name; by default the track's first one
    margin: Positive | dict[str, Positive] | None = None  # the smallest difference of interest, or one for each label

    def labels(self, track: "Track") -> dict[str, str]:
        """Return the compared metrics: label -> metric."""
        known = {metric: label for label, metric in track.compared.items()}
        named = self.metrics if isinstance(self.metrics, Mapping) else {known.get(m, m): m for m in self.metrics}
        labels = {**named, **{suite: f"test/{suite}" for suite in self.suites}}
        return labels or {known.get(track.headline, track.headline): track.headline}


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
    def is_shipped(self) -> bool:
        return False

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


def read_comparisons(root: Path, params: Params, tracks: Mapping[str, "Track"]) -> list[Comparison]:
    """Return the comparisons of a project that have data sets in the chosen profile, in the order of their names.

    Raises:
        PlanError: a file is wrong; the message has a line for each mistake.
    """
    comparisons = [_read(path, params, tracks) for path in sorted((root / FOLDER).glob("*.y*ml"))]
    choices = {name: choice for name, choice in params.chosen.tracks.items() if isinstance(choice, TrackChoice)}
    return [
        comparison
        for comparison in comparisons
        if comparison.track in choices and comparison.benchmarks_among(choices[comparison.track].datasets)
    ]


def compared_variants(track: "Track", params: Params, comparisons: Iterable[Comparison]) -> dict[str, ComparedVariant]:
    """Return the variants of a track's comparisons, and the methods in them that the profile lacks, by name.

    A variant that several comparisons declare runs on the data sets of all of them.
    """
    choice, variants = params.chosen.tracks[track.name], dict[str, ComparedVariant]()
    run = {*choice.methods} if isinstance(choice, TrackChoice) else set()
    for comparison in comparisons:
        if comparison.track == track.name:
            lacking = [row for row in sorted(comparison.rows) if row in track.methods and row not in run]
            plain = {row: ComparedVariant(method=row, datasets=list(comparison.datasets)) for row in lacking}
            for name, variant in {**plain, **comparison.variants}.items():
                before = variants[name].datasets if name in variants else []
                datasets = list(dict.fromkeys([*before, *variant.datasets]))
                variants[name] = ComparedVariant(**variant.model_dump() | {"datasets": datasets})
    return variants


def _read(path: Path, params: Params, tracks: Mapping[str, "Track"]) -> Comparison:
    """Return the comparison of a file.

    Raises:
        PlanError: the file is wrong.
    """
    source, name = f"{FOLDER}/{path.name}", path.stem

    def error(place: str, fault: str, code: str) -> PlanError:
        return PlanError(f"{source}: {place}: {fault}", code=code, place=f"{source}: {place}")

    if path.suffix != ".yaml" or not NAME.fullmatch(name) or name in RESERVED or name in PAPERS:
        fault = "rename the file: to small letters, digits, - and _, then .yaml; no paper or rule has the name"
        raise PlanError(f"{source}: {fault}", code="wrong-name", place=source)
    file = read_form(ComparisonFile, path, source, PlanError)
    check_name(source, "track", file.track, "track", tracks)
    rows = [row for row in file.methods if row not in file.baseline]
    if not rows:
        raise error("methods", "nothing is compared with the baseline; add a method or a variant", "no-rows")
    reused = {variant.reuse_runs_of for variant in file.variants.values()}
    for variant in file.variants.keys() - {*file.baseline, *rows, *reused}:
        raise error(f"variants.{variant}", "it is in no row; add it to methods, or remove it", "unused-variant")
    labels = file.labels(tracks[file.track])
    for label in file.margin if isinstance(file.margin, Mapping) else ():
        check_name(source, f"margin.{label}", label, "metric", labels)
    choice, section = params.chosen.tracks.get(file.track), params.tracks[file.track]
    known = section.datasets if isinstance(section, TrackSection) else file.datasets
    for dataset in file.datasets:
        check_name(source, "datasets", dataset, "data set", known)
    datasets = file.datasets or (list(choice.datasets) if isinstance(choice, TrackChoice) else [])
    claims = _claims(file, rows, labels)
    if len(claims) < len(rows) * len(file.baseline) * len(labels):
        raise error("metrics", "two labels differ in signs or capitals only; choose others", "repeated-label")
    return Comparison(
        name=name,
        title=file.title or name,
        track=file.track,
        datasets={dataset: dataset for dataset in datasets},
        baselines=file.baseline,
        variants={
            variant: section.model_copy(update={"datasets": section.datasets or datasets})
            for variant, section in file.variants.items()
        },
        claims=claims,
        artifacts=_artifacts(file.baseline, rows, labels),
    )


def _claims(file: ComparisonFile, rows: list[str], labels: Mapping[str, str]) -> dict[str, Claim]:
    """Return a claim for each row, baseline and metric."""
    margins = file.margin if isinstance(file.margin, Mapping) else dict.fromkeys(labels, file.margin)
    return {
        claim_name(row, baseline if len(file.baseline) > 1 else "", label): Claim(
            sentence=f"{row} is above {baseline} in {label}.",
            artifact=TABLE,
            metric=metric,
            higher=row,
            lower=[baseline],
            margin=Margin(value=margin, source="the comparison's file")
            if (margin := margins.get(label))
            else NO_MARGIN,
        )
        for row in rows
        for baseline in file.baseline
        for label, metric in labels.items()
    }


def _artifacts(baselines: list[str], rows: list[str], labels: dict[str, str]) -> dict[str, Artifact]:
    """Return the table of a comparison, its verdicts, and their figure."""
    others = " and ".join(baselines)
    views = {"measured": View(heading="Measured here", columns=labels)}
    for baseline in baselines:
        name = "difference" if len(baselines) == 1 else f"difference-{baseline}"
        views[name] = View(heading=f"Difference from {baseline}", columns=labels, baseline=baseline)
    return {
        TABLE: Artifact(
            kind=AGAINST,
            caption=f"Each row against {others}, with 95 % intervals of the paired differences.",
            note="p is that of a difference or, where a margin is declared and it is smaller, that of a difference "
            f"within the margin; corrected, by Holm, for {Comparison.family}.",
            rows={row: row for row in (*baselines, *rows)},
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
