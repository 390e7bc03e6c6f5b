"""Reading of comparisons, ``comparisons/<name>.yaml``, checked against parameters and tracks before any work."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from recompose.errors import ParamsError, PlanError
from recompose.files import Document
from recompose.papers.comparison import FOLDER, ComparedVariant, Comparison, claim_name, compare
from recompose.papers.declaration import PAPERS
from recompose.params import Params
from recompose.params.documents import read_document
from recompose.params.mistakes import Problem, nearest, problems_of, unknown_name
from recompose.params.sections import Distinct, Name, Positive, Section
from recompose.params.track import TrackChoice, TrackSection
from recompose.tracks import SHIPPED
from recompose.tracks.plugins import Catalogue
from recompose.tracks.track import Track

NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
# rules, and files of reports, have these names
RESERVED = ("all", "artifacts", "data", "features", "figure", "index", "metrics", "page", "readme", "runs", "table")
Unique = Annotated[list[str], Distinct]


class OwnVariant(Section):
    """A method with some settings changed, as in paper.yaml; by default on the data sets of the comparison."""

    method: str
    settings: Document = Field(default={})
    datasets: Unique = Field(default=[])
    backbone: Literal["main", "other", "other-pretraining"] = "main"
    reuse_runs_of: str | None = None
    save: Unique = Field(default=[])


class ComparisonFile(Section):
    """The content of a comparison's file."""

    track: str
    title: str = ""  # by default the name of the file
    baseline: str | Annotated[Unique, Field(min_length=1)]  # a method or a variant, or several
    methods: Annotated[Unique, Field(min_length=1)]  # and variants, of the track, of its papers or of this file
    variants: dict[Name, OwnVariant] = Field(default={})
    datasets: Unique = Field(default=[])  # by default those of the profile
    suites: Unique = Field(default=[])  # each is the metric test/<suite>
    metrics: Unique | dict[str, str] = Field(default=[])  # names, or label -> name; by default the track's first one
    margin: Positive | dict[str, Positive] | None = None  # the smallest difference of interest, or one for each label

    @property
    def baselines(self) -> list[str]:
        """The methods and variants that the others are compared with."""
        return [self.baseline] if isinstance(self.baseline, str) else self.baseline

    @property
    def rows(self) -> list[str]:
        """The methods and variants that are compared with the baselines."""
        return [row for row in self.methods if row not in self.baselines]


def read_comparisons(root: Path, params: Params, catalogue: Catalogue = SHIPPED) -> list[Comparison]:
    """Return the comparisons of a project that have data sets in the chosen profile, in the order of their names.

    Raises:
        PlanError: a file is wrong; the message has a line for each mistake, with its place.
    """
    comparisons = [_read(path, params, catalogue) for path in sorted((root / FOLDER).glob("*.y*ml"))]
    by_variant: dict[tuple[str, str], tuple[ComparedVariant, str]] = {}
    for comparison in comparisons:
        for name, variant in comparison.variants.items():
            other, file = by_variant.setdefault((comparison.track, name), (_own(variant), comparison.file))
            if other != _own(variant):
                problem = Problem(("variants", name), f"{file} has another variant of this name", "taken-name")
                raise _error(comparison.file, [problem])
    return [comparison for comparison in comparisons if _is_shown(comparison, params)]


def compared_variants(track: Track, params: Params, comparisons: Iterable[Comparison]) -> dict[str, ComparedVariant]:
    """Return the variants of a track's comparisons, and the methods in them that the profile lacks, by name.

    A variant that several comparisons declare runs on the data sets of all of them.
    """
    choice, variants = params.chosen.tracks[track.name], dict[str, ComparedVariant]()
    if not isinstance(choice, TrackChoice):
        return {}  # of a track with another schema, no comparison is shown
    for comparison in comparisons:
        if comparison.track != track.name:
            continue
        lacking = {row for row in comparison.rows if row in track.methods} - {*choice.methods}
        plain = {row: ComparedVariant(method=row, datasets=list(comparison.datasets)) for row in sorted(lacking)}
        for name, variant in (plain | dict(comparison.variants)).items():
            before = variants[name].datasets if name in variants else []
            variants[name] = _own(variant, [*before, *variant.datasets])
    return variants


def _own(variant: Any, datasets: Iterable[str] = ()) -> ComparedVariant:
    """Return a variant on other data sets."""
    return ComparedVariant(**variant.model_dump() | {"datasets": list(dict.fromkeys(datasets))})


