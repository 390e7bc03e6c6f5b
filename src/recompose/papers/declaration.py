"""The declaration of a paper: its artifacts, its claims, and the values that it printed."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, field_validator, model_validator

from recompose.errors import PlanError
from recompose.files import read_text
from recompose.papers.printed import half_of
from recompose.params.mistakes import Keyed, Problem, UserFile
from recompose.params.sections import Distinct, Name, Positive

FOLDER = Path(__file__).parent
COMPARISONS = "comparisons"  # the folder of comparisons below the root of a project
PAPERS = tuple(sorted(path.parent.name for path in FOLDER.glob("*/paper.yaml")))
DECLARATION = "paper.yaml"
CLAIMS = "claims"  # the kind of table that tests a paper's claims
AGAINST = "against"  # the kind of table that compares rows with a baseline
FOREST = "forest"  # the kind of figure that shows the claims
SWEEP = "sweep"  # the kind of figure whose rows are numbers
PRINTED = re.compile(r"(table|figure)-[0-9]+[a-z]?")  # artifacts of a paper; the other ones are ours
Address = Annotated[str, StringConstraints(pattern=r"^https://[^\s()<>\"']+$")]
PrintedCell = Annotated[list[str], Field(min_length=1, max_length=2)]  # a row and a column, or a row alone
Names = Annotated[list[str], Distinct]
OF_PAPERS = {"authors", "venue", "links", "headline", "artifacts", "claims"}  # what no comparison declares
OF_COMPARISONS = {"methods", "metrics", "suites", "margin"}  # what no paper declares
OneOrMore = Annotated[Names, BeforeValidator(lambda named: [named] if isinstance(named, str) else named)]


class PaperSection(Keyed, BaseModel):  # linters know BaseModel alone
    """A part of paper.yaml."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class Flag(PaperSection):
    """A printed value that is wrong, or that differs from what is printed elsewhere."""

    row: str
    column: str
    correct: str = ""
    elsewhere: str = ""  # another value with its place, where nothing tells which of the two is right
    why: str

    @model_validator(mode="after")
    def _check(self) -> "Flag":
        if bool(self.correct) == bool(self.elsewhere):
            raise ValueError("give either correct or elsewhere")
        return self

    @property
    def text(self) -> str:
        """The right value or the other one, with the reason."""
        if self.correct:
            return f"correct is {self.correct}: {self.why}"
        return f"{self.elsewhere}: {self.why}; which of the two is right is not known"


class Variant(PaperSection):
    """A method with some settings changed: the row of an ablation, the point of a sweep."""

    method: str
    settings: dict[str, Any] = {}
    datasets: Names = []  # those of the paper, and their synthetic substitutes; by default those of a comparison
    backbone: Literal["main", "other", "other-pretraining"] = "main"  # as named by a profile
    reuse_runs_of: str | None = None  # the method or variant whose runs are scored with these settings
    save: list[str] = []  # outputs of the track, besides scores, for figures and metrics
    every_seed: bool = False  # run with all seeds of the profile, not only with those of variants
    interpretation: bool = False  # of what the paper leaves open; run with the profile's interpretation_seeds
    compared: bool = False  # in a comparison: run with all seeds of methods, also where the profile lacks its method


class View(PaperSection):
    """A view of a table or a figure: one way to measure it."""

    heading: str
    columns: dict[str, str] = {}  # column -> metric
    of: str = ""  # a prefix of names of metrics, for kinds of artifacts that add the endings
    baseline: str = ""  # the method whose values are subtracted from those of its variants, seed by seed
    says: dict[str, dict[str, str]] = {}  # row -> source -> its statement in words, for views without metrics

    @model_validator(mode="after")
    def _says_or_metrics(self) -> "View":
        if self.says and (self.columns or self.of or self.baseline):
            raise ValueError("a view has statements of sources (says) or metrics, not both")
        return self


class Headline(PaperSection):
    """The headline number of a paper: its own method's value of the track's first metric."""

    artifact: str
    method: str


class Gain(PaperSection):
    """The gain of a method or variant over another one."""

    higher: str
    lower: str


class Margin(PaperSection):
    """The smallest difference of interest of a claim, in the metric's unit: half of what the paper prints, or a value
    that follows from its words.
    """

    half_of: list[PrintedCell] = []  # of the claim's artifact: two or four, see ``papers.printed.half_of``
    value: float = Field(default=0.0, gt=0)  # that of printed cells is computed
    source: str = Field(default="", min_length=1)  # the words that a value follows from

    @model_validator(mode="before")
    @classmethod
    def _cells_or_value(cls, section: Any) -> Any:
        if isinstance(section, dict) and section.keys() not in ({"half_of"}, {"value", "source"}):
            raise ValueError("give either half_of, with its printed cells, or a value with its source")
        return section

    @field_validator("half_of")
    @classmethod
    def _two_or_four(cls, cells: list[PrintedCell]) -> list[PrintedCell]:
        if len(cells) not in (2, 4):
            raise ValueError("half_of has two cells, or four for the difference of two differences")
        return cells


