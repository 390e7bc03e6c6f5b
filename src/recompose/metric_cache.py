"""The metric cache: metrics are computed once from scores by the current code, and stored beside the store."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from math import isfinite

from recompose.digest import digest, short
from recompose.files import Document, read_json, write_json
from recompose.recipes.fingerprint import fingerprint
from recompose.recipes.plan import Recipe
from recompose.recipes.records import COSTS
from recompose.tracks.track import Track
from recompose.workspace import Workspace

COST = "cost/"  # the prefix of the names of metrics of cost
FOLDER = "metrics"  # below results/: a file for each evaluation and version of the metrics' code
LIBRARIES = ("numpy", "scipy")  # that metrics are computed with


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that metrics are computed with, as this process has them."""
    return {name: version(name) for name in LIBRARIES}


def metric_code(track: Track, names: Iterable[str] | None = None) -> dict[str, str]:
    """Return the digests of the modules that compute a track's metrics, and of the declarations of plugins' metrics of
    these names; None: of all.
    """
    named = {*(track.plugin_metrics if names is None else names)}
    own = {name: metric for name, metric in track.plugin_metrics.items() if name in named}
    declared = {name: digest([metric.path, asdict(metric.about)]) for name, metric in own.items()}
    return fingerprint(track.measured_by(named).values()) | declared


def metric_code_digest(track: Track) -> str:
    """Return the short digest of the code that computes a track's metrics."""
    return short(digest(metric_code(track)))


class MetricCache:
    """The metrics of complete evaluations.

    Args:
        work: the workspace.
        keeps: write metrics that were computed, as jobs of the workflow do; queries write nothing.
    """

    def __init__(self, work: Workspace, *, keeps: bool = False) -> None:
        self._keeps, self._store, self._folder, self._tracks = keeps, work.store, work.results / FOLDER, work.catalogue

    def of(self, evaluation: Recipe) -> dict[str, float]:
        """Return all metrics of an evaluation by name, with its costs and those of its run.

        Raises:
            DamagedError: the evaluation is missing, or it or the data that it needs was changed.
        """
        return self._cached(evaluation) | self.costs(evaluation)

    def _cached(self, evaluation: Recipe) -> dict[str, float]:
        made_from = self._made_from(evaluation)
        path = self._folder / metric_code_digest(self._tracks[evaluation.track]) / f"{evaluation.folder}.json"
        try:
            cached: Document = read_json(path)
            if cached["made_from"] == made_from:
                return dict(cached["metrics"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        metrics = self.recompute(evaluation)
        with suppress(OSError):  # where it cannot be written, metrics are computed again the next time
            if self._keeps:
                write_json(path, {"made_from": made_from, "metrics": metrics})
        return metrics

    def _made_from(self, evaluation: Recipe) -> Document:
        """Return what metrics follow from beside their code: scores, the needs that are here, and libraries."""
        needs = {role: need for role, need in evaluation.needs.items() if self._store.is_complete(need)}
        return {
            "scores": self._store.verify(evaluation, keeps=self._keeps).content,
            "needs": {role: self._content(need) for role, need in needs.items()},
            "libraries": library_versions(),
        }

    def _content(self, need: Recipe) -> str:
        """Return the digest of a need; the files of data, which metrics read, are verified."""
        is_read = need.kind == "data"
        return (self._store.verify(need, keeps=self._keeps) if is_read else self._store.record(need)).content

    def recompute(self, evaluation: Recipe) -> dict[str, float]:
        """Return the metrics of an evaluation, computed from its scores now, without costs; what is no number, as of no
        item, is not measured.
        """
        needs = {role: self._store.folder(need) for role, need in evaluation.needs.items()}
        metrics = self._tracks[evaluation.track].all_metrics(self._store.folder(evaluation), needs)
        return {name: value for name, value in metrics.items() if isfinite(value)}

    def recompute_all(self, evaluation: Recipe) -> dict[str, float]:
        """Return the same as ``of``, without the cache."""
        return self.recompute(evaluation) | self.costs(evaluation)

    def costs(self, evaluation: Recipe) -> dict[str, float]:
        """Return the costs of an evaluation and of its run; the run's value if both have one."""
        run = evaluation.needs.get("run")
        costs: dict[str, float] = {}
        for recipe in (evaluation, *([run] if run else [])):
            if self._store.is_complete(recipe) and COSTS in self._store.record(recipe).files:
                recorded = read_json(self._store.file(recipe, COSTS))
                costs |= {f"{COST}{name}": value for name, value in recorded.items() if value is not None}
        return costs
