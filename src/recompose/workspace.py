"""A project's folder: its parameters, its plan, and where everything lies."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from recompose.files import read_json
from recompose.papers.declaration import declared_variants
from recompose.params import Params, Released, load_params
from recompose.plan import Batch, Plan, Recipe, Run, make_plan
from recompose.store import Store


class ChangedError(RuntimeError):
    """Parameters or code changed while a workflow ran."""


@dataclass(frozen=True)
class Workspace:
    """The folder that holds params.yaml, as it is or as it would be with some edits."""

    root: Path
    edits: tuple[str, ...] = ()  # each written path=value; params.yaml stays as it is

    @cached_property
    def params(self) -> Params:
        """The parameters of the chosen profile."""
        return load_params(self.root / "params.yaml", edits=self.edits)

    @cached_property
    def plan(self) -> Plan:
        """What they need."""
        return make_plan(self.params, declared_variants())

    @property
    def plans(self) -> list[Plan]:
        """What each profile needs, chosen or not."""
        names = type(self.params.profiles).model_fields
        return [make_plan(load_params(self.root / "params.yaml", name), declared_variants()) for name in names]

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

    def metrics_of(self, run: Run) -> dict[str, Any]:
        """A complete run's numbers, as fractions, under ``<split>/<world>``.

        Raises:
            DamagedError: the file was changed.
        """
        metrics: dict[str, Any] = read_json(self.runs.file(run, "metrics.json"))
        return metrics

    def threads_of(self, backbone: str) -> int:
        """The threads of the process that makes a backbone."""
        section = self.params.backbones.of(backbone)
        return 1 if isinstance(section, Released) else int(section.threads)

    def batch(self, name: str) -> Batch:
        """The batch of this name, or one of a single run whose digest starts like this.

        Raises:
            ChangedError: the plan has neither.
        """
        batches = {batch.name: batch for batch in self.plan.batches}
        runs = {run.digest: run for run in self.plan.runs}
        # a run that tests another's checkpoint comes with that one
        alone = [
            Batch(tuple(runs[part] for part in (run.checkpoint_of, digest) if part))
            for digest, run in runs.items()
            if digest.startswith(name)
        ]
        if name not in batches and len(alone) > 1:
            raise ChangedError(f"{len(alone)} runs have a digest that starts with {name}: give more of it")
        if name not in batches and not alone:
            raise ChangedError(_CHANGED.format(f"batch or run {name}"))
        return batches.get(name) or alone[0]

    def expect(self, recipe: Recipe, folder: str) -> None:
        """Make sure that this recipe is the one somebody was told to make.

        Raises:
            ChangedError: it is another one by now.
        """
        if recipe.folder != folder:
            raise ChangedError(_CHANGED.format(folder))


_CHANGED = (
    "{} is not in the plan. `recompose plan` says what is; where a workflow asked for it, params.yaml or the code "
    "changed since it started: start it again."
)