def _is_shown(comparison: Comparison, params: Params) -> bool:
    choice = params.chosen.tracks.get(comparison.track)
    return isinstance(choice, TrackChoice) and bool(comparison.benchmarks_among(choice.datasets))


def _read(path: Path, params: Params, catalogue: Catalogue) -> Comparison:
    """Return the comparison of a file.

    Raises:
        PlanError: the file is wrong.
    """
    source, name = f"{FOLDER}/{path.name}", path.stem
    if path.suffix != ".yaml":
        raise PlanError(f"{source}: rename it to {name}.yaml", code="wrong-name", place=source)
    if not NAME.fullmatch(name) or name in RESERVED or name in PAPERS:
        fault = "is taken" if NAME.fullmatch(name) else "is not of small letters, digits, - and _"
        raise PlanError(f"{source}: the name {name!r} {fault}; rename the file", code="wrong-name", place=source)
    try:
        document = read_document(path.read_text(encoding="utf-8"), source)
    except ParamsError as error:
        raise PlanError(str(error), code=error.code, place=error.place) from None
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{source} cannot be read: {error}", code="unreadable-file", place=source) from None
    if not isinstance(document, dict):
        raise PlanError(f"{source} is not a mapping of sections", code="no-sections", place=source)
    try:
        file = ComparisonFile.model_validate(document)
    except ValidationError as error:
        raise _error(source, problems_of(error, document)) from None
    if problems := unknown_name(("track",), file.track, [*catalogue.tracks]):
        raise _error(source, problems)
    if problems := list(_Check(file, catalogue, params).problems()):
        raise _error(source, problems)
    return _comparison(name, file, params, catalogue.tracks[file.track])


def _error(source: str, problems: list[Problem]) -> PlanError:
    """Return an error with a line for each mistake of a file."""
    message = "\n".join(f"{source}: {problem.line}" for problem in problems)
    return PlanError(message, code=problems[0].code, place=f"{source}: {', '.join(p.path for p in problems)}")


def _labels(file: ComparisonFile, track: Track) -> dict[str, str]:
    """Return the metrics of a comparison: label -> metric."""
    known = {metric: label for label, metric in track.compared.items()}
    if isinstance(file.metrics, Mapping):
        metrics = dict(file.metrics)
    else:
        metrics = {known.get(metric, metric): metric for metric in file.metrics}
    metrics |= {suite: f"test/{suite}" for suite in file.suites}
    return metrics or {known.get(track.headline, track.headline): track.headline}


def _datasets(file: ComparisonFile, params: Params) -> list[str]:
    choice = params.chosen.tracks.get(file.track)
    return file.datasets or (list(choice.datasets) if isinstance(choice, TrackChoice) else [])


def _comparison(name: str, file: ComparisonFile, params: Params, track: Track) -> Comparison:
    """Return the comparison that a checked file declares."""
    datasets, metrics = _datasets(file, params), _labels(file, track)
    variants = {
        variant: ComparedVariant(**section.model_dump() | {"datasets": section.datasets or datasets})
        for variant, section in file.variants.items()
    }
    given = file.margin if isinstance(file.margin, Mapping) else dict.fromkeys(metrics, file.margin)
    margins = {label: margin for label, margin in given.items() if margin is not None}
    return compare(
        name, file.title or name, file.track, file.baselines, file.rows, variants, datasets, metrics, margins
    )


