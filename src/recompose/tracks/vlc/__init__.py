"""Vision-language compositionality: images and captions that differ in how their parts are composed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, get_args

from recompose.errors import PlanError
from recompose.fingerprint import fingerprint
from recompose.papers.declaration import Variant
from recompose.params import Params, Section
from recompose.params.mistakes import nearest
from recompose.plan import Planner, Recipe, TrackPlan
from recompose.tables.expectations import Above
from recompose.tables.metric import Metric
from recompose.tracks.catalogue import DataAdapter, published_sizes
from recompose.tracks.planning import Runs, data_recipe
from recompose.tracks.track import Track
from recompose.tracks.vlc.attribution.subsets import DECLARED, PLAIN
from recompose.tracks.vlc.catalogue import (
    ADAPTERS,
    METHODS,
    UNTRAINED,
    CaptionAdapter,
    Corpus,
    PublishedSuite,
    suite_adapter,
)
from recompose.tracks.vlc.params import FORM, RESERVED, Vlc, VlcChoice
from recompose.tracks.vlc.suites.aggregation import ARO, CREPE, I2T_RET, RETRIEVAL, T2I_RET, TREES, ZS, names_in
from recompose.tracks.vlc.suites.catalogue import (
    CREPE_COMPLEXITIES,
    SIMILARITIES,
    SUBTASKS,
    TRIPLET_SENSES,
    SuiteForm,
)

if TYPE_CHECKING:
    from recompose.data.pictures import Picture

FORMS = get_args(SuiteForm)
ACCURACY = Metric("%", 100, 1, better=1)
ATTRIBUTION_SCORE = Metric("", 1, 3, better=0)
GROUP_SENSES = [
    f"{task.name}/{sense}" for task in SUBTASKS.values() if task.query == "group" for sense in ("text", "image")
]
TRIPLETS = [f"{task.name}/{sense}" for task in SUBTASKS.values() if task.query == "triplet" for sense in TRIPLET_SENSES]
COMPLEXITIES = [f"{leaf}/{atoms}" for leaf in CREPE.leaves for atoms in CREPE_COMPLEXITIES]
RECALLS = [f"{name}/{way}/r{k}" for name in RETRIEVAL for way in ("i2t", "t2i") for k in (1, 5, 10)]
CORRELATIONS = [f"{name}/pearson" for name in SIMILARITIES]
ATTRIBUTION = "attribution"  # evaluations may save it, for figures and metrics
CLASSIFICATION_FORM = "elevater"
CLASSIFICATION_PREFIX = f"test/{CLASSIFICATION_FORM}/"  # any data set of images and classes may follow
IN_TREES = [name for tree in TREES for name in names_in(tree)]
SENSES = (*GROUP_SENSES, *TRIPLETS, *COMPLEXITIES, *RECALLS, *CORRELATIONS)
METRICS = dict.fromkeys(f"test/{name}" for name in (*IN_TREES, *SENSES, *DECLARED, *PLAIN))  # some are in two lists
SENSES_OF = {"group": ("text", "image"), "triplet": TRIPLET_SENSES}  # of a sub-task, by its query
TRAINING = "recompose.tracks.vlc.training"
EVALUATION = "recompose.tracks.vlc.evaluation"
ATTRIBUTION_CODE = "recompose.tracks.vlc.attribution.attribute"  # of evaluations that save attribution
FIGURES = "recompose.tracks.vlc.figures"


class VLC(Track):
    """Matching of images and captions that differ in composition alone."""

    name = "vlc"
    form = FORM
    headline = "test/comp"
    compared: ClassVar = {
        "Comp": "test/comp",
        "ZS": f"test/{ZS.name}",
        "I2T Ret": f"test/{I2T_RET.name}",
        "T2I Ret": f"test/{T2I_RET.name}",
    }
    tables: ClassVar = {
        "benchmarks": "recompose.tracks.vlc.tables.benchmarks:benchmarks",
        "categories": "recompose.tracks.vlc.tables.categories:categories",
    }
    figures: ClassVar = {
        "holistic": f"{FIGURES}.holistic:draw_holistic",
        "trajectories": f"{FIGURES}.trajectories:draw_trajectories",
        "retrieval-examples": f"{FIGURES}.retrieval:draw_retrieval",
        "hard-negatives": f"{FIGURES}.negatives:draw_negatives",
        "attribution-scores": f"{FIGURES}.attribution_distributions:draw_scores",
        "composition-similarity": f"{FIGURES}.attribution_distributions:draw_similarity",
        "cumulative-accuracy": f"{FIGURES}.cumulative:draw_cumulative",
        "attribution-maps": f"{FIGURES}.attribution_maps:draw_maps",
    }
    savable: ClassVar = ("embeddings", ATTRIBUTION)
    samples = "recompose.tracks.vlc.samples:samples"
    expectations = (Above("fine-tuning raises Comp", headline, ("clip-ft",), than="clip"),)
    methods = METHODS
    adapters: Mapping[str, CaptionAdapter] = ADAPTERS
    adapter_class, dataset_section = CaptionAdapter, Corpus
    training, evaluation = TRAINING, EVALUATION
    metric_code = ("recompose.tracks.vlc.suites.metric_values",)

    def plan(self, params: Params, planner: Planner, variants: Mapping[str, Variant]) -> TrackPlan:
        return _CaptionRuns.of(self, params, planner, variants).plan()

    def data_fields(self) -> dict[str, list[DataAdapter]]:
        kinds = {"datasets": "corpus", "suites": "suites"}
        return {
            field: [adapter for adapter in self.adapters.values() if adapter.kind == kind]
            for field, kind in kinds.items()
        }

    def suite_adapter(self, module: str, name: str, subtasks: Mapping[str, tuple[str, str]]) -> DataAdapter:
        if name in RESERVED:
            raise ValueError(f"{name!r} exists already; choose another name")
        return suite_adapter(module, name, subtasks)

    @property
    def own_queries(self) -> dict[str, str]:
        """The query of each sub-task of plugins' forms of suites."""
        return {task: query for adapter in self.adapters.values() for task, (query, _) in adapter.rules.items()}

    @cached_property
    def known_metrics(self) -> dict[str, None]:
        """The metrics of suites under their published names, and of plugins' forms."""
        own = (leaf for task, query in self.own_queries.items() for leaf in (task, *_senses(task, query)))
        return METRICS | dict.fromkeys(f"test/{leaf}" for leaf in own)

    def declared_suites(self, params: Params) -> Mapping[str, Section]:
        section = params.tracks[self.name]
        assert isinstance(section, Vlc)
        return section.suites

    def parts_of_suite(self, suite: str, params: Params) -> list[str]:
        entry = self.declared_suites(params).get(suite)
        start = f"test/{entry.adapter if isinstance(entry, PublishedSuite) else suite}/"
        return [f"{suite}/{name.removeprefix(start)}" for name in self.known_metrics if name.startswith(start)]

    def root(self, recipe: Recipe, data: Path) -> Path:
        return data / self.name if self._is_published_suite(recipe) else super().root(recipe, data)

    def mark(self, recipe: Recipe, data: Path) -> Path:
        root = self.root(recipe, data)
        return root / str(recipe.document["folder"]) if self._is_published_suite(recipe) else root

    def _is_published_suite(self, recipe: Recipe) -> bool:
        """Return True for a published suite: all of these share one folder."""
        return self.adapters[recipe.document["adapter"]].kind == "suites" and not self.is_synthetic(recipe)

    def acquire(self, recipe: Recipe, params: Params, data: Path) -> Path:
        from recompose.tracks.vlc.data.acquire import acquire

        section = params.tracks[self.name]
        assert isinstance(section, Vlc)
        entries = section.suites if self.adapters[recipe.document["adapter"]].kind == "suites" else section.datasets
        return acquire(recipe, entries[recipe.name], data, self.root(recipe, data), self.adapters)

    def index(self, recipe: Recipe, root: Path, folder: Path) -> list[str]:
        from recompose.tracks.vlc.data.acquire import write_index

        return write_index(recipe, root, folder, self.adapters)

    def pictures(self, index: Path) -> "list[Picture]":
        from recompose.tracks.vlc.data.index import pictures

        return pictures(index)

    def metrics(self, evaluation: Path, needs: Mapping[str, Path]) -> dict[str, float]:
        from recompose.tracks.vlc.suites.metric_values import read_metrics

        return read_metrics(needs, evaluation)

    def metric(self, name: str) -> Metric:
        if not (name in self.known_metrics or name.startswith(CLASSIFICATION_PREFIX) or self._is_own(name)):
            raise KeyError(name)
        return ATTRIBUTION_SCORE if name.removeprefix("test/") in PLAIN else ACCURACY

    def metric_names(self) -> Iterable[str]:
        return self.known_metrics

    def check_metric(self, metric: str, params: Params) -> None:
        super().check_metric(metric, params)
        if metric in self.plugin_metrics:
            return
        section = params.tracks[self.name]
        assert isinstance(section, Vlc)
        if not self._is_own(metric):
            return
        if (suite := _suite_of(metric)) not in section.suites:
            message = f"there is no suite '{suite}' for the metric '{metric}'{nearest(metric, self.known_metrics)}"
            raise PlanError(message, code="unknown-metric", place=metric)
        form, part = section.suites[suite].adapter, metric.removeprefix(f"test/{suite}")
        # the data sets of a suite in ELEVATER's form are its own, and it has a mean over them
        if form != CLASSIFICATION_FORM and f"test/{form}{part}" not in self.known_metrics:
            near = nearest(metric.removeprefix("test/"), self.parts_of_suite(suite, params))
            message = f"the suite '{suite}' has no metric '{metric}'{near}"
            raise PlanError(message, code="unknown-metric", place=metric)

    def _is_own(self, metric: str) -> bool:
        """Return whether a metric is that of a suite under a name of your own: a published one has it, too."""
        suite = _suite_of(metric)
        part = metric.removeprefix(f"test/{suite}")
        forms = (name for name, adapter in self.adapters.items() if adapter.kind == "suites")
        is_named_so = metric.startswith("test/") and suite not in RESERVED
        return is_named_so and any(f"test/{form}{part}" in self.known_metrics for form in forms)

    def size(self, recipe: Recipe, index: Path) -> dict[str, int]:
        if index.exists():
            from recompose.tracks.vlc.data.index import size

            if counted := size(index):
                return counted
        synthetic = recipe.document.get("images")  # of a corpus, one for each caption
        return {"train": synthetic} if isinstance(synthetic, int) else published_sizes(self.adapters, recipe.document)


