"""The workspace: a project's folder with its parameters, its plan, and the paths of its content."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from recompose.errors import ParamsError
from recompose.papers.checks import check_paper, check_variants
from recompose.papers.comparison import compared_variants, read_comparisons
from recompose.papers.declaration import COMPARISONS, Paper
from recompose.params.documents import Written, read_file
from recompose.params.loading import PARAMS, load
from recompose.params.mistakes import Problem, key_of
from recompose.params.schema import Params
from recompose.recipes.plan import Plan, Planner, Recipe
from recompose.recipes.store import Store
from recompose.tracks import TRACKS
from recompose.tracks.plugins import Plugin, find_plugins, with_plugins
from recompose.tracks.track import Catalogue

PROFILE = "RECOMPOSE_PROFILE"  # the variable that names a profile in place of that of params.yaml


def _check_rows(comparisons: Iterable[Paper], plan: Plan, profile: str) -> None:
    """Check that a plan has every row of each comparison.

    Raises:
        PlanError: the profile leaves out a paper's variant, or lacks its backbone.
    """
    for comparison in comparisons:
        places = plan.tracks[comparison.track].evaluations
        planned = {name for name, benchmark in places if benchmark in comparison.datasets}
        remedy = f"on {', '.join(comparison.datasets)}; declare a variant in this file"
        if problems := [
            Problem((key, number), f"the profile {profile} does not run {row!r} {remedy}", "unplanned-row")
            for key, rows in (("baseline", comparison.baseline), ("methods", comparison.methods))
            for number, row in enumerate(rows)
            if row not in planned
        ]:
            raise comparison.error(problems)


@dataclass(frozen=True)
class Workspace:
    """A folder that holds params.yaml, with optional edits of its parameters."""

    root: Path
    edits: tuple[str, ...] = ()  # each written path=value; the file params.yaml is not changed
    folder: Path | None = None  # another one than the root for raw inputs and results
    profile: str | None = None  # another one than the chosen
    is_trusted: bool = True  # false: anybody may have written it, and plugins in folders that it names are not used

    @cached_property
    def params(self) -> Params:
        """The parameters of the profile that the variable RECOMPOSE_PROFILE names, or else params.yaml."""
        return self.load(self.profile or os.environ.get(PROFILE))

    @cached_property
    def plugins(self) -> list[Plugin]:
        """The plugins that params.yaml names, and those that are installed.

        Raises:
            PluginError: a plugin is absent or wrong.
            ParamsError: params.yaml is not YAML, or an edit is of its plugins.
        """
        if any(edit.partition("=")[0].split(".")[0] == "plugins" for edit in self.edits):
            message = "--edit: plugins cannot be edited for one call; name them in params.yaml"
            raise ParamsError(message, code="no-edit", place="plugins")
        is_read = self.is_trusted and (self.root / PARAMS).is_file()
        named = self.file.at(("plugins",)) if is_read else None
        folders = named.value if named and isinstance(named.value, list) else []  # the schema reports what is no list
        return find_plugins([str(folder.value) for folder in folders], self.root)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The tracks and papers with what the plugins bring.

        Raises:
            PluginError: a plugin is absent or wrong.
            PlanError: a paper of a plugin is wrong.
        """
        return with_plugins(TRACKS, self.plugins)

    def load(self, profile: str | None) -> Params:
        """Return the parameters of a profile, with the entries that plugins bring; None: the chosen profile."""
        additions = [plugin.addition for plugin in self.plugins]
        return load(self.file, self.catalogue.forms, profile, self.edits, additions)

    @cached_property
    def file(self) -> Written:
        return read_file(self.root / PARAMS, PARAMS)

    @cached_property
    def plan(self) -> Plan:
        """The plan of the chosen profile."""
        plan = self.plan_of(self.params)
        _check_rows(self.comparisons, plan, self.params.profile)
        return plan

    def plan_of(self, params: Params) -> Plan:
        """Return the plan of a profile, with the project's comparisons.

        Raises:
            PlanError: a paper or a comparison declares something that a track or the profile does not have.
        """
        comparisons, planner = read_comparisons(self.root, params, self.catalogue), Planner(params)
        check_variants(self.catalogue, comparisons)
        for paper in self.catalogue.papers:
            check_paper(paper, params, self.catalogue)
        plans = {
            name: track.plan(params, planner, track.variants | compared_variants(track, params, comparisons))
            for name, track in self.catalogue.items()
            if name in params.chosen.tracks
        }
        return Plan(plans)

    @cached_property
    def comparisons(self) -> list[Paper]:
        """The comparisons that have data sets in the chosen profile."""
        return read_comparisons(self.root, self.params, self.catalogue)

    @property
    def declared(self) -> list[Paper]:
        """All papers, and the comparisons of the chosen profile."""
        return [*self.catalogue.papers, *self.comparisons]

    @cached_property
    def papers(self) -> list[Paper]:
        """The papers that the profile chooses from its tracks, and its comparisons."""
        plans = self.plan.tracks
        chosen = [
            paper
            for paper in self.catalogue.papers
            if paper.track in plans and ((names := plans[paper.track].papers) is None or paper.name in names)
        ]
        return [*chosen, *self.comparisons]

    @property
    def place(self) -> Path:
        """The folder of raw inputs and results."""
        return self.folder or self.root

    @property
    def data(self) -> Path:
        """The folder of raw inputs."""
        return self.place / "data"

    @property
    def results(self) -> Path:
        """The folder of stored content."""
        return self.place / "results"

    @property
    def reports(self) -> Path:
        """The folder of tables and figures of the chosen profile."""
        return self.root / self.reports_place

    @property
    def reports_place(self) -> str:
        """The path of that folder below the root; each profile has its own."""
        return f"reports/{self.params.profile}"

    @cached_property
    def store(self) -> Store:
        """The store of the results."""
        return Store(self.results, self.root)

    def missing(self, recipes: Iterable[Recipe]) -> list[Recipe]:
        """Return the recipes that are not complete."""
        return [recipe for recipe in recipes if not self.store.is_complete(recipe)]

    def recipe(self, name: str) -> Recipe:
        """Return the recipe of the plan with this key, or the only one whose digest or key starts with this name.

        Raises:
            UnknownError: the plan has no such recipe, or several.
        """
        return self.plan.by_key[key_of(name, self.plan.by_key, "the plan")]


