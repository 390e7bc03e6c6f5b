"""The allocation of replicates: the file in which `recompose decide` writes what it chose, stage by stage."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from pydantic import Field

from recompose.errors import ParamsError
from recompose.params.mistakes import Problem, mistakes_in, params_error
from recompose.params.reading import document_text, read_document
from recompose.params.sections import Count, Name, Section, Weight
from recompose.params.track import LookSizes

HEADER = """\
# Replicates of a profile, chosen by `recompose decide`. Do not edit: the audit chooses each stage once more.
"""
Replicates = Mapping[str, Mapping[str, Count]]  # track -> method or variant -> number of replicates
PartCosts = Mapping[str, Mapping[str, Mapping[str, Weight]]]  # track -> method or variant -> part -> core-seconds
REMEDY = "restore the file, or remove it to begin the study again"


class Observation(Section):
    """A comparison as it stood before a stage was chosen."""

    paper: Name
    benchmark: str
    comparison: str
    replicates: Count
    difference: float
    p: float = Field(description="Of a difference, corrected for looks and comparisons.")
    p_margin: float = Field(description="Of a difference within the margin, corrected.")
    verdict: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The names that no other observation of a stage has."""
        return self.paper, self.benchmark, self.comparison


class Stage(Section):
    """A step of the study: the replicates up to which everything was run."""

    replicates: Replicates
    core_seconds: Weight = Field(description="The expected time of what the stage adds.")
    hours: Weight = Field(description="The core-hours that the whole study had when the stage was chosen.")
    seen: list[Observation] = Field(
        default=[], description="What the stage was chosen from; empty: the declared looks."
    )
    too_dear: list[str] = Field(default=[], description="Comparisons that get no further replicates.")
    processors: list[str] = Field(default=[], description="The kinds of processors that computed what was seen.")


class Allocation(Section):
    """The replicates of a profile, and how they were chosen."""

    profile: Name
    looks: dict[str, LookSizes] = Field(description="The looks of each track, as declared before the first stage.")
    core_seconds: PartCosts = Field(
        description="The time of a replicate by track, method or variant, and part; equal parts are shared."
    )
    stages: Annotated[list[Stage], Field(min_length=1)]

    @property
    def replicates(self) -> Replicates:
        """The replicates of the last stage."""
        return self.stages[-1].replicates

    def until(self, stages: int) -> "Allocation":
        """Return the allocation as it was after so many stages."""
        return self.model_copy(update={"stages": self.stages[:stages]})


def read_allocation(path: Path) -> Allocation | None:
    """Return the content of an allocation file, or None if there is none yet.

    Raises:
        ParamsError: the file is no allocation.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ParamsError(f"{path} cannot be read: {error}; {REMEDY}", code="unreadable-file", place=path) from None
    document = read_document(text, str(path))
    if problems := mistakes_in(document, Allocation):
        raise params_error(f"{path} is wrong; {REMEDY}:", problems)
    allocation = Allocation.model_validate(document)
    if problems := list(_contradictions(allocation)):
        raise params_error(f"{path} is wrong; {REMEDY}:", problems)
    return allocation


def _contradictions(allocation: Allocation) -> Iterator[Problem]:
    """Yield the problems of replicates that are no declared look, have no costs, or become fewer."""
    for number, stage in enumerate(allocation.stages):
        for track, counts in stage.replicates.items():
            sizes, costs = allocation.looks.get(track, []), allocation.core_seconds.get(track, {})
            for name, count in counts.items():
                place = ("stages", number, "replicates", track, name)
                if count not in sizes:
                    yield Problem(place, f"{count} is none of the looks of {track}: {sizes}")
                if name not in costs:
                    yield Problem(place, f"core_seconds has no {name!r} of {track}", "missing-key")
    for number, (before, after) in enumerate(pairwise(allocation.stages), start=1):
        for track, counts in before.replicates.items():
            for name, count in counts.items():
                if after.replicates.get(track, {}).get(name, 0) < count:
                    place = ("stages", number, "replicates", track, name)
                    yield Problem(place, f"the stage before has {count} replicates, and this one fewer")


def allocation_text(allocation: Allocation) -> str:
    """Return the text of an allocation file."""
    return HEADER + document_text(allocation.model_dump())
