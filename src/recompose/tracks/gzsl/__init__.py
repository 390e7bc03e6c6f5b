"""Zero-shot learning with attributes: the recognition of classes that attributes describe, some of which training does
not show.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from PIL import Image

from recompose.parts.expectations import Above
from recompose.parts.results import Results
from recompose.recipes.plan import Recipe
from recompose.tracks.building import Document
from recompose.tracks.gzsl.catalogue import ADAPTERS, METHODS, Gzsl, GzslChoice, PublishedClasses
from recompose.tracks.gzsl.metric_values import BIASES, METRICS, NUMBERS
from recompose.tracks.planning import Case, Runs
from recompose.tracks.track import Track

FIGURES = "recompose.tracks.gzsl.figures"


@dataclass(frozen=True)
class ClassRuns(Runs):
    """A planner of runs and evaluations."""

    section: Gzsl
    choice: GzslChoice

    def evaluation(self, case: Case) -> Recipe:
        values = {"seed": case.seed, "trainer": self.planner.trainer()}
        return self.scored(case, self.run_needs(case), values)

    def run_needs(self, case: Case) -> dict[str, Recipe]:
        return {"data": case.data, "grids": self._grids(case.data)}

    def trains_by_scoring(self, settings: Any) -> bool:
        return bool(settings.training.selection != "validation")  # which chooses an epoch at its own best bias

    def _grids(self, data: Recipe) -> Recipe:
        published_grids = getattr(self.section.datasets[data.name], "grids", None)
        if published_grids:
            return self.planner.grids_from_file(data, published_grids, self.track.pictures)
        backbone = self.planner.backbone(self.choice.backbone)
        return self.planner.grids(data, backbone, self.track.pictures, **self.choice.grids.model_dump())


class GZSL(Track):
    """Images of seen and of unseen classes, recognised by their attributes."""

    name = "gzsl"
    section, choice = Gzsl, GzslChoice
    runs = ClassRuns
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
    expectations = (Above("ESZSL is above chance", "test/accuracy", ("eszsl",), one_of="unseen_classes"),)
    methods = METHODS
    adapters = ADAPTERS
    pictures = "recompose.tracks.gzsl.data.classes:pictures"
    layout = "recompose.tracks.gzsl.data.xlsa17"
    published: ClassVar = {"datasets": PublishedClasses}
    training, evaluation = "recompose.tracks.gzsl.training", "recompose.tracks.gzsl.evaluation"
    metric_code = ("recompose.tracks.gzsl.metric_values",)
    named_metrics = METRICS

    def samples(self, document: Document) -> Iterator[tuple[Image.Image, str]]:
        from recompose.tracks.gzsl.samples import samples

        return samples(document)

    def plots(self, results: Results) -> dict[str, str]:
        from recompose.tracks.gzsl.figures import mean_curves

        return {"seen-unseen.csv": mean_curves(results)}