def _senses(task: str, query: str) -> list[str]:
    return [f"{task}/{sense}" for sense in SENSES_OF.get(query, ())]


def _suite_of(metric: str) -> str:
    return metric.removeprefix("test/").split("/")[0]


@dataclass(frozen=True)
class _CaptionRuns(Runs):
    """The planner of the track's runs and evaluations."""

    section: Vlc
    choice: VlcChoice
    adapters: Mapping[str, CaptionAdapter]

    def backbone_name(self, variant: Variant) -> str | None:
        return self.choice.backbones()[variant.backbone]

    def evaluation(self, name: str, variant: Variant, data: Recipe, seed: int) -> Recipe:
        entry = self.methods[variant.method]
        document = {
            "class": entry.class_path,
            "settings": self.settings(name, variant, data).document("training"),
            "threads": self.params.chosen.trainer.threads,
            "save": list(variant.save),
        }
        attributed = ATTRIBUTION in variant.save
        needs = {"backbone": self._backbone(variant), **self._suites(seed, attributed)}
        if variant.method != UNTRAINED:
            needs["run"] = self.run_of(name, variant, data, seed)
        code = fingerprint([*entry.modules, EVALUATION, *[ATTRIBUTION_CODE] * attributed])
        return self.recipe("evaluations", name, variant, data, seed, document, needs, code)

    def run(self, name: str, variant: Variant, data: Recipe, seed: int) -> Recipe:
        pixels = self.planner.pixels(data, self.choice.image_size)
        needs = {"data": data, "pixels": pixels, "backbone": self._backbone(variant)}
        return self.trained_run(name, variant, data, seed, self.settings(name, variant, data), needs, TRAINING)

    def _backbone(self, variant: Variant) -> Recipe:
        return self.planner.backbone(str(self.backbone_name(variant)))

    def _suites(self, seed: int, attributed: bool) -> dict[str, Recipe]:
        """Return the suites of an evaluation and their pixels; synthetic suites are those of the seed's replicate.

        Attribution is of ARO: where a profile has ARO as a suite of its own, nothing else is encoded for it.
        """
        needs: dict[str, Recipe] = {}
        names = [ARO.name] if attributed and ARO.name in self.choice.suites else self.choice.suites
        for name in names:
            suite = self._suite(name, seed)
            needs |= {f"suites-{name}": suite, f"pixels-{name}": self.planner.pixels(suite, self.choice.image_size)}
        return needs

    def _suite(self, name: str, seed: int) -> Recipe:
        """Return the recipe of suites; a published one's document holds what it is called and where it lies."""
        section = self.section.suites[name]
        recipe = data_recipe(self.track, name, section, self.adapters[section.adapter], seed)
        if not isinstance(section, PublishedSuite):
            return recipe
        document = {**recipe.document, "suite": name, "folder": section.folder or name}
        if rules := self.adapters[section.adapter].rules:  # that for ties decides the scores of a sub-task
            start = f"{section.adapter}/"
            document["subtasks"] = {task.removeprefix(start): list(rule) for task, rule in rules.items()}
        return replace(recipe, document=document)
