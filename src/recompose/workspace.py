"""A project's folder: its parameters, its plan, and where everything lies."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from recompose.errors import ChangedError, PlanError
from recompose.papers.declaration import Paper, all_papers, declared_variants
from recompose.params import Params, load_params
from recompose.params.mistakes import nearest
from recompose.plan import Plan, Planner, Recipe
from recompose.store import Store
from recompose.tracks import FORMS, TRACKS

PROFILE = "RECOMPOSE_PROFILE"  # the variable that names another profile than params.yaml does
_CHANGED = (
    "{} is not in the plan. `recompose plan` says what is; where a workflow asked for it, params.yaml or the code "
    "changed since it started: start it again."
)


def plan_of(params: Params) -> Plan:
    """What the chosen profile needs of every track that it names.

    Raises:
        PlanError: papers declare what a track or a profile does not have.
    """
    planner = Planner(params)
    for paper in all_papers():
        _check(paper)
    chosen = (name for name in TRACKS if name in params.chosen.tracks)
    return Plan({name: TRACKS[name].plan(params, planner, declared_variants(name)) for name in chosen})


def _check(paper: Paper) -> None:
    file = f"papers/{paper.name}/paper.yaml"
    if paper.track not in TRACKS:
        raise PlanError(f"{file}: there is no track {paper.track!r}; there is: {', '.join(TRACKS)}")
    known = TRACKS[paper.track].savable
    for name, variant in paper.variants.items():
        for unknown in (kept for kept in variant.save if kept not in known):
            raise PlanError(
                f"{file}: variant {name}: nothing is kept by the name of {unknown}{nearest(unknown, known)}"
            )
    for place, metric in _metrics_of(paper):
        try:
            TRACKS[paper.track].description_of(metric)
        except PlanError as error:
            raise PlanError(f"{file}: {place}: {error}") from None


def _metrics_of(paper: Paper) -> Iterator[tuple[str, str]]:
    """The metrics that a paper's artifacts and claims name, and where."""
    for name, artifact in paper.artifacts.items():
        if artifact.kind != "statistics":  # whose columns are counts
            for view in artifact.all_views.values():
                yield from ((f"column {column} of {name}", metric) for column, metric in view.columns.items())
    for name, claim in paper.claims.items():
        yield from ((f"claim {name}", metric) for metric in claim.metrics)


@dataclass(frozen=True)
class Workspace:
    """The folder that holds params.yaml, as it is or as it would be with some edits."""

    root: Path
    edits: tuple[str, ...] = ()  # each written path=value; params.yaml stays as it is

    @cached_property
    def params(self) -> Params:
        """The parameters of the profile that the variable RECOMPOSE_PROFILE names, or else params.yaml."""
        return load_params(self.root / "params.yaml", FORMS, os.environ.get(PROFILE), self.edits)

    @cached_property
    def plan(self) -> Plan:
        """What they need."""
        return plan_of(self.params)

    @cached_property
    def papers(self) -> list[Paper]:
        """The papers whose track the profile has."""
        return [paper for paper in all_papers() if paper.track in self.plan.tracks]

    @property
    def plans(self) -> Iterator[Plan]:
        """What each profile needs, chosen or not."""
        return (plan_of(load_params(self.root / "params.yaml", FORMS, name)) for name in self.params.profiles)

    @property
    def data(self) -> Path:
        """Raw inputs."""
        return self.root / "data"

    @property
    def assets(self) -> Path:
        """Files that are released with the project, such as the weights of small CLIPs."""
        return self.root / "assets"

    @property
    def results(self) -> Path:
        """What phases make and keep."""
        return self.root / "results"

    @property
    def reports(self) -> Path:
        """Tables and figures of the chosen profile."""
        return self.root / self.reports_place

    @property
    def reports_place(self) -> str:
        """The place of the chosen profile's tables and figures: no profile overwrites another's."""
        return f"reports/{self.params.profile}"

    def artifact_path(self, file: Path) -> Path:
        """Return the path of an artifact's file, given as such or as <paper>/<artifact> of the chosen profile."""
        if len(file.parts) != 2:
            return file  # of any profile, and where there are no parameters
        inside = self.reports / file
        return inside if inside.parent.is_dir() else file

    @cached_property
    def store(self) -> Store:
        """What is kept of it."""
        return Store(self.results)

    def missing(self, recipes: Iterable[Recipe]) -> list[Recipe]:
        """Those of some recipes that are not complete."""
        return [recipe for recipe in recipes if not self.store.is_complete(recipe)]

    def recipe(self, name: str) -> Recipe:
        """The recipe of the plan with this key, or whose digest or key starts like this.

        Raises:
            ChangedError: the plan has none, or several.
        """
        if name in self.plan.by_key:
            return self.plan.by_key[name]
        bare = name.removeprefix("results/").rstrip("/")
        alike = [r for r in self.plan.recipes if r.digest.startswith(bare) or f"{r.kind}/{r.digest}".startswith(bare)]
        if not alike:
            raise ChangedError(_CHANGED.format(name))
        if len(alike) > 1:
            keys = ", ".join(recipe.key for recipe in alike[:4])
            raise ChangedError(
                f"{len(alike)} of the plan start with {name!r} ({keys}, ...): give more of the one that is meant"
            )
        return alike[0]
