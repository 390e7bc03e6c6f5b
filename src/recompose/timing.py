"""Timings: the cost of a few training steps on this device, and the estimated cost of whole runs. Torch-free."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from recompose.files import read_json, write_json
from recompose.plan import Recipe
from recompose.records import LenientModel

FILE = "timings.json"  # below results/

Kind = tuple[str, str, str]  # method, data set, backbone


class Timing(LenientModel):
    """The cost of a method's training on a data set with a backbone."""

    method: str
    dataset: str
    backbone: str  # empty: the method uses none
    setup_seconds: float  # of a run, before and after its epochs
    image_seconds: float  # of an epoch, for each training image; includes validation
    memory_bytes: int | None  # at the peak, of the GPU if it used one
    steps: int  # number of timed steps
    host: str
    device: str

    @property
    def kind(self) -> Kind:
        """The method, data set and backbone."""
        return self.method, self.dataset, self.backbone

    def seconds(self, epochs: int, images: int) -> float:
        """Return the time of a run of so many epochs on so many images."""
        return self.setup_seconds + self.image_seconds * epochs * images


@dataclass(frozen=True)
class Timings:
    """All timings, by method, data set and backbone."""

    runs: Mapping[Kind, Timing]

    @classmethod
    def read(cls, results: Path) -> "Timings":
        """Read the timings from a results folder; none if the file is missing or invalid."""
        try:
            entries = [Timing.model_validate(entry) for entry in read_json(results / FILE)["runs"]]
        except (OSError, ValueError, KeyError, TypeError, ValidationError):
            entries = []
        return cls({entry.kind: entry for entry in entries})

    def of(self, recipe: Recipe) -> Timing | None:
        """Return the timing for a run, or None."""
        return self.runs.get(timing_kind(recipe)) if recipe.kind == "runs" else None

    def write(self, results: Path, entries: Iterable[Timing]) -> None:
        """Write the file with these entries, which replace earlier ones of the same kind."""
        runs = {**self.runs, **{entry.kind: entry for entry in entries}}
        write_json(results / FILE, {"runs": [runs[kind].model_dump() for kind in sorted(runs)]})


def timing_kind(run: Recipe) -> Kind:
    """Return the method, data set and backbone of a run."""
    return str(run.labels["method"]), str(run.labels["dataset"]), backbone_of(run)


def backbone_of(recipe: Recipe) -> str:
    """Return the name of the backbone behind a recipe, or an empty string."""
    if recipe.kind == "backbones":
        return recipe.name
    return next(filter(None, map(backbone_of, recipe.needs.values())), "")
