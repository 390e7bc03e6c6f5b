"""Whether what the reports were made from is what its records say: runs, features, backbones, indexes, raw data."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from math import isclose
from pathlib import Path
from typing import Any

from recompose.digest import sha256_file, short
from recompose.files import read_json
from recompose.fingerprint import fingerprint
from recompose.phases import COSTS, EMBEDDINGS
from recompose.plan import Recipe, Run
from recompose.provenance.checks.findings import Finding, Report
from recompose.provenance.checks.recorded import reference
from recompose.provenance.trace import changes
from recompose.report.lineage import SUFFIX, key_of
from recompose.report.numbers import INDEXED
from recompose.report.published import Shown
from recompose.report.schema import kind_and_recipe
from recompose.store import DamagedError
from recompose.tracks.czsl.data.content import CONTENT, IMAGES, changed
from recompose.tracks.czsl.data.location import data_root
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.metrics.worlds import FILE, Scores, measured
from recompose.workspace import Workspace

READ = {FILE, COSTS, EMBEDDINGS, *INDEXED, "statistics.json"}  # the stored files that reports are made from
METRICS = "metrics.json"
WEIGHTS = (".safetensors", ".pt")
NAMED = 5  # changed files of a data set, and differences of a record, that are named
AGAIN = "`snakemake --cores all`"


def recipes_behind(records: dict[str, dict[str, Any]]) -> dict[str, dict[str, Recipe]]:
    """Everything that these records were made from, themselves included: kind -> key -> recipe."""
    found: dict[str, dict[str, Recipe]] = {"index": {}, "backbones": {}, "features": {}, "runs": {}}
    for record in records.values():
        kind, recipe = kind_and_recipe(record["recipe"])
        _add(found, kind, recipe)
        for other, section in (("index", "dataset"), ("backbones", "backbone"), ("features", "features")):
            if kind == "runs" and recipe.document.get(section):
                _add(found, other, reference(recipe.document[section]))
    return found


def _add(found: dict[str, dict[str, Recipe]], kind: str, recipe: Recipe) -> None:
    found[kind].setdefault(key_of(kind, recipe), recipe)


@dataclass
class Stores:
    """The stored things behind what the reports show, checked once.

    ``numbers`` are the metrics of each run that reports can be made from, as they follow from its scores.
    """

    work: Workspace
    shown: Shown
    report: Report = field(default_factory=Report)
    numbers: dict[str, dict[str, Any]] = field(default_factory=dict)
    reliable: set[str] = field(default_factory=set)  # what is as the reports have it, of runs those with numbers
    stale: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # artifact -> key -> what changed since
    files: int = 0

    def check(self) -> None:
        """Check all of it."""
        for kind, recipes in self._recipes.items():
            for key, recipe in recipes.items():
                self._check_stored(kind, key, recipe)

    @cached_property
    def _recipes(self) -> dict[str, dict[str, Recipe]]:
        return recipes_behind(self.shown.records)

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
                        place = f"results/{key}/{self.work.store(kind).record_name}"
                        self._find("tampered", place, error.fault, self.work.store(kind).remedy(recipe), key)
        return found

    @cached_property
    def recipes(self) -> dict[str, dict[str, Any]]:
        """The recipes of everything behind the reports, as far as they are known: digest -> recipe."""
        return {record["digest"]: record["recipe"] for record in (self.shown.records | self._records).values()}

    def _find(self, state: str, place: str, why: str, remedy: str, *keys: str) -> None:
        self.report.findings.append(Finding(state, place, why, remedy, keys))

    def _find_stale(self, key: str, place: str, why: str, *artifacts: str) -> None:
        self._find("stale", place, why, AGAIN, key)
        for name in artifacts:
            self.stale.setdefault(name, {}).setdefault(key, []).append(why)

    @contextmanager
    def _reading(self, place: str, key: str) -> Iterator[None]:
        """Read what may be forged: nothing that reads it expects what is in it, so every error is one of the file."""
        try:
            yield
        except Exception as error:
            why = f"cannot be read: {type(error).__name__}: {error}"
            self._find("tampered", place, why, "put the file back, or make it again", key)

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
        if not faults.keys() & READ and self._is_as_shown(key, record, READ):
            self.reliable.add(key)
        if kind == "index":
            self._check_data(key, recipe, faults)
        if kind == "backbones" and "corpus" in record["recipe"]:
            self._check_corpus(key, record)
        if kind == "runs":
            self._recompute(key, Run(recipe.name, recipe.document), record, faults)

    def _showing(self, key: str) -> dict[str, dict[str, Any]]:
        """The records of a stored thing that the reports have, by artifact."""
        records = {name: lineage["records"] for name, lineage in self.shown.lineages.items()}
        return {name: found[key] for name, found in records.items() if key in found}

    def _is_as_shown(self, key: str, record: dict[str, Any], names: set[str]) -> bool:
        """Whether some artifact has the same digests of these files; or none has any."""
        showing = self._showing(key).values()
        same = ({name: each["files"].get(name) for name in names} for each in (record, *showing))
        return not showing or next(same) in same

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
        """Compare with the records that reports have; where they agree with each other, it is the run's that was changed."""
        showing = self._showing(key)
        odd = {name: shown for name, shown in showing.items() if shown != record}
        again = {name for name, shown in odd.items() if shown["made"]["started"] != record["made"]["started"]}
        if again:
            why = f"it was made again since the reports were, at {record['made']['started']}"
            self._find_stale(key, f"results/{key}", why, *again)
        changed_since = {name: shown for name, shown in odd.items() if name not in again}
        if changed_since and len(odd) == len(showing):
            why = f"its record is not the one that the reports have: {_differences(next(iter(odd.values())), record)}"
            self._find("tampered", f"results/{key}", why, "put the file back, or make it again", key)
            return
        for name, shown in changed_since.items():
            why = f"its record of {key} is not that in results/: {_differences(record, shown)}"
            self._find("tampered", f"reports/{name}{SUFFIX}", why, AGAIN, key)

    def _check_inputs(self, key: str, record: dict[str, Any]) -> None:
        """Compare what it was made from with what is there now."""
        now = dict(self._inputs_now(record["recipe"]))
        for name, found in record["inputs"].items():
            if name in now and now[name] != found:
                why = f"it was made from another {name}: {short(found)}, where {short(now[name])} is now"
                self._find_stale(key, f"results/{key}", why, *self._showing(key))

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
        if key.startswith("index/"):
            yield from self._content(self.work.results / key / CONTENT, record).items()
        elif key.startswith("backbones/"):
            yield from (("weights", sha256) for path, sha256 in files.items() if path.suffix in WEIGHTS)
        elif key.startswith("features/"):
            yield from ((path.stem, sha256) for path, sha256 in files.items() if path.suffix == ".npy")

    def _content(self, path: Path, record: dict[str, Any]) -> dict[str, str]:
        """The digests of a data set's files when it was indexed; none where they cannot be relied on."""
        written = record["files"].get(CONTENT, {}).get("sha256")
        if not path.is_file() or sha256_file(path) != written:
            return {}
        found = read_json(path)
        return found if isinstance(found, dict) else {}

    def _check_data(self, key: str, recipe: Recipe, faults: dict[str, str]) -> None:
        """Compare a data set's raw files with what they were when they were indexed."""
        root = data_root(recipe, self.work.params.datasets.of(recipe.name), self.work.data)
        if not root.is_dir():
            self.report.unchecked.append(f"data/{root.name}: its raw files are not on this disk")
        elif faults:
            self.report.unchecked.append(f"data/{root.name}: its index cannot be relied on")
        else:
            with self._reading(f"results/{key}", key):
                self._compare_data(root, key, recipe)

    def _compare_data(self, root: Path, key: str, recipe: Recipe) -> None:
        index = self.work.store("index").folder(recipe)
        self.files += len(read_json(index / IMAGES))
        found = changed(root, self._data(recipe), index)
        more = f", as {len(found)} of its files were" if len(found) > NAMED else ""
        for name in found[:NAMED]:
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
        gone = f"data/{root.name}: its raw files are not on this disk"
        if not root.is_dir():
            self.report.unchecked += [gone] if gone not in self.report.unchecked else []  # backbones share it
            return
        self.files += len(record["inputs"])
        for name, found in record["inputs"].items():
            if not (root / name).is_file() or sha256_file(root / name) != found:
                remedy = "put the file back; a drawn corpus is drawn anew where its folder is removed"
                self._find("tampered", f"data/{root.name}/{name}", f"is not what {key} was pretrained on", remedy, key)

    def _recompute(self, key: str, run: Run, record: dict[str, Any], faults: dict[str, str]) -> None:
        """Take the run's numbers anew from its scores, and compare its own with them."""
        index, folder = reference(run.document["dataset"]), self.work.runs.folder(run)
        if not {key, key_of("index", index)} <= self.reliable:
            self.report.unchecked.append(f"results/{key}: its scores, or its data set's index, cannot be relied on")
        elif _same_metrics_code(record):
            with self._reading(f"results/{key}/{FILE}", key):
                self.numbers[key] = measured(self._data(index), Scores.read(folder / FILE))
            if METRICS not in faults and key in self.numbers:
                self._compare_metrics(folder / METRICS, key, run)
        else:
            self.report.unchecked.append(f"results/{key}: its numbers were taken by other code of metrics")
            if METRICS not in faults and self._is_as_shown(key, record, {METRICS}):
                with self._reading(f"results/{key}/{METRICS}", key):
                    self.numbers[key] = read_json(folder / METRICS)
        if key not in self.numbers:
            self.reliable.discard(key)

    def _compare_metrics(self, path: Path, key: str, run: Run) -> None:
        with self._reading(f"results/{key}/{METRICS}", key):
            own = read_json(path)
            if not _same(own, self.numbers[key]):
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


def _differences(old: dict[str, Any], new: dict[str, Any]) -> str:
    """What differs between two records, the first few of it."""
    found = list(changes(old, new))
    return "; ".join(found[:NAMED]) + (f"; and {len(found) - NAMED} more" if len(found) > NAMED else "")


def _same_metrics_code(record: dict[str, Any]) -> bool:
    """Whether the metrics of a run were taken by the code that is here now."""
    now = fingerprint(["recompose.tracks.czsl.metrics.worlds"])
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