class Claim(PaperSection):
    """A sentence that a paper draws from an artifact, as a difference that must be positive, or negligible."""

    sentence: str
    artifact: str
    metric: str
    higher: str  # a method or a variant
    lower: list[str] = []  # methods and variants; ``higher`` must beat each of them
    lower_metrics: list[str] = []  # other metrics of ``higher``; the metric must exceed each
    beyond: str | None = None  # the gain must exceed the gain in another metric
    gain: Gain | None = None  # the gain must exceed another gain
    margin: Margin
    kept: bool = False  # the sentence says that the difference is negligible, not that it is positive

    @model_validator(mode="after")
    def _methods_or_metrics(self) -> "Claim":
        if bool(self.lower) == bool(self.lower_metrics):
            raise ValueError("a claim compares with methods (lower) or with other metrics (lower_metrics)")
        if self.lower_metrics and (self.beyond or self.gain):
            raise ValueError("a claim of two metrics of one method has no beyond and no gain")
        return self

    @property
    def methods(self) -> list[str]:
        """The methods and variants that the claim compares."""
        gain = [self.gain.higher, self.gain.lower] if self.gain else []
        return list(dict.fromkeys([self.higher, *self.lower, *gain]))

    @property
    def metrics(self) -> list[str]:
        """The metrics of the comparison."""
        return [self.metric, *self.lower_metrics, *([self.beyond] if self.beyond else [])]


class Artifact(PaperSection):
    """A table or a figure.

    The core's kinds are in ``tables/kinds.py``; tracks add their own. In most, rows are methods or variants and columns
    metrics.
    """

    kind: str
    caption: str
    note: str = ""
    x_label: str = ""  # of a sweep, whose rows are numbers
    rows: dict[str, str] = {}  # row -> method or variant; in tables of settings, row -> setting, see ``setting_of``
    means: dict[str, list[str]] = {}  # of a table of metrics: row -> the rows above that it is the mean of
    of: str = ""  # in tables of settings: the method or variant
    columns: dict[str, str] = {}  # column -> metric or statistic, for artifacts with a single view
    views: dict[str, View] = {}  # the first one is the main view
    flags: list[Flag] = []
    shares: bool = False  # the paper prints shares of one where metrics are percentages

    @model_validator(mode="after")
    def _columns_or_views(self) -> "Artifact":
        if self.columns and self.views:
            raise ValueError("an artifact has columns or views, not both")
        absent = {view.baseline for view in self.views.values()} - {"", *self.rows.values()}
        if absent:
            raise ValueError(f"a view has the baseline {', '.join(sorted(absent))}, which is no row of the artifact")
        unknown = {row for view in self.views.values() for row in view.says} - self.rows.keys()
        if unknown:
            raise ValueError(f"a view has statements on {', '.join(sorted(unknown))}, which is no row of the artifact")
        if absent := {row for rows in self.means.values() for row in rows} - self.rows.keys():
            raise ValueError(f"means are over {', '.join(sorted(absent))}, which is no row of the artifact")
        if self.kind == SWEEP:
            _ = [float(row) for row in self.rows]  # a ValueError names what is no number
        if self.means and self.kind != "metrics":
            raise ValueError(f"means are over rows of tables of the kind metrics, not {self.kind}")
        return self

    @property
    def all_views(self) -> Mapping[str, View]:
        """The views by name; a single view of columns has an empty name."""
        return self.views or {"": View(heading="Measured here", columns=self.columns)}

    def setting_of(self, row: str) -> tuple[str, str]:
        """Return the method or variant of a row of a table of settings, by default ``of``, and the setting.

        Example:
            >>> table = Artifact(kind="settings", caption="", of="m", rows={"A": "lr", "B": "m-lora:lora.rank"})
            >>> table.setting_of("A"), table.setting_of("B")
            (('m', 'lr'), ('m-lora', 'lora.rank'))
        """
        method, _, setting = self.rows[row].rpartition(":")
        return method or self.of, setting


