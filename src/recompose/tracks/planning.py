"""The plan of a track's runs and evaluations: methods and variants, on each data set, with each seed."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from recompose.errors import PlanError
from recompose.files import Document
from recompose.papers.declaration import Paper, Variant
from recompose.params.method import MethodSettings
from recompose.params.mistakes import unknown_name
from recompose.params.schema import Params
from recompose.params.sections import Archive, GivenGrids, Section
from recompose.params.track import TrackChoice, TrackSection
from recompose.recipes.plan import Planner, Recipe, TrackPlan
from recompose.tracks.catalogue import DataAdapter

if TYPE_CHECKING:
    from recompose.tracks.track import Track


def data_recipe(track: "Track", name: str, section: Section, adapter: DataAdapter, seed: int) -> Recipe:
    """Return the recipe of a data set, or of a synthetic one's replicate of this seed. The places of a file do not
    change its content.
    """
    values = {key: getattr(section, key) for key in type(section).model_fields}
    values |= {key: getattr(section, key) for key in ("places", "files") if hasattr(section, key)}
    content = {
        key: _content(value) for key, value in values.items() if value is not None and not isinstance(value, GivenGrids)
    }
    labels: Document = {"dataset": name}
    if adapter.synthetic:
        content["seed"] += seed
        labels["world"] = seed
    made_by = {"make": "recompose.data.content:make_data", **track.data_steps(adapter), "reader": adapter.module}
    made_by |= {f"part-{number}": module for number, module in enumerate(adapter.companions)}
    urls = {archive.file: archive.urls for value in values.values() for archive in _archives(value)}
    sources: Document = {"urls": urls} if urls else {}  # a drawn corpus may name what parses its captions
    if "archives" in content:
        sources = {"folder": name, "urls": urls}
    return Recipe.of("data", name, made_by, content, track=track.name, labels=labels, sources=sources)


def _archives(value: Any) -> list[Archive]:
    """Return the published files in a value of a data set's section."""
    values = value if isinstance(value, list) else [*value.values()] if isinstance(value, dict) else [value]
    return [each for each in values if isinstance(each, Archive)]


def _is_synonym(variant: Variant) -> bool:
    """Return true for a method under another name. Repeating it costs nothing, as the method has every seed."""
    return variant.backbone == "main" and not (variant.settings or variant.reuse_runs_of or variant.save)


def _content(value: Any) -> Any:
    """Return the content that a value of a data set's section stands for: digests of files, without their places."""
    if isinstance(value, Archive):
        return {value.file: value.sha256}
    if isinstance(value, list) and all(isinstance(item, Archive) for item in value):
        return {archive.file: archive.sha256 for archive in value}
    if isinstance(value, dict):
        return {key: _content(item) for key, item in value.items()}
    return value.model_dump() if isinstance(value, Section) else value


class Case(NamedTuple):
    """A method or a variant on a data set, or on its replicate of a seed, with this seed."""

    name: str
    variant: Variant
    data: Recipe
    seed: int
    settings: MethodSettings  # with None for unused parts
    document: Document  # the settings as plain values; all seeds share them

    @property
    def title(self) -> str:
        """What people call its run and its evaluation."""
        return f"{self.name} on {self.data.name}, seed {self.seed}"

    @property
    def labels(self) -> Document:
        """What it is, for people."""
        return {"name": self.name, "method": self.variant.method, "dataset": self.data.name, "seed": self.seed}


