"""What a paper's folder declares: its artifacts, and what it printed in them."""

import csv
from pathlib import Path
from typing import Any, Literal

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
    settings: dict[str, Any]
    datasets: list[str]  # on which the paper shows it, and the drawn ones that stand for them


class View(Section):
    """One way to measure the accuracies of a table."""

    heading: str
    world: Literal["closed", "open", "feasible", "feasible-released"]
    sweep: Literal["dense", "field"] = "dense"


class Artifact(Section):
    """A table or a figure."""

    kind: Literal["statistics", "accuracy", "curves", "sweep"]
    caption: str
    note: str = ""
    x_label: str = ""  # of a sweep, whose rows are numbers
    measured: dict[str, str] = {}  # row -> method or variant
    views: dict[str, View] = {}  # of accuracies and curves; the first one is the one to look at
    flags: list[Flag] = []

    @model_validator(mode="after")
    def _accuracies_have_views(self) -> "Artifact":
        if (self.kind == "statistics") == bool(self.views):
            raise ValueError("accuracies and curves need at least one view, statistics have none")
        return self

    @property
    def is_figure(self) -> bool:
        """Whether it is drawn."""
        return self.kind in ("curves", "sweep")

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

    def reported(self, artifact: str) -> list[dict[str, str]]:
        """The rows that the paper printed in a table, as printed: column -> text."""
        with (FOLDER / self.name / "reported" / f"{artifact}.csv").open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


def load_paper(name: str) -> Paper:
    """The declaration of a paper."""
    text = (FOLDER / name / "paper.yaml").read_text(encoding="utf-8")
    return Paper(name=name, **yaml.safe_load(text))


def declared_variants() -> dict[str, Variant]:
    """The variants of all papers."""
    return {name: variant for paper in PAPERS for name, variant in load_paper(paper).variants.items()}


def artifact_files(name: str, artifact: Artifact) -> list[str]:
    """The files of an artifact, without its paper's folder."""
    endings = ("svg", "png", "csv") if artifact.is_figure else ("csv", "md", "tex")
    return [*(f"{name}.{ending}" for ending in endings), f"{name}.lineage.json"]
