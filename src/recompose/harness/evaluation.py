"""The evaluation of any model outside of papers, of the command ``recompose evaluate``: its options, the suites that it
can use, and its result.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from recompose.harness.named_suites import KnownSuites

FEW = 4  # names in a note
Precision = Literal["fp32", "fp16", "bf16"]
Activation = Literal["auto", "gelu", "quick_gelu"]


@dataclass(frozen=True)
class EvaluationRequest:
    """The options of an evaluation."""

    model: str  # an architecture of open_clip or Recompose, or a function of one's own, module:function
    weights: str | None  # a file, a tag of open_clip, or the folder of a run; the argument of the function, or None
    suites: tuple[str, ...]  # names, or ``ALL``
    data: Path  # the folder of raw files
    out: Path
    batch_size: int = 256
    precision: Precision = "fp32"  # on any device, as the released evaluations
    device: str = "auto"
    activation: Activation = "auto"  # the one that the weights were trained with, or else the one that is assumed
    like: str | None = None  # of a file, the tag of open_clip whose activation and preprocessing its weights have
    part: str | None = None  # of a file that holds weights several times, the key or prefix of those to read
    alpha: float = 1.0  # of a run, the share of the trained weights, see ``vlc.building.restore_clip``
    skip_broken: bool = False
    items: int | None = None  # of a sub-task at most, of suites that can be limited; None: all
    strict: bool = False  # stop at the first suite that is not complete
    known: KnownSuites = field(default_factory=KnownSuites)  # with those of params.yaml and of plugins


@dataclass(frozen=True)
class EvaluationRow:
    """The value of a sub-task with its number of items, or of a mean without it."""

    name: str
    value: float | None  # None: all items are left out
    items: int | None = None
    left_out: int | None = None


@dataclass(frozen=True)
class EvaluationSummary:
    """The result of an evaluation."""

    title: str
    rows: tuple[EvaluationRow, ...]
    notes: tuple[str, ...]  # caveats of the numbers
    left_out: tuple[str, ...]  # a line for each suite that was left out, or evaluated in part, as it is not complete
    files: tuple[Path, ...]
