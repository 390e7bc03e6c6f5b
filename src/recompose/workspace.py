"""A project's folder: its parameters, its plan, and where everything lies."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from recompose.params import Params, load_params
from recompose.plan import Batch, Plan, Recipe, Run, make_plan
from recompose.store import Store


class ChangedError(RuntimeError):
    """Parameters or code changed while a workflow ran."""


@dataclass(frozen=True)
class Workspace:
    """The folder that holds params.yaml."""

    root: Path

    @cached_property
    def params(self) -> Params:
        """The parameters of the chosen profile."""
        return load_params(self.root / "params.yaml")

    @cached_property
    def plan(self) -> Plan:
        """What they need."""
        return make_plan(self.params)

    @property
    def data(self) -> Path:
        """Raw inputs."""
        return self.root / "data"

    @property
    def results(self) -> Path:
        """What phases make and keep."""
        return self.root / "results"

    @property
    def reports(self) -> Path:
        """Tables and figures."""
        return self.root / "reports"

    def store(self, kind: str) -> Store:
        """The store of one kind of content."""
        return Store(self.results, kind)

    @property
    def runs(self) -> Store:
        """The store of runs."""
        return self.store("runs")

    def batch(self, name: str) -> Batch:
        """The batch of this name.

        Raises:
            ChangedError: the plan has no such batch.
        """
        found = [batch for batch in self.plan.batches if batch.name == name]
        if not found:
            raise ChangedError(_CHANGED.format(f"batch {name}"))
        return found[0]

    def expect(self, recipe: Recipe, folder: str) -> None:
        """Make sure that this recipe is the one somebody was told to make.

        Raises:
            ChangedError: it is another one by now.
        """
        if recipe.folder != folder:
            raise ChangedError(_CHANGED.format(folder))

    def find_run(self, prefix: str) -> Run:
        """The planned run whose digest starts like this.

        Raises:
            KeyError: none does, or several do.
        """
        found = [run for run in self.plan.runs if run.digest.startswith(prefix)]
        if len(found) != 1:
            raise KeyError(f"{len(found)} planned runs have a digest that starts with {prefix}")
        return found[0]


_CHANGED = "{} is not in the plan: params.yaml or the code changed since the workflow started. Start it again."
