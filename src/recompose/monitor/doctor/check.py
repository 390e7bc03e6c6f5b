"""What a look at the machine, or at what is to be read, came to."""

from dataclasses import dataclass

FINE, WARNING, STOPS = STATES = ("fine", "warning", "stops")


@dataclass(frozen=True)
class Check:
    """One line of the table."""

    what: str
    state: str  # stops: the workflow would fail for it
    found: str
    remedy: str = ""  # of what is not fine


def size(count: float) -> str:
    """An amount of bytes on disk or in memory.

    >>> size(3.5e9), size(2e6)
    ('3.5 GB', '2 MB')
    """
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.0f} MB"
