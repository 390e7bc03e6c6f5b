"""A check of everything that the reports were made from, against its records: raw data, backbones, features, runs,
evaluations.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from recompose.audit.findings import AuditReport, Finding
from recompose.audit.trust import TrustEvaluator
from recompose.data.content import CONTENT, changed_files, raw_files
from recompose.metric_cache import MetricCache
from recompose.plan import Recipe, recipe_of
from recompose.records import remedy as store_remedy
from recompose.tracks import TRACKS

NAMED = 5  # changed files of a data set that are named
RESTORE = "restore the file, or remove a synthetic data set's folder to generate it again"
NumbersOf = Callable[[MetricCache, Recipe], dict[str, float]]


@dataclass
class StoredCheck:
    """The stored results behind the reports, each checked once.

    ``numbers`` holds the metrics of each valid evaluation: from its scores, or as published where these are not here.
    """

    evaluator: TrustEvaluator
    report: AuditReport = field(default_factory=AuditReport)
    numbers: dict[str, dict[str, float]] = field(default_factory=dict)
    files: int = 0
    followed: set[str] = field(default_factory=set)  # evaluations whose numbers are the published ones
    absent: list[str] = field(default_factory=list)  # keys of results that are not on this disk, or their raw files

    def check(self) -> None:
        """Check all results."""
        for key in self.evaluator.published.records:
            self._check(key, self.recipes[key])

    def compute_metrics(self, keys: Iterable[str], numbers_of: NumbersOf) -> None:
        """Compute the numbers of the valid evaluations among these; those that are not here have the published ones."""
        for key in keys:
            recipe, values = self.recipes[key], self.evaluator.published.values
            if recipe.kind == "evaluations" and self.evaluator.stored.is_reliable(key):
                self._compute_metrics(key, recipe, numbers_of)
            elif key in values and not self.evaluator.work.store.is_complete(recipe):
                self.numbers[key] = values[key]
                self.followed.add(key)

    @cached_property
    def recipes(self) -> dict[str, Recipe]:
        """The recipes of everything behind the reports, by key."""
        recipes: dict[str, Recipe] = {}
        for key, record in self.evaluator.published.records.items():
            recipes[key] = recipe_of(record, recipes)
        return recipes

    def _check(self, key: str, recipe: Recipe) -> None:
        stored = self.evaluator.stored
        for finding in stored[key]:
            self.report.note(finding)
            self.absent += [key] if finding.code == "absent" else []
        self.files += len(stored.on_disk[key].files) if key in stored.on_disk else 0
        if recipe.kind == "data" and key in stored.on_disk:
            self._check_raw(key, recipe)
        self.compute_metrics([key], MetricCache.recompute_all)

    def _check_raw(self, key: str, recipe: Recipe) -> None:
        """Compare raw files with their digests at the time of indexing."""
        work = self.evaluator.work
        root, index = _root(work.data, recipe), work.store.folder(recipe)
        if not root.exists():
            self.report.unchecked.append(f"data/{root.name}: its raw files are not on this disk")
            self.absent.append(key)
            return
        if CONTENT in self.evaluator.stored.faults[key]:
            self.report.unchecked.append(f"data/{root.name}: its index is not valid")
            return
        try:
            files = changed_files(root, index)
            self.files += len(raw_files(index))
        except Exception as error:  # what is in an index may be forged
            why = f"cannot be read: {error}"
            self.report.note(Finding.of("unreadable", f"results/{key}", why, key, remedy=RESTORE))
            return
        more = f", one of {len(files)} changed files" if len(files) > NAMED else ""
        for name in files[:NAMED]:
            place, why = f"data/{root.name}/{name}", f"was changed since it was indexed{more}"
            self.report.note(Finding.of("changed-data", place, why, key, remedy=RESTORE))

    def _compute_metrics(self, key: str, recipe: Recipe, numbers_of: NumbersOf) -> None:
        """Recompute an evaluation's numbers from its scores."""
        work = self.evaluator.work
        if invalid := [
            need.key
            for need in recipe.needs.values()
            if need.kind == "data" and not self.evaluator.stored.is_reliable(need.key)
        ]:
            self.report.unchecked.append(f"results/{key}: its numbers need {invalid[0]}, which is not valid")
            return
        try:
            self.numbers[key] = numbers_of(MetricCache(work.store, work.results), recipe)
        except Exception as error:  # scores may be forged, or newer code may need what they lack
            why = f"its scores cannot be read: {type(error).__name__}: {error}"
            self.report.note(Finding.of("unreadable", f"results/{key}", why, key, remedy=store_remedy(key)))


def _root(data: Path, recipe: Recipe) -> Path:
    return (
        TRACKS[recipe.track].root(recipe, data) if recipe.track in TRACKS else data / f"{recipe.name}-{recipe.folder}"
    )
