"""The command line on a share of the images: ``python -m benchmarks.stand_ins.shortened --counts FILE make ...``.

The code that reads published data sets knows how many images these have. Here it is told how many the stand-ins have,
and an epoch ends after so many batches. Nothing else differs, and no source does: what is stored has the identity that
it would have without.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from recompose import cli


def recount(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Put other counts in the place of published ones.

    Args:
        counts: ``module:CONSTANT`` -> name -> count; of other names the published count remains.
    """
    for place, others in counts.items():
        if ":" in place:  # the others are in the profile
            module, name = place.split(":")
            holder: Any = import_module(module)
            setattr(holder, name, {**getattr(holder, name), **others})


def cut_epochs(batches: int) -> None:
    """Let every epoch of training end after so many batches."""
    import pytorch_lightning as pl

    class Shortened(pl.Trainer):
        def __init__(self, **settings: Any) -> None:
            super().__init__(limit_train_batches=batches, **settings)

    pl.Trainer = Shortened  # type: ignore[misc]


def add_architectures(folder: Path) -> None:
    """Let open_clip know architectures, files in its own form."""
    import open_clip

    open_clip.add_model_config(folder)


def gpu_peak() -> int:
    """Bytes of GPU memory that tensors took at most; 0 without a GPU."""
    torch = sys.modules.get("torch")
    return int(torch.cuda.max_memory_allocated()) if torch and torch.cuda.is_initialized() else 0


def main() -> None:
    """Carry out a command of ``recompose`` in the folder that it is called in."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=Path)
    parser.add_argument("--batches", type=int)
    parser.add_argument("--architectures", type=Path, help="of CLIPs that open_clip does not declare")
    parser.add_argument("--gpu-memory", type=Path, help="where to write how much was taken")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if arguments.counts:
        recount(json.loads(arguments.counts.read_text(encoding="utf-8")))
    if arguments.batches:
        cut_epochs(arguments.batches)
    if arguments.architectures:
        add_architectures(arguments.architectures)
    sys.argv[1:] = arguments.command
    try:
        cli.main()
    finally:
        if arguments.gpu_memory:
            arguments.gpu_memory.write_text(str(gpu_peak()), encoding="utf-8")


if __name__ == "__main__":
    main()
