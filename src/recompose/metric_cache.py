"""Metrics: numbers that follow from scores by the code as it is, taken once and kept beside the store."""

from functools import cache
from pathlib import Path
from typing import Any

from recompose.digest import digest, short
from recompose.files import read_json, write_json
from recompose.fingerprint import fingerprint
from recompose.plan import Recipe
from recompose.store import COSTS, Store, content
from recompose.tracks import TRACKS

COST = "cost/"  # how the names of metrics begin that tell what things cost
FOLDER = "metrics"  # below results/: a file for each evaluation and version of the code of metrics


@cache
def code_of(track: str) -> str:
    """The digest of the code that decides what a track's metrics come to."""
    return short(digest(fingerprint(TRACKS[track].metric_code)))


class MetricCache:
    """The metrics of complete evaluations."""

    def __init__(self, store: Store, results: Path) -> None:
        self._store, self._folder = store, results / FOLDER

    def of(self, evaluation: Recipe) -> dict[str, float]:
        """All metrics of an evaluation, and what it and its run cost, by name.

        Raises:
            DamagedError: what they follow from is missing or was changed.
        """
        return self._kept(evaluation) | self.costs(evaluation)

    def _kept(self, evaluation: Recipe) -> dict[str, float]:
        record = self._store.verify(evaluation)
        path = self._folder / code_of(evaluation.track) / f"{evaluation.folder}.json"
        scores = content(record)
        try:
            kept: dict[str, Any] = read_json(path)
            if kept["scores"] == scores:
                return dict(kept["metrics"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        metrics = self.recompute(evaluation)
        write_json(path, {"scores": scores, "metrics": metrics})
        return metrics

    def recompute(self, evaluation: Recipe) -> dict[str, float]:
        """Its metrics, taken from its scores now."""
        needs = {role: self._store.folder(need) for role, need in evaluation.needs.items()}
        return TRACKS[evaluation.track].metrics(self._store.folder(evaluation), needs)

    def all_anew(self, evaluation: Recipe) -> dict[str, float]:
        """The same as ``of``, whatever was kept."""
        return self.recompute(evaluation) | self.costs(evaluation)

    def costs(self, evaluation: Recipe) -> dict[str, float]:
        """What an evaluation cost, and where it has one its run: of numbers that both have the run's counts."""
        run = evaluation.needs.get("run")
        costs: dict[str, float] = {}
        for recipe in (evaluation, *([run] if run else [])):
            if self._store.is_complete(recipe) and COSTS in self._store.record(recipe)["files"]:
                written = read_json(self._store.file(recipe, COSTS))
                costs |= {f"{COST}{name}": value for name, value in written.items() if value is not None}
        return costs
