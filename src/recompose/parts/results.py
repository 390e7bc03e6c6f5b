"""The results that tables and figures show."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell
from recompose.plan import Plan, Recipe

if TYPE_CHECKING:
    from recompose.tracks.track import Track


class Results(Protocol):
    """The planned evaluations, and their stored results as far as they are complete."""

    @property
    def plan(self) -> Plan:
        """The plan of the workspace."""

    @property
    def tracks(self) -> "Mapping[str, Track]":
        """The tracks of the workspace, with what plugins bring, by name."""

    def benchmarks(self, track: str) -> list[str]:
        """Return the benchmarks of a track."""
        return self.plan.benchmarks(track)

    def data(self, track: str, benchmark: str) -> Recipe:
        """Return the data of a benchmark."""
        return self.plan.tracks[track].benchmarks[benchmark]

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        """Return the planned evaluations of a method or a variant, by seed."""

    def complete(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        """Return the complete ones of the planned evaluations."""
        return [evaluation for evaluation in self.planned(track, name, benchmark) if self.is_complete(evaluation)]

    def is_complete(self, recipe: Recipe) -> bool:
        """Return True if the store has the result of a recipe."""

    def metrics(self, evaluation: Recipe) -> Mapping[str, float]:
        """Return all metrics of a complete evaluation, and its costs, by name.

        Raises:
            DamagedError: a file that they follow from was changed.
        """

    def statistics(self, data: Recipe) -> Mapping[str, float]:
        """Return the counts of a data set, as its index has them."""

    def file(self, recipe: Recipe, name: str) -> Path:
        """Return the path of a stored file, its bytes checked.

        Raises:
            DamagedError: it is missing or was changed.
        """

    def folder(self, recipe: Recipe) -> Path:
        """Return the folder of the result of a recipe, its bytes checked.

        Raises:
            DamagedError: a file is missing or was changed.
        """

    def raw(self, data: Recipe) -> Path:
        """Return the folder of a data set's raw files."""


Cells: TypeAlias = Callable[[Results, Paper, str], Iterator[Cell]]  # yields the measured cells of a table of a paper
