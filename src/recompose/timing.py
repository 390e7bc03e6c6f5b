"""What a few steps of training took on the device at hand, and what whole runs will take by that: torch-free."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from recompose.files import read_json, write_json
from recompose.plan import Recipe, closure
from recompose.store import LenientModel

FILE = "timings.json"  # among the results

Kind = tuple[str, str, str]  # method, data set, backbone


class Timing(LenientModel):
    """What a method's training takes on a data set, with a backbone."""

    method: str
    dataset: str
    backbone: str  # empty: of a method that builds on none
    setup_seconds: float  # of a run, before and after its epochs
    image_seconds: float  # of an epoch, for each image to train on; validation is in it
    memory_bytes: int | None  # at the peak, of the GPU where it took one
    steps: int  # that were timed
    host: str
    device: str

    @property
    def kind(self) -> Kind:
        """What it holds for."""
        return self.method, self.dataset, self.backbone

    def seconds(self, epochs: int, images: int) -> float:
        """Of a run of so many epochs on so many images."""
        return self.setup_seconds + self.image_seconds * epochs * images


@dataclass(frozen=True)
class Timings:
    """What was calibrated, by what it holds for."""

    runs: Mapping[Kind, Timing]

    @classmethod
    def read(cls, results: Path) -> "Timings":
        """What the file says; of one that is absent or none of ours nothing."""
        try:
            entries = [Timing.model_validate(entry) for entry in read_json(results / FILE)["runs"]]
        except (OSError, ValueError, KeyError, TypeError, ValidationError):
            entries = []
        return cls({entry.kind: entry for entry in entries})

    def of(self, recipe: Recipe) -> Timing | None:
        """What holds for a run."""
        return self.runs.get(kind_of(recipe)) if recipe.kind == "runs" else None

    def write(self, results: Path, entries: Iterable[Timing]) -> None:
        """Write the file with these entries, and those for all else that was calibrated before."""
        runs = {**self.runs, **{entry.kind: entry for entry in entries}}
        document: dict[str, Any] = {"runs": [runs[kind].model_dump() for kind in sorted(runs)]}
        write_json(results / FILE, document)


def kind_of(run: Recipe) -> Kind:
    """What a calibration for a run holds for: its method, data set and backbone."""
    backbones = (recipe.name for recipe in closure([run]) if recipe.kind == "backbones")
    return str(run.labels["method"]), str(run.labels["dataset"]), next(backbones, "")
