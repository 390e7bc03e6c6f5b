"""The result of one check, as the doctor's table and its JSON show it."""

from dataclasses import dataclass

FINE, WARNING, STOPS = STATES = ("fine", "warning", "stops")


@dataclass(frozen=True)
class Check:
    """One line of the doctor's table."""

    subject: str
    state: str  # stops: the workflow would fail because of it
    finding: str
    remedy: str = ""  # empty where the state is fine

    def document(self) -> dict[str, str]:
        """Return the check as plain values, for JSON."""
        return {"what": self.subject, "state": self.state, "found": self.finding, "remedy": self.remedy}


def size(count: float) -> str:
    """Return an amount of bytes on disk or in memory, with its unit.

    >>> size(3.5e9), size(2e6)
    ('3.5 GB', '2 MB')
    """
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.0f} MB"
