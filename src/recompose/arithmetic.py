"""Arithmetic: portable, which gives the same bytes on every x86-64 processor with AVX2, or native, this one's fastest.

Libraries choose their instructions by the processor that they find, and so the order of sums and the last digits of
functions. Portable arithmetic takes what all these processors have. ATen, oneDNN and NumPy stay at AVX2, OpenBLAS takes
Haswell's kernels on one thread, and MKL the path that does not depend on the processor's maker. That path is slow, and
parts of it differ: NumPy computes what ``portable`` names. Native arithmetic leaves torch its choice, and NumPy, by
which metrics are computed and checked anywhere, none.

Libraries read the variables when they are loaded. Importing this package sets them, before it imports any library; a
process with other arithmetic than its recipe has is started anew.
"""

import os
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Literal

from recompose.errors import OtherArithmeticError

Arithmetic = Literal["portable", "native"]
PORTABLE: Arithmetic = "portable"
NATIVE: Arithmetic = "native"
CHOICE = "RECOMPOSE_ARITHMETIC"  # the variable with the choice of a process and of those that it starts
# functions such as exp in 64 bits, and the order of equal values that sorting leaves open
OF_NUMPY = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
}
# MKL's guide defines COMPATIBLE alone for processors of all makers. Limits on ATen and oneDNN alone leave Intel and AMD
# apart, and MKL's mode alone leaves AVX-512 apart.
OF_TORCH = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_CBWR": "COMPATIBLE"}
NEEDED = {"avx2", "fma"}  # instructions
CPU_INFO = Path("/proc/cpuinfo")


@cache
def is_possible() -> bool:
    """Return true if this processor can compute by portable arithmetic; unknown counts as no."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    try:
        with CPU_INFO.open() as file:
            flags = next((line for line in file if line.startswith("flags")), "")
    except OSError:
        return False
    return {*flags.split()} >= NEEDED


def begin() -> Arithmetic:
    """Set the variables of the arithmetic that the environment chooses, by default portable; return it.

    A library that is loaded already does not see them: then torch's arithmetic is native, unless a parent process has
    set them.
    """
    chosen = environment_of(os.environ.get(CHOICE, PORTABLE))
    is_late = "torch" in sys.modules and any(os.environ.get(name) != chosen.get(name) for name in OF_TORCH)
    os.environ.update(chosen)
    return PORTABLE if OF_TORCH.items() <= chosen.items() and not is_late else NATIVE


def environment_of(arithmetic: str) -> dict[str, str]:
    """Return the variables of a process that is to compute by an arithmetic."""
    if not is_possible():
        return {**os.environ, CHOICE: arithmetic}
    others = {name: value for name, value in os.environ.items() if OF_TORCH.get(name) != value}  # a parent's
    return others | {CHOICE: arithmetic} | OF_NUMPY | (OF_TORCH if arithmetic == PORTABLE else {})


def choose(arithmetic: str) -> None:
    """Have the processes that this one starts from now on compute by an arithmetic."""
    chosen = environment_of(arithmetic)
    for name in os.environ.keys() - chosen.keys():
        del os.environ[name]
    os.environ.update(chosen)


def use(arithmetic: str) -> None:
    """Compute by an arithmetic. A processor that cannot compute by the portable one says so in a line.

    Raises:
        OtherArithmeticError: this process began with the other one.
    """
    if arithmetic == PORTABLE and not is_possible():
        _say_native()
    elif arithmetic != CURRENT:
        raise OtherArithmeticError(arithmetic, CURRENT)
    elif arithmetic == PORTABLE:
        from recompose.portable import take_kernels

        take_kernels()


@cache
def _say_native() -> None:
    from recompose.progress import say  # later than the variables are set

    say("this processor has no AVX2: arithmetic is native, and numbers have other last digits than those of others")


CURRENT = begin()
