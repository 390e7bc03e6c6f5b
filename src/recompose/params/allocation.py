"""The allocation of replicates: the file in which `recompose decide` writes what it chose, stage by stage."""

from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field

from recompose.errors import ParamsError
from recompose.params.merging import plain
from recompose.params.mistakes import mistakes_in, params_error
from recompose.params.reading import read
from recompose.params.sections import Count, Name, Section, Weight

HEADER = """\
# Replicates of a profile, chosen by `recompose decide`. Do not edit: the audit chooses each stage once more.
"""
Replicates = dict[str, dict[str, Count]]  # track -> method or variant -> number of replicates


class Observation(Section):
    """A comparison as it stood before a stage was chosen."""

    paper: Name
    benchmark: str
    comparison: str
    replicates: int
    difference: float
    p: float  # of a difference, corrected for looks and comparisons
    p_margin: float  # of a difference within the margin, corrected
    verdict: str


class Stage(Section):
    """A step of the study: the replicates up to which everything was run."""

    replicates: Replicates
    core_seconds: Weight = Field(description="The expected time of what the stage adds.")
    seen: list[Observation] = Field(
        default=[], description="What the stage was chosen from; empty: the declared looks."
    )
    too_dear: list[str] = Field(default=[], description="Comparisons that get no further replicates.")


class Allocation(Section):
    """The replicates of a profile, and how they were chosen."""

    profile: Name
    looks: dict[str, list[Count]] = Field(description="The looks of each track, as declared before the first stage.")
    core_seconds: dict[str, dict[str, dict[str, Weight]]] = Field(
        description="The time of a replicate by track, method or variant, and part; equal parts are shared."
    )
    stages: Annotated[list[Stage], Field(min_length=1)]

    @property
    def replicates(self) -> Replicates:
        """The replicates of the last stage."""
        return self.stages[-1].replicates


def read_allocation(path: Path) -> Allocation | None:
    """Return the content of an allocation file, or None if there is none yet.

    Raises:
        ParamsError: the file is no allocation.
    """
    if not path.exists():
        return None
    try:
        document = plain(read(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ParamsError(f"{path} is not valid YAML: {error}", code="no-yaml", place=path) from None
    if problems := mistakes_in(document, Allocation):
        raise params_error(f"{path} is wrong:", problems)
    return Allocation.model_validate(document)


def allocation_text(allocation: Allocation) -> str:
    """Return the text of an allocation file."""
    document = allocation.model_dump()
    return HEADER + yaml.safe_dump(document, sort_keys=False, width=120, default_flow_style=None, allow_unicode=True)
