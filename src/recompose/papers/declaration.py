"""What a paper's folder declares: its artifacts, and what it printed in them."""

import csv
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, model_validator

FOLDER = Path(__file__).parent
PAPERS = tuple(sorted(path.parent.name for path in FOLDER.glob("*/paper.yaml")))
# column of a table -> name in a run's metrics
METRICS = {"S": "seen", "U": "unseen", "H": "harmonic_mean", "AUC": "auc"}


class Section(BaseModel):
    """A part of paper.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Flag(Section):
    """A printed value that is wrong."""

    row: str
    column: str
    correct: str
    why: str


class Variant(Section):
    """A method with some settings changed: the row of an ablation, the point of a sweep."""

    method: str
    settings: dict[str, Any] = {}
    datasets: list[str]  # on which the paper shows it, and the drawn ones that stand for them
    backbone: Literal["main", "other"] = "main"  # of the two that a profile names
    evaluates: str | None = (
        None  # the run of another method or variant, with the same seed; scoring settings alone may differ
    )
    keeps_embeddings: bool = False  # of test images, for figures
    every_seed: bool = False  # run with all seeds of the profile, in place of those of variants


class View(Section):
    """One way to measure the accuracies of a table."""

    heading: str
    world: Literal["closed", "open", "feasible", "feasible-released"]
    sweep: Literal["dense", "field"] = "dense"
    bias: Literal["unbiased", "balanced"] = (
        "unbiased"  # at which groups of pairs are counted: none, or that of the best H
    )


Measure = Literal["S", "U", "H", "AUC", "head", "medium", "tail", "seen group", "unseen group", "test seconds"]


class Gain(Section):
    """What one method or variant has over another."""

    higher: str
    lower: str


class Claim(Section):
    """A sentence that a paper draws from an artifact, as a difference that has to be above zero."""

    sentence: str
    artifact: str
    measure: Measure = "AUC"
    world: Literal["closed", "feasible"] = "closed"
    higher: str  # a method or a variant
    lower: list[str]  # each of which it has to beat
    beyond: Measure | None = None  # the gain has to be larger than that in another measure
    gain: Gain | None = None  # or larger than that of others

    @property
    def methods(self) -> list[str]:
        """The methods and variants that it compares."""
        others = [self.gain.higher, self.gain.lower] if self.gain else []
        return list(dict.fromkeys([self.higher, *self.lower, *others]))


TableKind = Literal["statistics", "settings", "accuracy", "costs", "frequencies", "groups", "claims"]
FigureKind = Literal[
    "curves",  # seen over unseen accuracy
    "sweep",  # a metric over a setting
    "prototypes",  # prototypes of pairs on a map: semantic, visual, both
    "samples",  # test images and prototypes on one map
    "training",  # test images and visual prototypes on a map, before and after training
    "predictions",  # test images and the pairs predicted for them
    "retrieval",  # the images nearest to prototypes
    "swapping",  # the images nearest to features composed of two others'
]
Kind = Literal[TableKind, FigureKind]
WITH_VIEWS = ("accuracy", "groups", "curves", "sweep")


class Artifact(Section):
    """A table or a figure."""

    kind: Kind
    caption: str
    note: str = ""
    x_label: str = ""  # of a sweep, whose rows are numbers
    metrics: list[Literal["S", "U", "H", "AUC"]] = ["AUC"]  # of a sweep
    measured: dict[str, str] = {}  # row -> method or variant; of settings, row -> setting
    of: str = ""  # of settings, whose they are
    views: dict[str, View] = {}  # of accuracies and curves; the first one is the one to look at
    flags: list[Flag] = []

    @model_validator(mode="after")
    def _accuracies_have_views(self) -> "Artifact":
        if (self.kind in WITH_VIEWS) != bool(self.views):
            raise ValueError(f"of artifacts {', '.join(WITH_VIEWS)} have views, at least one, and others have none")
        return self

    @property
    def is_figure(self) -> bool:
        """Whether it is drawn."""
        return self.kind in get_args(FigureKind)

    @property
    def world(self) -> str:
        """The world of the first view."""
        return next(iter(self.views.values())).world


class Paper(Section):
    """A paper."""

    name: str
    title: str
    authors: str
    venue: str
    track: Literal["czsl"]
    datasets: dict[str, str]
    variants: dict[str, Variant] = {}
    artifacts: dict[str, Artifact]
    claims: dict[str, Claim] = {}

    @property
    def methods(self) -> set[str]:
        """The methods and variants behind its artifacts, and its variants."""
        return set(self.variants).union(*map(self.methods_of, self.artifacts))

    def methods_of(self, artifact: str) -> set[str]:
        """The methods and variants behind an artifact."""
        section = self.artifacts[artifact]
        if section.kind == "claims":
            return {method for claim in self.claims.values() for method in claim.methods}
        return {section.of} if section.kind == "settings" else set(section.measured.values())

    def reported(self, artifact: str) -> list[dict[str, str]]:
        """The rows that the paper printed in a table, as printed: column -> text. Of claims, the sentences."""
        if self.artifacts[artifact].kind == "claims":
            return [
                {"row": name, "artifact": claim.artifact, "claim": claim.sentence}
                for name, claim in self.claims.items()
            ]
        with (FOLDER / self.name / "reported" / f"{artifact}.csv").open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


@cache
def load_paper(name: str) -> Paper:
    """The declaration of a paper: its file is read once."""
    text = (FOLDER / name / "paper.yaml").read_text(encoding="utf-8")
    return Paper(name=name, **yaml.safe_load(text))


def declared_variants() -> dict[str, Variant]:
    """The variants of all papers."""
    return {name: variant for paper in PAPERS for name, variant in load_paper(paper).variants.items()}


def artifact_files(name: str, artifact: Artifact) -> list[str]:
    """The files of an artifact, without its paper's folder."""
    endings = ("svg", "png", "csv") if artifact.is_figure else ("csv", "md", "tex")
    return [*(f"{name}.{ending}" for ending in endings), f"{name}.lineage.json"]
