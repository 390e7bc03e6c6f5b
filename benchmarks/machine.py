"""Describe the machine on which a benchmark runs."""

import os
import sys

import torch

from recompose.environment import processor_name


def machine() -> str:
    """Return the machine in words: cores, processor, instruction set, version of Python."""
    instructions = torch.backends.cpu.get_cpu_capability().lower()
    return f"{os.cpu_count()} cores, {processor_name()} ({instructions}), Python {sys.version.split()[0]}"