@dataclass(frozen=True)
class Runs(ABC):
    """A planner of a track's runs and evaluations."""

    track: "Track"
    params: Params
    section: TrackSection
    choice: TrackChoice
    planner: Planner
    variants: Mapping[str, Variant]

    @classmethod
    def of(cls, track: "Track", params: Params, planner: Planner, variants: Mapping[str, Variant]) -> Self:
        """Return the planner of a track, for the chosen profile."""
        section, choice = params.tracks[track.name], params.chosen.tracks[track.name]
        assert isinstance(section, TrackSection) and isinstance(choice, TrackChoice)
        return cls(track, params, section, choice, planner, variants)

    @abstractmethod
    def run_needs(self, case: Case) -> dict[str, Recipe]:
        """Return the recipes that a run needs."""

    def trains_by_scoring(self, settings: MethodSettings) -> bool:
        """Return whether training depends on the settings of scoring, too."""
        return False

    @abstractmethod
    def evaluation(self, case: Case) -> Recipe:
        """Return the evaluation of a case."""

    def backbone_name(self, variant: Variant) -> str | None:
        """Return the backbone of a variant, or None if the profile lacks it."""
        return self.choice.backbone if variant.backbone == "main" else None

    def plan(self) -> TrackPlan:
        """Return the track's part of the plan of the chosen profile.

        Raises:
            ParamsError: the profile leaves out what is not declared.
            PlanError: a variant reuses runs that differ from its own.
        """
        evaluations = {
            (name, dataset): tuple(map(self.evaluation, self.cases(name, variant, dataset, seeds)))
            for dataset in self.choice.datasets
            for name, variant in self.names()
            if dataset in variant.datasets and (seeds := self.seeds(name, variant, dataset))
        }
        planned = {name for name, _ in evaluations}
        methods = tuple(name for name in self.choice.methods if name in planned)
        first = {name: self.data(name, self.choice.seeds[0]) for name in self.choice.datasets}
        return TrackPlan(first, evaluations, methods, self.choice.papers)

    def cases(self, name: str, variant: Variant, dataset: str, seeds: Iterable[int]) -> Iterator[Case]:
        """Yield a method or a variant on a data set, with each of these seeds.

        Raises:
            ParamsError: its settings do not fit its method.
        """
        settings = self.section.settings(variant.method, dataset, variant.settings).active()
        document = settings.document()
        for seed in seeds:
            yield Case(name, variant, self.data(dataset, seed), seed, settings, document)

    def data(self, name: str, seed: int) -> Recipe:
        """Return the recipe of a data set, or of a synthetic one's replicate of this seed."""
        return data_recipe(self.track, name, self.section.datasets[name], self._adapter(name), seed)

    def _adapter(self, dataset: str) -> DataAdapter:
        return self.track.adapters[self.section.datasets[dataset].adapter]

    def names(self) -> Iterator[tuple[str, Variant]]:
        """Yield the profile's methods, then those variants of its papers whose method and backbone it has."""
        self._check_names()
        plain = {name: self.plain(name) for name in self.choice.methods}
        asked = {name for paper in self._chosen_papers for name in paper.variants}
        unasked = {name for paper in self.track.papers for name in paper.variants} - asked
        for name, variant in (plain | dict(self.variants)).items():
            is_left_out = name in unasked or name in self.choice.leave_out
            is_run = variant.method in plain or variant.compared
            if is_run and self.backbone_name(variant) and not is_left_out:
                yield name, variant

    @property
    def _chosen_papers(self) -> list[Paper]:
        chosen = self.choice.papers
        return [paper for paper in self.track.papers if chosen is None or paper.name in chosen]

    def _check_names(self) -> None:
        """Check that the profile names papers of the track, and leaves out declared variants.

        Raises:
            ParamsError: a paper is unknown or another track's, or a variant is undeclared.
        """
        papers = [paper.name for paper in self.track.papers]
        problems = [
            problem.inside("profiles", self.params.profile, self.track.name)
            for key, names, known in (
                ("papers", self.choice.papers or (), papers),
                ("leave_out", self.choice.leave_out, self.variants),
            )
            for number, name in enumerate(names)
            for problem in unknown_name((key, number), name, known)
        ]
        if problems:
            raise self.params.error(problems)

    def plain(self, method: str) -> Variant:
        """Return a method as params.yaml has it."""
        return Variant(method=method, datasets=list(self.choice.datasets))

    def seeds(self, name: str, variant: Variant, dataset: str) -> list[int]:
        """Return the seeds of a method or a variant on a data set: one where all give the same numbers, none of an
        ablation that the profile does not run.
        """
        choice = self.choice
        if self._is_repeated(name, variant):
            seeds = choice.seeds
        else:
            of_readings = choice.interpretation_seeds if variant.interpretation else None
            seeds = [seed for seed in of_readings or () if seed in choice.seeds] or choice.variant_seeds or []
        if not (self.track.methods[variant.method].needs_seed or self._adapter(dataset).synthetic):
            return [0] if seeds else []
        return list(seeds)

    def _is_repeated(self, name: str, variant: Variant) -> bool:
        """Return whether a method or variant runs with the seeds of methods, rather than with those of ablations: in a
        paper's headline table, it would have all rows take those.
        """
        if variant.compared or name in self.choice.methods:
            return True
        is_in_headline = any(name in paper.methods_of(paper.first_artifact) for paper in self._chosen_papers)
        return variant.every_seed and (self.choice.repeat_variants or _is_synonym(variant) or is_in_headline)

    def reused_run(self, case: Case, source: str) -> Recipe:
        """Return the run of another method or variant, which the evaluation of a case scores.

        Raises:
            PlanError: it differs in settings or in its backbone from the run of the case.
        """
        other = self.variants.get(source) or self.plain(source)
        (reused,) = map(self.run, self.cases(source, other, case.data.name, [case.seed]))
        if self.run(case).digest != reused.digest:
            message = f"{case.name} reuses runs of {source}, but differs from it in more than scoring"
            raise PlanError(f"{message}; remove reuse_runs_of", code="other-runs", place=case.name)
        return reused

    def run(self, case: Case) -> Recipe:
        """Return the run of a case."""
        entry, chosen = self.track.methods[case.variant.method], self.params.chosen.trainer
        training = dict(case.document["training"])
        precision = training.pop("precision", None) or chosen.precision
        values = {**case.document, "training": training}
        if not self.trains_by_scoring(case.settings):
            values.pop("scoring", None)
        document = {
            "class": entry.class_path,
            "settings": values,
            "seed": case.seed,
            "trainer": {**self.planner.trainer("devices"), "precision": precision},
        }
        made_by = {"make": f"{self.track.training}:train", **entry.parts}
        about: Document = {"track": self.track.name, "labels": case.labels}
        return Recipe.of("runs", case.title, made_by, document, needs=self.run_needs(case), **about)

    def scored(self, case: Case, needs: dict[str, Recipe], values: Document, *companions: str) -> Recipe:
        """Return the evaluation of a case: its run, if it is trained, and how it is scored.

        Args:
            case: a method or a variant, with its data and seed.
            needs: the recipes that it needs besides the run.
            values: of its document that are the track's own.
            companions: functions or modules that carry it out, too.
        """
        entry = self.track.methods[case.variant.method]
        settings = {name: value for name, value in case.document.items() if name != "training"}
        document = {"class": entry.class_path, "settings": settings, **values, "save": list(case.variant.save)}
        if case.settings.training_class:
            source = case.variant.reuse_runs_of
            needs["run"] = self.reused_run(case, source) if source else self.run(case)
        parts = {f"part-{number}": module for number, module in enumerate(companions)}
        made_by = {"make": f"{self.track.evaluation}:evaluate", **entry.parts, **parts}
        about: Document = {"track": self.track.name, "labels": case.labels}
        return Recipe.of("evaluations", case.title, made_by, document, needs=needs, **about)
