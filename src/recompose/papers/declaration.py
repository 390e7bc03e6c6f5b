"""What a paper's folder declares: its artifacts, its claims, and what it printed."""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from recompose.errors import PlanError

FOLDER = Path(__file__).parent
PAPERS = tuple(sorted(path.parent.name for path in FOLDER.glob("*/paper.yaml")))
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same, ten times as fast, where PyYAML was built with it
CLAIMS = "claims"  # the kind of table that puts a paper's claims to the test
FOREST = "forest"  # the kind of figure that draws them


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
    backbone: Literal["main", "other", "other-pretraining"] = "main"  # of those that a profile names
    reuse_runs_of: str | None = (
        None  # the method or variant whose runs are scored with these settings, in place of runs of its own
    )
    save: list[str] = []  # besides scores, for figures and metrics: of what its track says can be kept
    every_seed: bool = False  # run with all seeds of the profile, in place of those of variants
    interpretation: bool = (
        False  # another way to read what the paper leaves open: run with the profile's interpretation_seeds
    )


class View(Section):
    """One way to measure what a table or a figure shows."""

    heading: str
    columns: dict[str, str] = {}  # column -> metric
    of: str = ""  # where the names of metrics begin, for kinds that know how they go on
    baseline: str = ""  # the method whose values are taken off those of its variants, seed by seed
    says: dict[str, dict[str, str]] = {}  # row -> source -> what that says of it, in words; nothing is measured

    @model_validator(mode="after")
    def _says_or_metrics(self) -> "View":
        if self.says and (self.columns or self.of or self.baseline):
            raise ValueError("a view says what sources say, or metrics, not both")
        return self


class Headline(Section):
    """The number that stands for a paper: what its own method reaches, in the track's first metric."""

    artifact: str
    method: str


class Gain(Section):
    """What one method or variant has over another."""

    higher: str
    lower: str


class Claim(Section):
    """A sentence that a paper draws from an artifact, as a difference that has to be above zero, or negligible."""

    sentence: str
    artifact: str
    metric: str
    higher: str  # a method or a variant
    lower: list[str] = []  # methods and variants, each of which it has to beat
    lower_metrics: list[str] = []  # in their place other metrics of its own, each of which the metric has to exceed
    beyond: str | None = None  # the gain has to be larger than that in another metric
    gain: Gain | None = None  # or larger than that of others
    within: float | None = Field(default=None, gt=0)  # what counts as negligible, in the metric's unit

    @model_validator(mode="after")
    def _methods_or_metrics(self) -> "Claim":
        if bool(self.lower) == bool(self.lower_metrics):
            raise ValueError("a claim compares with methods (lower) or with other metrics (lower_metrics)")
        if self.lower_metrics and (self.beyond or self.gain):
            raise ValueError("a claim of two metrics of one method has no beyond and no gain")
        return self

    @property
    def methods(self) -> list[str]:
        """The methods and variants that it compares."""
        others = [self.gain.higher, self.gain.lower] if self.gain else []
        return list(dict.fromkeys([self.higher, *self.lower, *others]))

    @property
    def metrics(self) -> list[str]:
        """The metrics that it compares them in."""
        return [self.metric, *self.lower_metrics, *([self.beyond] if self.beyond else [])]