def open_workspace(folder: str) -> Workspace:
    """Return the workspace of the project that a folder is in.

    While nothing changes that a plan follows from, it is the same one, also in processes that are forked from this one.

    Args:
        folder: a folder with params.yaml, or one below it; a folder in no project is a workspace itself.

    Raises:
        PluginError: a plugin is absent or wrong.
        ParamsError, PlanError: params.yaml is not YAML, or a plugin's paper is wrong.
    """
    here = Path(os.path.normpath(Path(folder).absolute()))
    root = next((above for above in (here, *here.parents) if (above / PARAMS).is_file()), here)
    if not (root / PARAMS).is_file():
        return Workspace(root)
    written = [path for pattern in ("*.yaml", f"{COMPARISONS}/*.y*ml") for path in sorted(root.glob(pattern))]
    work = _workspace_of(root, os.environ.get(PROFILE), _texts(written))
    sources = [path for plugin in work.plugins for path in sorted(plugin.folder.rglob("*.*"))]
    return _workspace_of(
        root, os.environ.get(PROFILE), _texts(written + [path for path in sources if path.suffix in (".py", ".yaml")])
    )


def _texts(paths: list[Path]) -> str:
    return "\n".join(f"{path}\n{path.read_text(encoding='utf-8', errors='replace')}" for path in paths)


@lru_cache(maxsize=2)  # of a project before its plugins are known, and after
def _workspace_of(root: Path, profile: str | None, texts: str) -> Workspace:
    """Return the workspace for these texts of params.yaml, of what lies beside it, and of plugins."""
    return Workspace(root)
