"""Compositional zero-shot learning: the recognition of state-object pairs, some of which training does not show."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from PIL import Image

from recompose.files import Document
from recompose.papers.declaration import Variant
from recompose.parts.expectations import Above
from recompose.parts.results import Results
from recompose.recipes.plan import Recipe
from recompose.tracks.czsl.catalogue import ADAPTERS, METHODS, Czsl, CzslChoice, PublishedPairs
from recompose.tracks.czsl.metric_values import METRICS, NUMBERS, WORLDS
from recompose.tracks.czsl.tables import frequencies, groups
from recompose.tracks.planning import Case, Runs
from recompose.tracks.track import Track

WORDS = "glove"  # the name of the word vectors in the data folder
GLOVE = "recompose.tracks.czsl.data.glove"
FIGURES = "recompose.tracks.czsl.figures"


@dataclass(frozen=True)
class PairRuns(Runs):
    """A planner of runs and evaluations."""

    section: Czsl
    choice: CzslChoice

    def backbone_name(self, variant: Variant) -> str | None:
        return self.choice.backbone if variant.backbone == "main" else self.choice.other_backbone

    def evaluation(self, case: Case) -> Recipe:
        values: Document = {"seed": case.seed, "feasibility": None}
        needs = {"data": case.data}
        if self.track.methods[case.variant.method].needs_backbone:
            values["trainer"] = self.planner.trainer()
            values["feasibility"], words = self._feasibility()
            needs = self.run_needs(case) | words
        return self.scored(case, needs, values)

    def run_needs(self, case: Case) -> dict[str, Recipe]:
        backbone = self.planner.backbone(str(self.backbone_name(case.variant)))
        pixels = self.planner.pixels(case.data, self.track.pictures, self.choice.image_size)
        features = self.planner.features(pixels, backbone)
        return {"data": case.data, "backbone": backbone, "features": features, "pixels": pixels}

    def _feasibility(self) -> tuple[dict[str, str], dict[str, Recipe]]:
        """Return the settings of feasibility, and the recipe of the word vectors if it needs them."""
        feasibility = self.section.feasibility
        if feasibility.vectors == "backbone":
            return {"vectors": "backbone", "prompt": feasibility.prompt}, {}
        archive = feasibility.glove
        made_by = {"make": "recompose.data.content:make_data", "acquire": f"{GLOVE}:acquire", "index": f"{GLOVE}:index"}
        sources: Document = {"folder": "archives", "urls": {archive.file: archive.urls}}
        about: Document = {"track": self.track.name, "labels": {"dataset": WORDS}, "sources": sources}
        document = {"file": archive.file, "sha256": archive.sha256}
        words = Recipe.of("data", WORDS, made_by, document, **about)
        return {"vectors": "glove"}, {"words": words}


class CZSL(Track):
    """State-object pairs, recognised in a closed and in an open world."""

    name = "czsl"
    section, choice = Czsl, CzslChoice
    runs = PairRuns
    headline = "test/closed/dense/auc"
    compared: ClassVar = {
        f"{world} {column}": f"test/{world}/dense/{number}" for world in WORLDS for column, number in NUMBERS.items()
    }
    tables: ClassVar = {"frequencies": frequencies, "groups": groups}
    figures: ClassVar = {
        "curves": f"{FIGURES}.curves:draw_curves",
        "prototypes": f"{FIGURES}.maps:draw_prototypes",
        "samples": f"{FIGURES}.maps:draw_samples",
        "training": f"{FIGURES}.maps:draw_training",
        "predictions": f"{FIGURES}.galleries:draw_predictions",
        "retrieval": f"{FIGURES}.galleries:draw_retrieval",
        "swapping": f"{FIGURES}.galleries:draw_swapping",
    }
    expectations = (
        Above("untuned CLIP is above chance", headline, ("clip",), than="chance"),
        Above("every tuned method is above untuned CLIP", headline, but=("chance", "clip"), than="clip"),
    )
    methods = METHODS
    adapters = ADAPTERS
    pictures = "recompose.tracks.czsl.data.pairs:pictures"
    layout = "recompose.tracks.czsl.data.compositional"
    published: ClassVar = {"datasets": PublishedPairs}
    training, evaluation = "recompose.tracks.czsl.training", "recompose.tracks.czsl.evaluation"
    metric_code = ("recompose.tracks.czsl.metric_values",)
    named_metrics = METRICS

    def mark(self, recipe: Recipe, data: Path) -> Path:
        root = super().mark(recipe, data)
        return root / str(recipe.document["file"]) if recipe.name == WORDS else root

    def samples(self, document: Mapping[str, Any]) -> Iterator[tuple[Image.Image, str]]:
        from recompose.tracks.czsl.samples import samples

        return samples(document)

    def plots(self, results: Results) -> dict[str, str]:
        from recompose.tracks.czsl.figures.curves import mean_curves

        return {"curves.csv": mean_curves(results)}

    def pass_key(self, evaluation: Recipe) -> str:
        """Return the digest of an evaluation without its scoring settings and without the list of what it saves."""
        settings = dict(evaluation.document["settings"])
        if settings.pop("scoring", None) is None:
            return evaluation.digest
        return evaluation.changed(document={**evaluation.document, "settings": settings, "save": []}).digest
