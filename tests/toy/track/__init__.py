"""A track as small as one can be: lengths in a file, and one number that is guessed for all of them."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from recompose.papers.declaration import Variant
from recompose.params.documents import merged
from recompose.params.schema import Params
from recompose.parts.results import Results
from recompose.recipes.plan import Planner, Recipe, TrackPlan
from recompose.tables.metric import Metric
from recompose.tracks.toy.params import FORM
from recompose.tracks.toy.tables import errors, extremes
from recompose.tracks.track import Track

MODULE = "recompose.tracks.toy"
TRAINED = ("descent",)
METRICS = {"test/error": Metric("m", 1, 3, better=-1), "test/bias": Metric("cm", 100, 1, better=0)}


class Toy(Track):
    """Lengths and guesses."""

    name = "toy"
    form = FORM
    headline = "test/error"
    compared: ClassVar = {"error": "test/error"}
    tables: ClassVar = {"extremes": extremes}
    figures: ClassVar = {"guesses": f"{MODULE}.shown:draw_guesses"}
    metric_code = (f"{MODULE}.metrics",)

    def plan(self, params: Params, planner: Planner, variants: Mapping[str, Variant]) -> TrackPlan:
        section, choice = params.tracks[self.name], params.chosen.tracks[self.name]
        benchmarks = {name: _data(name, section.datasets[name].model_dump()) for name in choice.datasets}
        plain = {name: Variant(method=name, datasets=list(benchmarks)) for name in choice.methods}
        evaluations = {
            (name, benchmark): tuple(self._evaluations(params, name, variant, data))
            for name, variant in (plain | dict(variants)).items()
            for benchmark, data in benchmarks.items()
            if benchmark in variant.datasets
        }
        return TrackPlan(benchmarks, evaluations, tuple(choice.methods))

    def _evaluations(self, params: Params, name: str, variant: Variant, data: Recipe) -> Iterator[Recipe]:
        seeds = params.chosen.tracks[self.name].seeds if variant.method in TRAINED else [0]
        for seed in seeds:
            settings = merged(self.settings(params, variant.method, data.name), variant.settings)
            labels = {"name": name, "method": variant.method, "dataset": data.name, "seed": seed}
            title, needs = f"{name} on {data.name}, seed {seed}", {"data": data}
            if variant.method in TRAINED:
                made_by, document = {"make": f"{MODULE}.computing:train"}, {"settings": settings, "seed": seed}
                about = {"needs": {"data": data}, "track": self.name, "labels": labels}
                needs["run"] = Recipe.of("runs", title, made_by, document, **about)
            made_by, document = {"make": f"{MODULE}.computing:evaluate"}, {"method": variant.method, "settings": {}}
            yield Recipe.of("evaluations", title, made_by, document, needs=needs, track=self.name, labels=labels)

    def settings(self, params: Params, method: str, dataset: str) -> dict[str, Any]:
        return getattr(params.tracks[self.name].methods, method).model_dump()

    def plots(self, results: Results) -> dict[str, str]:
        return {"errors.csv": errors(results)}

    def metric(self, name: str) -> Metric:
        return METRICS[name]


def _data(name: str, document: dict[str, Any]) -> Recipe:
    steps = {step: f"{MODULE}.lengths:{step}" for step in ("acquire", "index")}
    made_by = {"make": "recompose.data.content:make_data", **steps}
    return Recipe.of("data", name, made_by, document, track=Toy.name, labels={"dataset": name})