class _Check:
    """A check of the names and settings in a comparison's file."""

    def __init__(self, file: ComparisonFile, catalogue: Catalogue, params: Params) -> None:
        self.file, self.tracks, self.params = file, catalogue.tracks, params
        self.track, section = self.tracks[file.track], params.tracks[file.track]
        assert isinstance(section, TrackSection)
        self.section, self.declared = section, self.track.variants

    def problems(self) -> Iterator[Problem]:
        """Yield the problems, in the order of the file's keys."""
        known = {*self.track.methods, *self.declared, *self.file.variants}
        for number, row in enumerate(self.file.baselines):
            place = ("baseline",) if isinstance(self.file.baseline, str) else ("baseline", number)
            yield from self._row(place, row, known)
        for number, row in enumerate(self.file.methods):
            yield from self._row(("methods", number), row, known)
        if not self.file.rows:
            yield Problem(("methods",), "nothing is compared with the baseline; add a method or a variant", "no-rows")
        for number, dataset in enumerate(self.file.datasets):
            yield from _unknown(("datasets", number), dataset, self.section.datasets, "no data set of params.yaml")
        reused = {variant.reuse_runs_of for variant in self.file.variants.values()}
        for name, variant in self.file.variants.items():
            yield from (problem.inside("variants", name) for problem in self._variant(name, variant, known))
            if name not in {*self.file.baselines, *self.file.methods, *reused}:
                yield Problem(("variants", name), "is in no row; add it to methods, or remove it", "unused-variant")
        yield from self._metrics()
        yield from self._margins()

    def _row(self, place: tuple[str | int, ...], row: str, known: Collection[str]) -> Iterator[Problem]:
        kind = f"no method or variant of {self.track.name}"
        others = [name for name, track in self.tracks.items() if row in track.methods]
        if row not in known and others:
            yield Problem(place, f"{row!r} is {kind}, but of {' and '.join(others)}", "unknown-name")
        else:
            yield from _unknown(place, row, known, kind)

    def _variant(self, name: str, variant: OwnVariant, known: Collection[str]) -> Iterator[Problem]:
        if name in self.declared or name in self.track.methods:
            yield Problem((), f"{self.track.name} has {name!r} already; choose another name", "taken-name")
        for number, dataset in enumerate(variant.datasets):
            yield from _unknown(("datasets", number), dataset, self.section.datasets, "no data set of params.yaml")
        for number, output in enumerate(variant.save):
            yield from _unknown(("save", number), output, self.track.savable, "nothing that can be saved")
        if variant.reuse_runs_of is not None:
            kind = f"no method or variant of {self.track.name}"
            yield from _unknown(("reuse_runs_of",), variant.reuse_runs_of, known, kind)
        if problems := list(
            _unknown(("method",), variant.method, self.track.methods, f"no method of {self.track.name}")
        ):
            yield from problems
            return
        yield from dict.fromkeys(self._settings(variant))

    def _settings(self, variant: OwnVariant) -> Iterator[Problem]:
        """Yield the settings that do not fit their method on some data set."""
        for dataset in variant.datasets or _datasets(self.file, self.params):
            if dataset in self.section.datasets:
                yield from (
                    problem.inside("settings")
                    for problem in self.section.mistakes(variant.method, dataset, variant.settings)
                )

    def _metrics(self) -> Iterator[Problem]:
        suites = [metric.partition("/")[2] for metric in self.track.metric_names() if metric.count("/") == 1]
        for number, suite in enumerate(self.file.suites):
            if problem := self._metric(f"test/{suite}"):
                parts = self.track.parts_of_suite(suite, self.params)
                unknown = f"{self.track.name} has no suite {suite!r}{nearest(suite, suites)}"
                without = f"the suite {suite!r} has no number of its own; name parts of it: {', '.join(parts[:4])}"
                message, code = (without, "no-number") if parts else (unknown, "unknown-suite")
                yield problem._replace(place=("suites", number), message=message, code=code)
        by_key = self.file.metrics.items() if isinstance(self.file.metrics, Mapping) else enumerate(self.file.metrics)
        for key, metric in by_key:
            if problem := self._metric(metric):
                yield problem.inside("metrics", key)
        names = [claim_name("", "", label) for label in _labels(self.file, self.track)]
        if len({*names}) < len(names):
            yield Problem(("metrics",), "two labels differ in signs or capitals only; choose others", "repeated-label")

    def _metric(self, metric: str) -> Problem | None:
        try:
            self.track.check_metric(metric, self.params)
        except PlanError as error:
            others = [name for name, track in self.tracks.items() if metric in track.metric_names()]
            message = f"{metric!r} is no metric of {self.track.name}, but of {' and '.join(others)}"
            return Problem((), message if others else str(error), error.code)
        return None

    def _margins(self) -> Iterator[Problem]:
        labels = _labels(self.file, self.track)
        for label in self.file.margin if isinstance(self.file.margin, Mapping) else ():
            yield from _unknown(("margin", label), label, labels, "no metric of this comparison")


def _unknown(place: tuple[str | int, ...], name: str, known: Collection[str], kind: str) -> Iterator[Problem]:
    """Yield the problem of a name that is not known; the message has the nearest one."""
    if name not in known:
        hint = nearest(name, known) or f"; there is: {', '.join(sorted(known))}"
        yield Problem(place, f"{name!r} is {kind}{hint}", "unknown-name")