class Paper(UserFile, PaperSection):
    """The declaration of a paper; or that of a comparison, a user's own table of methods or variants against others.

    A comparison, ``comparisons/<name>.yaml``, is a paper without authors and printed values. It declares its baseline
    and methods in place of artifacts and claims, which follow from them, see ``papers.comparison``.
    """

    fault: ClassVar = PlanError

    name: str
    source: Path | None = None  # the folder of a plugin's paper
    title: str = ""  # by default the name
    authors: str = ""
    venue: str = ""
    links: dict[str, Address] = {}  # name of a place -> where the paper, its code or weights are published
    track: str
    # data set -> its name in tables; others have their own; a comparison shows these alone, by default all
    datasets: dict[str, str] = {}
    headline: Headline | None = None  # the headline number
    variants: dict[str, Variant] = {}
    artifacts: dict[Name, Artifact] = {}  # names of files, which end at the first dot
    claims: dict[str, Claim] = {}
    # of a comparison
    baseline: OneOrMore = []  # methods or variants, which the other rows are compared with
    methods: Names = []  # and variants, of the track, of its papers or of this file
    metrics: Names | dict[str, str] = []  # names, or label -> name; by default the track's first one
    suites: Names = []  # each is the metric test/<suite>
    margin: Positive | dict[str, Positive] | None = None  # the smallest difference of interest, or one for each label

    @field_validator("datasets", mode="before")
    @classmethod
    def _list_of_names(cls, datasets: Any) -> Any:
        is_names = isinstance(datasets, list) and all(isinstance(name, str) for name in datasets)
        return {name: name for name in datasets} if is_names else datasets

    @model_validator(mode="after")
    def _paper_or_comparison(self) -> "Paper":
        if self.baseline and not self.methods:
            raise ValueError("a comparison has methods, which it compares with its baseline")
        if not (self.baseline or {"title", "artifacts"} <= self.model_fields_set):
            raise ValueError("a paper has a title and artifacts, and a comparison a baseline")
        if needless := self.model_fields_set & (OF_PAPERS if self.baseline else OF_COMPARISONS):
            kind = "comparison" if self.baseline else "paper"
            raise ValueError(f"a {kind} has no {' and no '.join(sorted(needless))}")
        if without := [name for name, variant in self.variants.items() if not (self.baseline or variant.datasets)]:
            raise ValueError(f"variants without data sets: {', '.join(without)}")
        return self

    @property
    def is_comparison(self) -> bool:
        """True where it is the declaration of a comparison."""
        return bool(self.baseline)

    @property
    def compared(self) -> list[str]:
        """The methods and variants of a comparison, the baseline first."""
        return list(dict.fromkeys([*self.baseline, *self.methods]))

    @property
    def reported_heading(self) -> str:
        """The heading of what it prints."""
        return "Declared in the file" if self.is_comparison else "Reported by the paper"

    @property
    def family(self) -> str:
        """Its comparisons that are corrected for each other, in words."""
        if self.is_comparison:
            return "the distinct comparisons of the file on all of its data sets"
        return "the paper's distinct comparisons on the data set"

    @property
    def target(self) -> str:
        """The target of Snakemake that makes its artifacts."""
        return f"{COMPARISONS}/{self.name}" if self.is_comparison else self.name

    @property
    def folder(self) -> Path:
        """The folder of its declaration, of what it printed, and of its notes."""
        return self.source or FOLDER / self.name

    @property
    def file(self) -> str:
        """The file that declares it, for messages."""
        if self.is_comparison:
            return f"{COMPARISONS}/{self.name}.yaml"
        return str(self.source / DECLARATION) if self.source else f"papers/{self.name}/{DECLARATION}"

    @property
    def is_shipped(self) -> bool:
        """True where it is one of this package, not of a plugin or a project."""
        return self.source is None and not self.is_comparison

    @property
    def byline(self) -> str:
        """Its authors and venue, as far as they are declared."""
        if self.is_comparison:
            return f"a comparison with {' and '.join(self.baseline)}, {self.file}"
        return ", ".join(filter(None, (self.authors, self.venue)))

    def benchmarks_among(self, benchmarks: Iterable[str]) -> list[str]:
        """Return the benchmarks that its artifacts show, of those of its track in a profile: all, or those of a
        comparison.
        """
        return [benchmark for benchmark in benchmarks if not self.is_comparison or benchmark in self.datasets]

    def corrected_with(self, benchmark: str, benchmarks: Iterable[str]) -> list[str]:
        """Return the benchmarks whose comparisons are corrected for those on a benchmark: this one alone, or all of a
        comparison.
        """
        return self.benchmarks_among(benchmarks) if self.is_comparison else [benchmark]

    @property
    def first_artifact(self) -> str:
        """The name of the artifact that is made before the others: the table of the headline."""
        return self.headline.artifact if self.headline else next(iter(self.artifacts))

    @property
    def all_methods(self) -> set[str]:
        """The methods and variants of all artifacts, and all declared variants."""
        return set(self.variants).union(*map(self.methods_of, self.artifacts))

    def metrics_of(self, artifact: str) -> set[str]:
        """Return the metrics that an artifact shows, and those of claims that it tests."""
        section = self.artifacts[artifact]
        shown = {
            metric for view in section.all_views.values() for metric in (*view.columns.values(), view.of) if metric
        }
        is_tested = section.kind in (CLAIMS, FOREST, AGAINST)
        return shown.union(*(claim.metrics for claim in self.claims.values() if is_tested))

    @property
    def all_metrics(self) -> set[str]:
        """The metrics of all artifacts and claims."""
        views = (view for artifact in self.artifacts.values() for view in artifact.all_views.values())
        columns = {metric for view in views for metric in view.columns.values()}
        return columns.union(*(claim.metrics for claim in self.claims.values()))

    @property
    def claims_tables(self) -> list[str]:
        """The artifacts that show verdicts on the claims."""
        return [name for name, artifact in self.artifacts.items() if artifact.kind == CLAIMS]

    def methods_of(self, artifact: str) -> set[str]:
        """Return the methods and variants of an artifact."""
        section = self.artifacts[artifact]
        if section.kind in (CLAIMS, FOREST):
            return {method for claim in self.claims.values() for method in claim.methods}
        if section.kind == "settings":
            return {section.setting_of(row)[0] for row in section.rows}
        return set(section.rows.values())

    def reported(self, artifact: str) -> list[dict[str, str]]:
        """Return the rows of a table as the paper printed them, column -> text; for tables of claims, the sentences.

        Raises:
            PlanError: the file with the printed values is no table with a column "row".
            DataError: it is not in UTF-8.
        """
        if self.artifacts[artifact].kind == CLAIMS:
            return [
                {"row": name, "artifact": claim.artifact, "claim": claim.sentence}
                for name, claim in self.claims.items()
            ]
        path = self.folder / "reported" / f"{artifact}.csv"
        return list(_printed_rows(path)) if path.exists() else []


