"""Checks of papers and comparisons against tracks and parameters, before any work: every name in them exists."""

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from recompose.errors import ParamsError, PlanError
from recompose.papers.declaration import Artifact, Paper, Variant
from recompose.params import Params
from recompose.params.mistakes import nearest
from recompose.params.track import TrackSection

if TYPE_CHECKING:
    from recompose.tracks.plugins import Catalogue
    from recompose.tracks.track import Track


class Name(NamedTuple):
    """A name in a declaration, with its place, and the names that it may be."""

    place: str
    name: str
    what: str
    allowed: Collection[str]
    code: str


def check_paper(paper: Paper, params: Params, catalogue: "Catalogue") -> None:
    """Check that a paper names what exists, and that the settings of a user's own variants fit.

    Raises:
        PlanError: a track, method, variant, data set, artifact, kind, output or metric does not exist; the message
            names the nearest one. Or a setting is wrong.
    """
    tracks = catalogue.tracks
    if paper.track not in tracks:
        near = nearest(paper.track, tracks)
        message = f"{paper.file}: track: there is no track {paper.track!r}{near}; the tracks are: {', '.join(tracks)}"
        raise PlanError(message, code="unknown-track", place=paper.file)
    track = tracks[paper.track]
    for place, name, what, allowed, code in _names_in(paper, track, params):
        if name not in allowed:
            message = f"{paper.file}: {place}: there is no {what} {name!r}{nearest(name, allowed)}"
            raise PlanError(message, code=code, place=f"{paper.file}: {place}")
    for place, metric in _metrics_of(paper):
        try:
            track.check_metric(metric, params)
        except PlanError as error:
            raise PlanError(
                f"{paper.file}: {place}: {error}", code=error.code, place=f"{paper.file}: {place}"
            ) from None
    section = params.tracks[track.name]
    if paper.is_shipped or not isinstance(section, TrackSection):
        return
    for name, variant in paper.variants.items():
        for dataset in variant.datasets:
            try:
                section.settings(variant.method, dataset, variant.settings)
            except ParamsError as error:
                place = f"{paper.file}: variants.{name}.settings"
                raise PlanError(f"{place}: {error}", code=error.code, place=f"{place}.{error.place}") from None


def check_variants(catalogue: "Catalogue", comparisons: Iterable[Paper]) -> None:
    """Check that no two papers of a track declare a variant of the same name, and that none has the name of a method.
    Comparisons may share a variant.

    Raises:
        PlanError: a name is taken.
    """
    owners: dict[tuple[str, str], str] = {
        (name, method): f"the track {name}" for name, track in catalogue.tracks.items() for method in track.methods
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


def _names_in(paper: Paper, track: "Track", params: Params) -> Iterator[Name]:
    """Yield the names of methods, variants, data sets, artifacts and outputs in a declaration."""
    section = params.tracks[track.name]
    if not isinstance(section, TrackSection):
        return  # a track with another schema, whose plan finds wrong names
    datasets = section.datasets
    measured = {*track.methods, *track.variants, *paper.variants}
    for dataset in paper.datasets:
        yield Name(f"datasets.{dataset}", dataset, "data set", datasets, "unknown-dataset")
    for name, variant in paper.variants.items():
        place = f"variants.{name}"
        yield Name(f"{place}.method", variant.method, "method", track.methods, "unknown-method")
        for dataset in variant.datasets:
            yield Name(f"{place}.datasets", dataset, "data set", datasets, "unknown-dataset")
        for output in variant.save:
            yield Name(f"{place}.save", output, "output that can be saved,", track.savable, "unknown-output")
        if variant.reuse_runs_of:
            yield _measured(f"{place}.reuse_runs_of", variant.reuse_runs_of, measured)
    for name, artifact in paper.artifacts.items():
        yield from _names_in_artifact(f"artifacts.{name}", artifact, measured)
    for name, claim in paper.claims.items():
        yield Name(f"claims.{name}.artifact", claim.artifact, "artifact", paper.artifacts, "unknown-artifact")
        for method in claim.methods:
            yield _measured(f"claims.{name}", method, measured)
    if paper.headline:
        yield Name("headline.artifact", paper.headline.artifact, "artifact", paper.artifacts, "unknown-artifact")
        yield _measured("headline.method", paper.headline.method, measured)


def _names_in_artifact(place: str, artifact: Artifact, measured: Collection[str]) -> Iterator[Name]:
    if artifact.kind == "settings":
        yield from (_measured(f"{place}.rows", artifact.setting_of(row)[0], measured) for row in artifact.rows)
    else:
        yield from (_measured(f"{place}.rows.{row}", method, measured) for row, method in artifact.rows.items())


def _measured(place: str, name: str, measured: Collection[str]) -> Name:
    return Name(place, name, "method or variant", measured, "unknown-method")


def _metrics_of(paper: Paper) -> Iterator[tuple[str, str]]:
    """Yield the metrics that a paper's artifacts and claims name, each after its place."""
    for name, artifact in paper.artifacts.items():
        if artifact.kind != "statistics":  # whose columns are counts
            for view in artifact.all_views.values():
                yield from ((f"column {column} of {name}", metric) for column, metric in view.columns.items())
    for name, claim in paper.claims.items():
        yield from ((f"claim {name}", metric) for metric in claim.metrics)
