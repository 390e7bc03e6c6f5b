"""Whether what the reports were made from is what its records say: runs, features, backbones, indexes, raw data."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import isclose
from pathlib import Path
from typing import Any

from recompose.data.content import CONTENT, IMAGES, changed
from recompose.data.location import data_root
from recompose.data.pairs import PairData
from recompose.digest import digest, sha256_file, short
from recompose.files import read_json
from recompose.metrics.worlds import FILE, Scores, measured
from recompose.phases import COSTS, EMBEDDINGS
from recompose.plan import Recipe, Run
from recompose.provenance.checks.findings import Finding, Report
from recompose.provenance.checks.recorded import reference
from recompose.provenance.fingerprint import fingerprint
from recompose.provenance.lineage import key_of
from recompose.store import DamagedError
from recompose.workspace import Workspace

READ = {FILE, COSTS, EMBEDDINGS}  # the files of a run that reports are made from
METRICS = "metrics.json"
WEIGHTS = (".safetensors", ".pt")
NAMED = 5  # changed files of a data set that are named
AGAIN = "`snakemake --cores all`"


def recipes_behind(records: dict[str, dict[str, Any]]) -> dict[str, dict[str, Recipe]]:
    """Everything that these records were made from, themselves included: kind -> key -> recipe."""
    found: dict[str, dict[str, Recipe]] = {"index": {}, "backbones": {}, "features": {}, "runs": {}}
    for record in records.values():
        recipe = record["recipe"]
        if "method" not in recipe:
            _add(found, "index", Recipe(recipe["dataset"], recipe))
            continue
        _add(found, "runs", Run(recipe["method"], recipe))
        _add(found, "index", reference(recipe["dataset"]))
        if recipe["backbone"]:
            _add(found, "backbones", reference(recipe["backbone"]))
            _add(found, "features", reference(recipe["features"]))
    return found


def _add(found: dict[str, dict[str, Recipe]], kind: str, recipe: Recipe) -> None:
    found[kind].setdefault(key_of(kind, recipe), recipe)


@dataclass
class Stores:
    """The stored things behind some records, checked once.

    ``numbers`` are the metrics of each run that reports can be made from, as they follow from its scores.
    """

    work: Workspace
    shown: dict[str, dict[str, Any]]  # key -> record, as the reports have it
    report: Report = field(default_factory=Report)
    numbers: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: int = 0

    def check(self) -> None:
        """Check all of it."""
        for key, record in self.shown.items():
            if short(digest(record["recipe"])) != short(record["digest"]) or short(record["digest"]) not in key:
                self._find("tampered", key, "its record in the reports is of another recipe than its name says", AGAIN)
        for kind, recipes in self._recipes.items():
            for key, recipe in recipes.items():
                self._check_stored(kind, key, recipe)

    @cached_property
    def _recipes(self) -> dict[str, dict[str, Recipe]]:
        return recipes_behind(self.shown)

    @cached_property
    def _records(self) -> dict[str, dict[str, Any]]:
        """The records on this disk, of those that can be read."""
        found = {}
        for kind, recipes in self._recipes.items():
            for key, recipe in recipes.items():
                if self.work.store(kind).is_complete(recipe):
                    try:
                        found[key] = self.work.store(kind).record(recipe)
                    except DamagedError as error:
                        self._find("tampered", f"results/{key}", str(error), self.work.store(kind).remedy(recipe))
        return found

    def _find(self, state: str, place: str, why: str, remedy: str, *keys: str) -> None:
        self.report.findings.append(Finding(state, place, why, remedy, keys))

    def _check_stored(self, kind: str, key: str, recipe: Recipe) -> None:
        store = self.work.store(kind)
        if not store.is_complete(recipe):
            self.report.unchecked.append(f"results/{key} is not on this disk")
        if key not in self._records:
            return
        record = self._records[key]
        faults = {name: fault for name in record["files"] if (fault := store.fault(recipe, name, record))}
        self.files += len(record["files"])
        for name, fault in faults.items():
            said = fault + self._whose(store.folder(recipe) / name, key)
            self._find("tampered", f"results/{key}/{name}", said, store.remedy(recipe), key)
        self._check_record(key, record)
        self._check_inputs(key, record)
        if kind == "index" and not faults:
            self._check_data(key, recipe)
        if kind == "backbones" and "corpus" in record["recipe"]:
            self._check_corpus(key, record)
        if kind == "runs" and not faults.keys() & READ:
            self._recompute(key, Run(recipe.name, recipe.document), record, faults)

    def _whose(self, path: Path, key: str) -> str:
        """Whose file it is, where it is another one's."""
        if not path.is_file():
            return ""
        found = sha256_file(path)
        others = [
            other
            for other, record in self._records.items()
            if other != key and record["files"].get(path.name, {}).get("sha256") == found
        ]
        return f": it is that of {others[0]}" if others else ""

    def _check_record(self, key: str, record: dict[str, Any]) -> None:
        """Compare with the record that reports have."""
        shown = self.shown.get(key)
        if shown is None or shown == record:
            return
        if shown["made"]["started"] != record["made"]["started"]:
            why = f"it was made again since the reports were, at {record['made']['started']}"
            self._find("stale", f"results/{key}", why, AGAIN, key)
            return
        parts = ", ".join(part for part in record if record[part] != shown.get(part))
        why = f"its record is not the one that the reports have: {parts} differ"
        self._find("tampered", f"results/{key}", why, "put the file back, or make it again", key)

    def _check_inputs(self, key: str, record: dict[str, Any]) -> None:
        """Compare what it was made from with what is there now."""
        now = dict(self._inputs_now(record["recipe"]))
        for name, found in record["inputs"].items():
            if name in now and now[name] != found:
                why = f"it was made from another {name}: {short(found)}, where {short(now[name])} is now"
                self._find("stale", f"results/{key}", why, AGAIN, key)

    def _inputs_now(self, recipe: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """The digests of what the inputs of a run, or of features, are by their records: name -> SHA-256."""
        for kind in ("dataset", "backbone", "features"):
            section = recipe.get(kind)
            wanted = section["digest"] if isinstance(section, dict) else section
            for key, made in self._records.items():
                if made["digest"] == wanted:
                    yield from self._gives(key, made)
        if source := recipe.get("checkpoint_of"):
            trained = self._records.get(f"runs/{short(source['digest'])}")
            if trained and "checkpoint.safetensors" in trained["files"]:
                yield "checkpoint", trained["files"]["checkpoint.safetensors"]["sha256"]

    def _gives(self, key: str, record: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """What others take from a stored thing: name -> SHA-256."""
        files = {Path(name): entry["sha256"] for name, entry in record["files"].items()}
        if key.startswith("index/") and (self.work.results / key / CONTENT).is_file():
            yield from read_json(self.work.results / key / CONTENT).items()
        elif key.startswith("backbones/"):
            yield from (("weights", sha256) for path, sha256 in files.items() if path.suffix in WEIGHTS)
        elif key.startswith("features/"):
            yield from ((path.stem, sha256) for path, sha256 in files.items() if path.suffix == ".npy")

    def _check_data(self, key: str, recipe: Recipe) -> None:
        """Compare a data set's raw files with what they were when they were indexed."""
        root = data_root(recipe, self.work.params.datasets.of(recipe.name), self.work.data)
        index = self.work.store("index").folder(recipe)
        if not root.is_dir() or not (index / IMAGES).is_file():
            self.report.unchecked.append(f"data/{root.name}: its raw files are not on this disk")
            return
        images = read_json(index / IMAGES)
        self.files += len(images)
        found = changed(root, self._data(recipe), index)
        for name in found[:NAMED]:
            more = f" (and {len(found) - NAMED} more)" if name == found[NAMED - 1 : NAMED][-1:] else ""
            self._find(
                "tampered",
                f"data/{root.name}/{name}",
                f"was changed since it was indexed{more}",
                "put the file back; a drawn data set is drawn anew where its folder is removed",
                key,
            )

    def _check_corpus(self, key: str, record: dict[str, Any]) -> None:
        """Compare the shards that a backbone was pretrained on with what they were."""
        root = self.work.data / f"shapes-{short(record['recipe']['corpus'])}"
        if not root.is_dir():
            self.report.unchecked.append(f"data/{root.name}: its raw files are not on this disk")
            return
        self.files += len(record["inputs"])
        for name, found in record["inputs"].items():
            if not (root / name).is_file() or sha256_file(root / name) != found:
                remedy = "put the file back; a drawn corpus is drawn anew where its folder is removed"
                self._find("tampered", f"data/{root.name}/{name}", f"is not what {key} was pretrained on", remedy, key)

    def _recompute(self, key: str, run: Run, record: dict[str, Any], faults: dict[str, str]) -> None:
        """Take the run's numbers anew from its scores, and compare its own with them."""
        folder = self.work.runs.folder(run)
        try:
            data = self._data(reference(run.document["dataset"]))
        except OSError:
            self.report.unchecked.append(f"results/{key}: its data set's index is not on this disk")
            return
        own = None if METRICS in faults else read_json(folder / METRICS)
        if not _same_metrics_code(record):
            self.report.unchecked.append(f"results/{key}: its numbers were taken by other code of metrics")
            if own is not None:
                self.numbers[key] = own
            return
        self.numbers[key] = measured(data, Scores.read(folder / FILE))
        if own is not None and not _same(own, self.numbers[key]):
            why = f"does not follow from {FILE}: {_first_difference(own, self.numbers[key])}"
            self._find("tampered", f"results/{key}/{METRICS}", why, self.work.runs.remedy(run), key)

    def _data(self, recipe: Recipe) -> PairData:
        folder = self.work.store("index").folder(recipe)
        if folder not in self._indexes:
            self._indexes[folder] = PairData.read(folder)
        return self._indexes[folder]

    @cached_property
    def _indexes(self) -> dict[Path, PairData]:
        return {}


def _same_metrics_code(record: dict[str, Any]) -> bool:
    """Whether the metrics of a run were taken by the code that is here now."""
    now = fingerprint(["recompose.metrics.worlds"])
    return all(version == now[module] for module, version in record["recipe"]["code"].items() if module in now)


def _same(first: Any, second: Any) -> bool:
    """Whether two documents say the same, up to the last digits of sums on different machines."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_same(first[key], second[key]) for key in first)
    if isinstance(first, float) and isinstance(second, float | int):
        return isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)
    return bool(first == second)


def _first_difference(first: Any, second: Any, path: str = "") -> str:
    if isinstance(first, dict) and isinstance(second, dict):
        for key in [*first, *second]:
            if key not in first or key not in second or not _same(first[key], second[key]):
                return _first_difference(first.get(key), second.get(key), f"{path} {key}".strip())
    return f"{path} is {first} in it and {second} by its scores"
