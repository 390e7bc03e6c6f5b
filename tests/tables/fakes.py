"""Results that are made up, in the place of a workspace's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from recompose.papers.declaration import Artifact, Claim, Paper
from recompose.parts.cells import Cell
from recompose.recipes.plan import Recipe
from recompose.tracks import TRACKS
from recompose.tracks.czsl.catalogue import METHODS

AUC = "test/closed/dense/auc"


def evaluation_of(name: str, benchmark: str, seed: int, world: int = 0, method: str = "csp") -> Recipe:
    """The evaluation of a method or a variant, which a world is drawn for; whether seeds change it is the method's."""
    document = {
        "class": METHODS[method].class_path,
        "settings": {"lr": 1e-4 * (1 + (benchmark == "e")), "scoring": {"top": 3}},
        "seed": seed,
    }
    run = Recipe("runs", name, {"settings": {"epochs": 20, "lr": 1.0}, "of": [name, benchmark, seed]})
    labels = {"method": name, "name": name, "dataset": benchmark, "seed": seed}
    needs = {"run": run, "data": Recipe("data", benchmark, {"world": world})}
    return Recipe("evaluations", f"{name} on {benchmark}, seed {seed}", document, needs, {}, "czsl", labels)


def key(name: str, benchmark: str, seed: int) -> str:
    return evaluation_of(name, benchmark, seed).key


def by_seed(*values: Any) -> dict[int, Any]:
    return dict(enumerate(values))


@dataclass
class Fake:
    """Metrics by method, benchmark and seed, or the AUC in percent; those of ``missing`` were planned and are not
    there.
    """

    measured: Mapping[str, Mapping[str, Mapping[int, Any]]]
    missing: set[tuple[str, str, int]] = field(default_factory=set)
    names: tuple[str, ...] = ()  # benchmarks, where there are others than what was measured on
    counts: Mapping[str, int] = field(default_factory=dict)
    constant: set[str] = field(default_factory=set)  # methods that no seed changes
    worlds: bool = False  # each seed has data of its own
    tracks = TRACKS

    def benchmarks(self, track: str) -> list[str]:
        return list(self.names or dict.fromkeys(name for of in self.measured.values() for name in of))

    def data(self, track: str, benchmark: str) -> Recipe:
        return Recipe("data", benchmark, {} if benchmark == "d" else {"archives": {}})

    def statistics(self, data: Recipe) -> dict[str, Any]:
        return dict(self.counts)

    def evaluation(self, name: str, benchmark: str, seed: int) -> Recipe:
        method = "clip" if name in self.constant else "csp"
        return evaluation_of(name, benchmark, seed, seed if self.worlds else 0, method)

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        return [self.evaluation(name, benchmark, seed) for seed in self.measured.get(name, {}).get(benchmark, {})]

    def complete(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        return [each for each in self.planned(track, name, benchmark) if self.is_complete(each)]

    def is_complete(self, recipe: Recipe) -> bool:
        return recipe.kind != "evaluations" or self._place(recipe) not in self.missing

    def metrics(self, evaluation: Recipe) -> Mapping[str, float]:
        """What an evaluation measured; one that is not complete has nothing to read."""
        name, benchmark, seed = self._place(evaluation)
        assert (name, benchmark, seed) not in self.missing
        found = self.measured[name][benchmark][seed]
        return found if isinstance(found, Mapping) else {AUC: found / 100}

    @staticmethod
    def _place(recipe: Recipe) -> tuple[str, str, int]:
        return recipe.labels["method"], recipe.labels["dataset"], recipe.labels["seed"]

    @property
    def plan(self) -> Any:
        return SimpleNamespace()


def paper_of(claims: Mapping[str, Claim] | None = None, **artifact: Any) -> Paper:
    """A paper with one table, or with claims and their forest plot."""
    about = {"name": "p", "title": "t", "authors": "a", "venue": "v", "track": "czsl"}
    artifacts = {"table-1": Artifact(caption="c", **artifact)} if artifact else {}
    if claims:
        artifacts |= {kind: Artifact(kind=kind, caption="") for kind in ("claims", "forest")}
    return Paper(**about, datasets={}, artifacts=artifacts, claims=dict(claims or {}))


def by_cell(cells: Any) -> dict[tuple[str, str, str], Cell]:
    """Row, column and view -> cell, each once."""
    listed = list(cells)
    found = {(cell.row, cell.column, cell.view): cell for cell in listed}
    assert len(found) == len(listed)
    assert all(cell.source == "measured" for cell in listed)
    return found
