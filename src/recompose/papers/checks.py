"""Checks of papers and comparisons against tracks and parameters, before any work: every name in them exists."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from recompose.errors import ParamsError, PlanError
from recompose.papers.declaration import Paper, Variant
from recompose.params.mistakes import check_name
from recompose.params.schema import Params
from recompose.params.track import TrackSection

if TYPE_CHECKING:
    from recompose.tracks.track import Catalogue, Track

MEASURED = "method or variant"
# rules, and files of reports, have these names
RESERVED = ("all", "artifacts", "data", "features", "figure", "index", "metrics", "page", "readme", "runs", "table")


def check_paper(paper: Paper, params: Params, catalogue: "Catalogue") -> None:
    """Check that a paper names what exists, and that a user's own has tables of printed values and settings that fit.

    Raises:
        PlanError: a track, method, variant, data set, artifact, kind, output or metric does not exist; the message
            names the nearest one. Or a printed table or a setting is wrong.
    """
    check_name(paper.file, "track", paper.track, "track", catalogue)
    track = catalogue[paper.track]
    section = params.tracks[track.name]
    if isinstance(section, TrackSection):  # the plan of a track with another schema finds wrong names
        _check_names(paper, track, section)
    for place, metric in _metrics_of(paper):
        try:
            track.check_metric(metric, params)
        except PlanError as error:
            raise PlanError(
                f"{paper.file}: {place}: {error}", code=error.code, place=f"{paper.file}: {place}"
            ) from None
    if paper.is_shipped or not isinstance(section, TrackSection):
        return
    for name in paper.artifacts:
        paper.reported(name)
    for name, variant in paper.variants.items():
        for dataset in variant.datasets:
            try:
                section.settings(variant.method, dataset, variant.settings)
            except ParamsError as error:
                place = f"{paper.file}: variants.{name}.settings"
                raise PlanError(f"{place}: {error}", code=error.code, place=f"{place}.{error.place}") from None


def check_papers(plugin_papers: Iterable[Paper], comparisons: Iterable[Paper]) -> None:
    """Check that the papers of plugins and the comparisons have names of their own: those of their reports and rules.

    Raises:
        PlanError: a name is taken.
    """
    owners = dict.fromkeys(RESERVED, "a rule or a file of the reports")
    for paper in [*plugin_papers, *comparisons]:
        if owner := owners.get(paper.name):
            message = f"{paper.file}: {owner} has the name {paper.name}, too; choose another"
            raise PlanError(message, code="name-taken", place=paper.file)
        owners[paper.name] = paper.file


def check_variants(catalogue: "Catalogue", comparisons: Iterable[Paper]) -> None:
    """Check that no two papers of a track declare a variant of the same name, and that none has the name of a method.
    Comparisons may share a variant.

    Raises:
        PlanError: a name is taken.
    """
    owners: dict[tuple[str, str], str] = {
        (name, method): f"the track {name}" for name, track in catalogue.items() for method in track.methods
    }
    shared: dict[tuple[str, str], Variant] = {}
    for paper in [*catalogue.papers, *comparisons]:
        for name, variant in paper.variants.items():
            place, own = f"{paper.file}: variants.{name}", variant.model_copy(update={"datasets": []})
            owner = owners.get((paper.track, name))
            if owner and not (paper.is_comparison and shared.get((paper.track, name)) == own):
                raise PlanError(f"{place}: {owner} has this name, too; rename one", code="name-taken", place=place)
            owners[paper.track, name] = paper.file
            if paper.is_comparison:
                shared[paper.track, name] = own


def _check_names(paper: Paper, track: "Track", section: TrackSection) -> None:
    """Check the names of methods, variants, data sets, artifacts and outputs in a declaration.

    Raises:
        PlanError: there is no such name.
    """
    check, measured = partial(check_name, paper.file), {*track.methods, *track.variants, *paper.variants}
    for dataset in paper.datasets:
        check(f"datasets.{dataset}", dataset, "data set", section.datasets)
    for name, variant in paper.variants.items():
        place = f"variants.{name}"
        check(f"{place}.method", variant.method, "method", track.methods)
        for dataset in variant.datasets:
            check(f"{place}.datasets", dataset, "data set", section.datasets)
        for output in variant.save:
            check(f"{place}.save", output, "output that can be saved,", track.savable)
        if variant.reuse_runs_of:
            check(f"{place}.reuse_runs_of", variant.reuse_runs_of, MEASURED, measured)
    for name, artifact in paper.artifacts.items():
        for row, method in artifact.rows.items():
            method = artifact.setting_of(row)[0] if artifact.kind == "settings" else method
            check(f"artifacts.{name}.rows.{row}", method, MEASURED, measured)
    for name, claim in paper.claims.items():
        check(f"claims.{name}.artifact", claim.artifact, "artifact", paper.artifacts)
        for method in claim.methods:
            check(f"claims.{name}", method, MEASURED, measured)
    if paper.headline:
        check("headline.artifact", paper.headline.artifact, "artifact", paper.artifacts)
        check("headline.method", paper.headline.method, MEASURED, measured)


def _metrics_of(paper: Paper) -> Iterator[tuple[str, str]]:
    """Yield the metrics that a paper's artifacts and claims name, each after its place."""
    for name, artifact in paper.artifacts.items():
        if artifact.kind != "statistics":  # whose columns are counts
            for view in artifact.all_views.values():
                yield from ((f"column {column} of {name}", metric) for column, metric in view.columns.items())
    for name, claim in paper.claims.items():
        yield from ((f"claim {name}", metric) for metric in claim.metrics)
