"""The kernels of this process: the choice alone, made once before anything is computed.

It stands apart from what chooses and from what computes, so that neither imports the other.
"""

onednn_from: int | None = None  # multiplications from which linear maps go to oneDNN; None: all stay with torch's own


def choose_linear(multiplications: int | None) -> None:
    """Send linear maps of at least so many multiplications to oneDNN from now on, or none of them."""
    global onednn_from
    onednn_from = multiplications


def takes_onednn(multiplications: int) -> bool:
    """Return whether a linear map of so many multiplications goes to oneDNN."""
    return onednn_from is not None and multiplications >= onednn_from


def linear_kernel() -> str:
    """Return the choice of this process in words."""
    return in_words(onednn_from)


def in_words(multiplications: int | None) -> str:
    """Return a choice in words.

    >>> in_words(None), in_words(2**23)
    ('torch', 'onednn from 8,388,608 multiplications')
    """
    return "torch" if multiplications is None else f"onednn from {multiplications:,} multiplications"