def _printed_rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a printed table.

    Raises:
        PlanError: it lacks names of rows, repeats one, or a row has other cells than the header.
    """
    lines, names = csv.DictReader(StringIO(read_text(path, newline=""), newline="")), set[str]()
    for row in lines:
        fault = "its first line has no column 'row'" if "row" not in row else ""
        if None in row or None in row.values():
            fault = "it has other cells than the first line"
        elif not fault and row["row"] in names:
            fault = f"there is a row {row['row']!r} above it"
        if fault:
            place = f"{path}:{lines.line_num}"
            raise PlanError(f"{place}: {fault}", code="no-table", place=place)
        names.add(row["row"])
        yield row


@cache
def load_paper(name: str) -> Paper:
    """Return the declaration of a paper of this package; its file is read once."""
    return read_paper(name)


def read_paper(name: str, source: Path | None = None) -> Paper:
    """Return the declaration of a paper of this package, or of a plugin's in its own folder.

    Raises:
        PlanError: the file is not YAML, or its content is invalid.
    """
    file = (source or FOLDER / name) / DECLARATION
    place = str(file) if source else f"papers/{name}/{DECLARATION}"
    paper = Paper.read(file, place, name=name, source=source)
    if paper.is_comparison:
        raise paper.error([Problem(("baseline",), f"a comparison is a file of {COMPARISONS}/ in a project")])
    claims = {claim: _with_margin(paper, claim) for claim in paper.claims}
    return paper.model_copy(update={"claims": claims})


def _with_margin(paper: Paper, name: str) -> Claim:
    """Return a claim with the value of its margin.

    Raises:
        PlanError: its margin names cells that the paper does not print.
    """
    claim = paper.claims[name]
    artifact, cells = paper.artifacts.get(claim.artifact), claim.margin.half_of
    if artifact is None or not cells:
        return claim
    try:
        value = half_of(paper.reported(claim.artifact), cells, paper.datasets, 100 if artifact.shares else 1)
    except PlanError as error:
        message = f"in reported/{claim.artifact}.csv {error}"
        raise paper.error([Problem(("claims", name, "margin"), message, error.code)]) from None
    return claim.model_copy(update={"margin": claim.margin.model_copy(update={"value": value})})


def all_papers() -> list[Paper]:
    """Return the declarations of all papers of this package."""
    return [load_paper(name) for name in PAPERS]


def papers_of(track: str) -> list[Paper]:
    """Return the papers of a track in this package."""
    return [paper for paper in all_papers() if paper.track == track]