class Artifact(Section):
    """A table or a figure.

    Kinds of tables of the core: ``metrics`` (rows are methods or variants, columns metrics), ``intervals`` (the same,
    with the ends of confidence intervals), ``comparisons`` (every two rows, in one metric), ``settings``,
    ``statistics``, ``claims``; of figures: ``sweep``, ``forest``. Tracks add their own.
    """

    kind: str
    caption: str
    note: str = ""
    x_label: str = ""  # of a sweep, whose rows are numbers
    rows: dict[str, str] = {}  # row -> method or variant; of settings, row -> setting, see ``setting_of``
    of: str = ""  # of settings, whose they are
    columns: dict[str, str] = {}  # column -> metric, or statistic, where there is one way to measure alone
    views: dict[str, View] = {}  # several ways; the first one is the one to look at
    flags: list[Flag] = []

    @model_validator(mode="after")
    def _columns_or_views(self) -> "Artifact":
        if self.columns and self.views:
            raise ValueError("an artifact has columns, or views that have them, not both")
        lacking = {view.baseline for view in self.views.values()} - {"", *self.rows.values()}
        if lacking:
            raise ValueError(f"a view is against {', '.join(sorted(lacking))}, which is no row of the artifact")
        unknown = {row for view in self.views.values() for row in view.says} - self.rows.keys()
        if unknown:
            raise ValueError(f"a view says something of {', '.join(sorted(unknown))}, which is no row of the artifact")
        return self

    @property
    def all_views(self) -> Mapping[str, View]:
        """Its views; the only way to measure has no name."""
        return self.views or {"": View(heading="Measured here", columns=self.columns)}

    def setting_of(self, row: str) -> tuple[str, str]:
        """Of settings, whose a row shows, and which: ``of``'s, or another method's or variant's that stands before it.

        Example:
            >>> table = Artifact(kind="settings", caption="", of="m", rows={"A": "lr", "B": "m-lora:lora.rank"})
            >>> table.setting_of("A"), table.setting_of("B")
            (('m', 'lr'), ('m-lora', 'lora.rank'))
        """
        whose, _, setting = self.rows[row].rpartition(":")
        return whose or self.of, setting


class Paper(Section):
    """A paper."""

    name: str
    title: str
    authors: str
    venue: str
    track: str
    datasets: dict[str, str]
    headline: Headline | None = None  # the number that stands for the paper
    variants: dict[str, Variant] = {}
    artifacts: dict[str, Artifact]
    claims: dict[str, Claim] = {}

    @property
    def first_artifact(self) -> str:
        """The name of the artifact that is made before the others: the table of the headline."""
        return self.headline.artifact if self.headline else next(iter(self.artifacts))

    @property
    def methods(self) -> set[str]:
        """The methods and variants behind its artifacts, and its variants."""
        return set(self.variants).union(*map(self.methods_of, self.artifacts))

    def methods_of(self, artifact: str) -> set[str]:
        """The methods and variants behind an artifact."""
        section = self.artifacts[artifact]
        if section.kind in (CLAIMS, FOREST):
            return {method for claim in self.claims.values() for method in claim.methods}
        if section.kind == "settings":
            return {section.setting_of(row)[0] for row in section.rows}
        return set(section.rows.values())

    def reported(self, artifact: str) -> list[dict[str, str]]:
        """The rows that the paper printed in a table, as printed: column -> text. Of claims, the sentences."""
        if self.artifacts[artifact].kind == CLAIMS:
            return [
                {"row": name, "artifact": claim.artifact, "claim": claim.sentence}
                for name, claim in self.claims.items()
            ]
        path = FOLDER / self.name / "reported" / f"{artifact}.csv"
        if not path.exists():
            return []
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


@cache
def load_paper(name: str) -> Paper:
    """The declaration of a paper: its file is read once.

    Raises:
        PlanError: it is no YAML, or says what cannot be declared.
    """
    place = f"papers/{name}/paper.yaml"
    try:
        document = yaml.load((FOLDER / name / "paper.yaml").read_text(encoding="utf-8"), LOADER)
    except yaml.YAMLError as error:
        raise PlanError(f"{place} is no YAML: {error}") from None
    if not isinstance(document, dict):
        raise PlanError(f"{place} holds no sections with names")
    try:
        return Paper.model_validate({**document, "name": name})
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        raise PlanError("\n".join([f"{place} is wrong:", *lines])) from None


def all_papers() -> list[Paper]:
    """The declarations of all papers."""
    return [load_paper(name) for name in PAPERS]


def declared_variants(track: str) -> dict[str, Variant]:
    """The variants of all papers of a track."""
    papers = (paper for paper in all_papers() if paper.track == track)
    return {name: variant for paper in papers for name, variant in paper.variants.items()}
