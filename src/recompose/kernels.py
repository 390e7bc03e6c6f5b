"""The choice of kernels of this process, made once before anything is computed.

It is a module of its own so that the code that chooses and the code that computes need not import each other.
"""

onednn_from: int | None = None  # multiplications from which linear maps use oneDNN; None: none do


def choose_linear(multiplications: int | None) -> None:
    """Compute linear maps of at least so many multiplications by oneDNN from now on, or none if None."""
    global onednn_from
    onednn_from = multiplications


def takes_onednn(multiplications: int) -> bool:
    """Return true if a linear map of so many multiplications is computed by oneDNN."""
    return onednn_from is not None and multiplications >= onednn_from


def linear_kernel() -> str:
    """Return the choice of this process in words."""
    return describe_linear(onednn_from)


def describe_linear(multiplications: int | None) -> str:
    """Return a choice in words.

    >>> describe_linear(None), describe_linear(2**23)
    ('torch', 'onednn from 8,388,608 multiplications')
    """
    return "torch" if multiplications is None else f"onednn from {multiplications:,} multiplications"
