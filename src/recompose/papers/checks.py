"""Checks of papers and comparisons against tracks and parameters, before any work: every name in them exists."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from recompose.errors import PlanError
from recompose.papers.declaration import Paper, Variant
from recompose.params.documents import Place
from recompose.params.mistakes import Problem, unknown_name
from recompose.params.schema import Params
from recompose.params.track import TrackSection

if TYPE_CHECKING:
    from recompose.tracks.track import Catalogue, Track

# rules, and files of reports, have these names
RESERVED = ("all", "artifacts", "data", "features", "figure", "index", "metrics", "page", "readme", "runs", "table")


def check_paper(paper: Paper, params: Params, catalogue: "Catalogue") -> None:
    """Check that a paper or a comparison, as it is declared, names what exists, that its settings fit, and that a
    user's own has tables of printed values.

    Raises:
        PlanError: a track, method, variant, data set, artifact, kind, output or metric does not exist; the message
            names the nearest one, and has a line for each mistake. Or a printed table or a setting is wrong.
    """
    problems = unknown_name(("track",), paper.track, catalogue) or [*_problems(paper, params, catalogue[paper.track])]
    if problems:
        raise paper.error(problems)
    if not paper.is_shipped:
        for name in paper.artifacts:
            paper.reported(name)


def check_variants(catalogue: "Catalogue", comparisons: Iterable[Paper]) -> None:
    """Check that no two papers of a track declare a variant of the same name, and that none has the name of a method.
    Comparisons may share a variant.

    Raises:
        PlanError: a name is taken.
    """
    # track and name -> who has the name, and what comparisons may share
    owners: dict[tuple[str, str], tuple[str, Variant | None]] = {
        (name, method): (f"the track {name}", None) for name, track in catalogue.items() for method in track.methods
    }
    for paper in [*catalogue.papers, *comparisons]:
        for name, variant in paper.variants.items():
            own = variant.model_copy(update={"datasets": []}) if paper.is_comparison else None
            owner, shared = owners.setdefault((paper.track, name), (paper.file, own))
            if owner != paper.file and (own is None or own != shared):
                message = f"{owner} has this name, too; rename one"
                raise paper.error([Problem(("variants", name), message, "name-taken")])


def labels_of(comparison: Paper, track: "Track") -> dict[str, str]:
    """Return the metrics of a comparison: label -> metric."""
    known = {metric: label for label, metric in track.compared.items()}
    named = comparison.metrics
    labels = dict(named) if isinstance(named, Mapping) else {known.get(metric, metric): metric for metric in named}
    labels |= {suite: f"test/{suite}" for suite in comparison.suites}
    return labels or {known.get(track.headline, track.headline): track.headline}


def _problems(paper: Paper, params: Params, track: "Track") -> Iterator[Problem]:
    """Yield the problems of a declaration: names that do not exist, and settings that do not fit."""
    section = params.tracks[track.name]
    if isinstance(section, TrackSection):  # the plan of a track with another schema finds wrong names
        for place, name, allowed in _names(paper, track, section):
            yield from unknown_name(place, name, allowed)
        for name, variant in paper.variants.items():
            known = [dataset for dataset in variant.datasets or section.datasets if dataset in section.datasets]
            for dataset in known if variant.method in track.methods else ():
                place = ("variants", name, "settings")
                yield from section.settings_problems(place, variant.method, dataset, variant.settings)
    for place, metric in _metrics_of(paper, track):
        try:
            track.check_metric(metric, params)
        except PlanError as error:
            yield Problem(place, str(error), error.code)
    if paper.is_comparison:
        yield from _problems_of_comparison(paper)


def _names(paper: Paper, track: "Track", section: TrackSection) -> Iterator[tuple[Place, str, Collection[str]]]:
    """Yield the names of methods, variants, data sets, artifacts and outputs in a declaration: each with its place and
    those that exist.
    """
    measured = {*track.methods, *track.variants, *paper.variants}
    for dataset in paper.datasets:
        yield ("datasets", dataset), dataset, section.datasets
    for name, variant in paper.variants.items():
        yield ("variants", name, "method"), variant.method, track.methods
        yield from ((("variants", name, "datasets"), dataset, section.datasets) for dataset in variant.datasets)
        yield from ((("variants", name, "save"), output, track.savable) for output in variant.save)
        if variant.reuse_runs_of:
            yield ("variants", name, "reuse_runs_of"), variant.reuse_runs_of, measured
    for name, artifact in paper.artifacts.items():
        for row, method in artifact.rows.items():
            method = artifact.setting_of(row)[0] if artifact.kind == "settings" else method
            yield ("artifacts", name, "rows", row), method, measured
    for name, claim in paper.claims.items():
        yield ("claims", name, "artifact"), claim.artifact, paper.artifacts
        yield from ((("claims", name), method, measured) for method in claim.methods)
    if paper.headline:
        yield ("headline", "artifact"), paper.headline.artifact, paper.artifacts
        yield ("headline", "method"), paper.headline.method, measured
    for key in ("baseline", "methods"):
        yield from (((key, number), name, measured) for number, name in enumerate(getattr(paper, key)))
    if isinstance(paper.margin, Mapping):
        yield from ((("margin", label), label, labels_of(paper, track)) for label in paper.margin)


def _metrics_of(paper: Paper, track: "Track") -> Iterator[tuple[Place, str]]:
    """Yield the metrics that a paper's artifacts and claims name, each after its place."""
    for name, artifact in paper.artifacts.items():
        if artifact.kind != "statistics":  # whose columns are counts
            for key, view in artifact.all_views.items():
                of_view = ("views", key) if key else ()
                yield from ((("artifacts", name, *of_view, "columns", c), metric) for c, metric in view.columns.items())
    for name, claim in paper.claims.items():
        yield from ((("claims", name, "metric"), metric) for metric in claim.metrics)
    if paper.is_comparison:
        labels = labels_of(paper, track)
        yield from ((("suites" if label in paper.suites else "metrics", label), labels[label]) for label in labels)


def _problems_of_comparison(paper: Paper) -> Iterator[Problem]:
    """Yield what a comparison declares in vain."""
    if not {*paper.methods} - {*paper.baseline}:
        message = "nothing is compared with the baseline; add a method or a variant"
        yield Problem(("methods",), message, "no-rows")
    reused = {variant.reuse_runs_of for variant in paper.variants.values()}
    for variant in paper.variants.keys() - {*paper.compared, *reused}:
        message = "it is in no row; add it to methods, or remove it"
        yield Problem(("variants", variant), message, "unused-variant")
