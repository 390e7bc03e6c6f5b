"""The machine on which a benchmark ran."""

import sys

from recompose.machine import Processor


def machine() -> str:
    """Return the machine in words: cores, processor, instruction set, version of Python."""
    here = Processor.here()
    return f"{here.cores} cores, {here.model} ({here.instruction_set}), Python {sys.version.split()[0]}"
