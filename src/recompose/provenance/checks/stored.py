"""Whether what the reports were made from is what its records say: raw data, backbones, features, runs, evaluations."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from recompose.data.content import CONTENT, changed, raw_files
from recompose.metric_cache import MetricCache
from recompose.plan import Recipe, recipe_of
from recompose.report.findings import Finding, Report
from recompose.report.trust import UNCHECKED, TrustEvaluator
from recompose.tracks import TRACKS

NAMED = 5  # changed files of a data set that are named
AGAIN = "`snakemake --cores all`"
BACK = "put the file back; a drawn data set is drawn anew where its folder is removed"
NumbersOf = Callable[[MetricCache, Recipe], dict[str, float]]


@dataclass
class StoredCheck:
    """The stored things behind the reports, checked once; ``numbers`` are the metrics of each evaluation that can
    be relied on.
    """

    judge: TrustEvaluator
    report: Report = field(default_factory=Report)
    numbers: dict[str, dict[str, float]] = field(default_factory=dict)
    files: int = 0
    absent: list[str] = field(default_factory=list)  # keys of what is not on this disk

    def check(self) -> None:
        """Check all of it."""
        for key in self.judge.published.records:
            self._check(key, self.recipes[key])

    def metric(self, keys: Iterable[str], numbers_of: NumbersOf) -> None:
        """Take the numbers of the evaluations among these, where they can be relied on."""
        for key in keys:
            recipe = self.recipes[key]
            if recipe.kind == "evaluations" and self.judge.stored.reliable(key):
                self._metric(key, recipe, numbers_of)

    @cached_property
    def recipes(self) -> dict[str, Recipe]:
        """Everything behind the reports: key -> recipe."""
        recipes: dict[str, Recipe] = {}
        for key, record in self.judge.published.records.items():
            recipes[key] = recipe_of(record, recipes)
        return recipes

    def _check(self, key: str, recipe: Recipe) -> None:
        stored = self.judge.stored
        for reason in stored[key]:
            if reason.state == UNCHECKED:
                self.report.unchecked.append(reason.why)
                self.absent.append(key)
            else:
                remedy = AGAIN if reason.state == "stale" else self.judge.work.store.remedy(recipe)
                self.report.findings.append(Finding(reason.state, reason.place, reason.what, remedy, (key,)))
        self.files += len(stored.on_disk[key]["files"]) if key in stored.on_disk else 0
        if recipe.kind == "data" and key in stored.on_disk:
            self._check_raw(key, recipe)
        self.metric([key], MetricCache.recompute_all)

    def _check_raw(self, key: str, recipe: Recipe) -> None:
        """Compare raw files with what they were when they were indexed."""
        work = self.judge.work
        root, index = _root(work.data, recipe), work.store.folder(recipe)
        if not root.exists():
            self.report.unchecked.append(f"data/{root.name}: its raw files are not on this disk")
            return
        if CONTENT in self.judge.stored.faults[key]:
            self.report.unchecked.append(f"data/{root.name}: its index cannot be relied on")
            return
        try:
            files = changed(root, index)
            self.files += len(raw_files(index))
        except Exception as error:  # what is in an index may be forged
            self.report.findings.append(Finding("tampered", f"results/{key}", f"cannot be read: {error}", BACK, (key,)))
            return
        more = f", as {len(files)} of its files were" if len(files) > NAMED else ""
        self.report.findings += [
            Finding("tampered", f"data/{root.name}/{name}", f"was changed since it was indexed{more}", BACK, (key,))
            for name in files[:NAMED]
        ]

    def _metric(self, key: str, recipe: Recipe, numbers_of: NumbersOf) -> None:
        """Take an evaluation's numbers anew from its scores."""
        work = self.judge.work
        if bad := [
            need.key
            for need in recipe.needs.values()
            if need.kind == "data" and not self.judge.stored.reliable(need.key)
        ]:
            self.report.unchecked.append(f"results/{key}: its numbers need {bad[0]}, which cannot be relied on")
            return
        try:
            self.numbers[key] = numbers_of(MetricCache(work.store, work.results), recipe)
        except Exception as error:  # scores may be forged, or code may have changed to ask for what they do not have
            why = f"its scores cannot be read: {type(error).__name__}: {error}"
            self.report.findings.append(Finding("tampered", f"results/{key}", why, work.store.remedy(recipe), (key,)))


def _root(data: Path, recipe: Recipe) -> Path:
    return (
        TRACKS[recipe.track].root(recipe, data) if recipe.track in TRACKS else data / f"{recipe.name}-{recipe.folder}"
    )
