"""A study whose runs are made up: a profile of a few methods, measured by a line of code."""

from math import ceil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from recompose.costs import CostEstimate, Costs
from recompose.records import BuildInfo
from recompose.report.results import StoredResults
from recompose.store import Store
from recompose.workspace import PROFILE, Workspace
from tests.configuration import GONE, write_params

FILE = "allocation.yaml"
SECONDS = {"data": 2.0, "pixels": 1.0, "features": 1.5, "runs": 10.0, "evaluations": 3.0}
STUDY = {
    "profiles.study.other_budget": GONE,
    "profiles.study-long": GONE,
    "profiles.study.gzsl": None,
    "profiles.study.vlc": None,
    "profiles.study.czsl.methods": ["chance", "clip", "coop", "csp", "gipcol", "dfsp", "c-s-o", "troika", "msci"],
    "profiles.study.czsl.seeds": [100, 101, 102, 103, 104, 105, 106, 107],
    "profiles.study.czsl.variant_seeds": [100],
    "profiles.study.czsl.interpretation_seeds": [100],
    "profiles.study.czsl.looks": [3, 5, 8],
}


class Measured(dict[str, float]):
    """The metrics of an evaluation: a method's own level, and what the seed adds."""

    def __init__(self, name: str, seed: int) -> None:
        super().__init__()
        self._name, self._seed = name, seed

    def get(self, metric: str, default: Any = None) -> float:
        """Any metric."""
        level = Random(f"{self._name} {metric}").choice([0.2, 0.2, 0.205, 0.24])
        return level + Random(f"{self._name} {metric} {self._seed}").gauss(0, 0.012)


def prepare_study(root: Path, patch: pytest.MonkeyPatch, edits: dict[str, object] | None = None) -> Path:
    """Write the parameters; what ``run`` measures is complete from then on, in this process and in others."""
    write_params(root, "study", STUDY | (edits or {}))
    patch.delenv(PROFILE, raising=False)
    patch.setattr(Costs, "estimate", lambda costs, recipe: CostEstimate(SECONDS[recipe.kind]))
    patch.setattr(Store, "is_complete", lambda store, recipe: (root / "measured" / recipe.digest).exists())
    patch.setattr(
        StoredResults,
        "metrics",
        lambda results, evaluation: Measured(evaluation.labels["name"], evaluation.labels["seed"]),
    )
    patch.setattr(StoredResults, "build_info", lambda results, recipe: made_on(processor_of(root)))
    return root


def made_on(device: str) -> BuildInfo:
    """How something was built, as far as a study asks for it."""
    return BuildInfo(started="", attempts=1, seconds=1.0, commit=None, dirty=None, host="", device=device, packages={})


def processor_of(root: Path) -> str:
    """What computes the study: a file of its folder may say so."""
    file = root / "processor"
    return file.read_text() if file.exists() else "2 x CPU"


def run(root: Path, share: float = 1.0) -> int:
    """Measure a share of all that is missing; return how many recipes that is."""
    work = Workspace(root)
    missing = work.missing(work.plan.recipes)
    (root / "measured").mkdir(exist_ok=True)
    for recipe in missing[: ceil(share * len(missing))]:
        (root / "measured" / recipe.digest).touch()
    return len(missing)
