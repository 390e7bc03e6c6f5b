"""Zero-shot learning with attributes: the recognition of classes that attributes describe, some of which training does
not show.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from recompose.fingerprint import fingerprint
from recompose.papers.declaration import Variant
from recompose.params import Params
from recompose.plan import Planner, Recipe, TrackPlan
from recompose.tables.expectations import Above
from recompose.tracks.catalogue import published_sizes
from recompose.tracks.checks import counts_of
from recompose.tracks.gzsl.catalogue import ADAPTERS, METHODS, PublishedClasses
from recompose.tracks.gzsl.metric_values import BIASES, METRICS, NUMBERS
from recompose.tracks.gzsl.params import FORM, Gzsl, GzslChoice
from recompose.tracks.planning import Runs
from recompose.tracks.track import Track

TRAINING = "recompose.tracks.gzsl.training"
EVALUATION = "recompose.tracks.gzsl.evaluation"
FIGURES = "recompose.tracks.gzsl.figures"


class GZSL(Track):
    """Images of seen and of unseen classes, recognised by their attributes."""

    name = "gzsl"
    form = FORM
    headline = "test/validated/harmonic_mean"
    compared: ClassVar = {
        "ACC": "test/accuracy",
        **{f"{bias} {column}": f"test/{bias}/{number}" for bias in BIASES for column, number in NUMBERS.items()},
    }
    figures: ClassVar = {
        "co-occurrence": f"{FIGURES}:draw_co_occurrence",
        "uncertainty": f"{FIGURES}:draw_uncertainty",
        "attention": f"{FIGURES}:draw_attention",
        "embeddings": f"{FIGURES}:draw_embeddings",
        "seen-unseen": f"{FIGURES}:draw_seen_unseen",
    }
    plots: ClassVar = {"seen-unseen.csv": f"{FIGURES}:mean_curves"}
    samples = "recompose.tracks.gzsl.samples:samples"
    expectations = (Above("ESZSL is above chance", "test/accuracy", ("eszsl",), one_of="unseen_classes"),)
    methods = METHODS
    adapters = ADAPTERS
    dataset_section = PublishedClasses
    training, evaluation = TRAINING, EVALUATION
    metric_code = ("recompose.tracks.gzsl.metric_values",)
    named_metrics = METRICS

    def plan(self, params: Params, planner: Planner, variants: Mapping[str, Variant]) -> TrackPlan:
        return ClassRuns.of(self, params, planner, variants).plan()

    def acquire(self, recipe: Recipe, params: Params, data: Path) -> Path:
        from recompose.tracks.gzsl.data.acquire import acquire

        section = params.tracks[self.name]
        assert isinstance(section, Gzsl)
        return acquire(recipe, section.datasets[recipe.name], data, self.root(recipe, data), self.adapters)

    def index(self, recipe: Recipe, root: Path, folder: Path) -> list[str]:
        from recompose.tracks.gzsl.data.acquire import write_index

        return write_index(recipe, root, folder, self.adapters)

    def images(self, index: Path) -> list[str]:
        from recompose.tracks.gzsl.data.classes import ClassData

        return list(ClassData.read(index).paths)

    def metrics(self, evaluation: Path, needs: Mapping[str, Path]) -> dict[str, float]:
        from recompose.tracks.gzsl.metric_values import read_metrics

        return read_metrics(needs["data"], evaluation)

    def size(self, recipe: Recipe, index: Path) -> dict[str, int]:
        if images := recipe.document.get("images"):
            counts: Mapping[str, int] = {f"{split}_images": count for split, count in images.items()}
        else:
            counts = counts_of(recipe.document, index)
        if "trainval_images" not in counts:
            return published_sizes(self.adapters, recipe.document)
        return {
            "train": counts["trainval_images"],
            "test": counts["test_seen_images"] + counts["test_unseen_images"],
        }


@dataclass(frozen=True)
class ClassRuns(Runs):
    """A planner of runs and evaluations."""

    section: Gzsl
    choice: GzslChoice

    def evaluation(self, name: str, variant: Variant, data: Recipe, seed: int) -> Recipe:
        entry = self.methods[variant.method]
        document = {
            "class": entry.class_path,
            "settings": self.settings(name, variant, data).document("training"),
            "seed": seed,
            "threads": self.params.chosen.trainer.threads,
            "save": list(variant.save),
        }
        needs = {"data": data, "grids": self._grids(data), "run": self.run_of(name, variant, data, seed)}
        code = fingerprint([*entry.modules, EVALUATION])
        return self.recipe("evaluations", name, variant, data, seed, document, needs, code)

    def run(self, name: str, variant: Variant, data: Recipe, seed: int) -> Recipe:
        settings: Any = self.settings(name, variant, data)
        needs = {"data": data, "grids": self._grids(data)}
        scoring = settings.training.selection != "validation"  # which chooses an epoch at its own best bias
        return self.trained_run(name, variant, data, seed, settings, needs, TRAINING, scoring)

    def _grids(self, data: Recipe) -> Recipe:
        published_grids = getattr(self.section.datasets[data.name], "grids", None)
        if published_grids:
            return self.planner.grids_from_file(data, published_grids)
        backbone = self.planner.backbone(self.choice.backbone)
        return self.planner.grids(data, backbone, **self.choice.grids.model_dump())
