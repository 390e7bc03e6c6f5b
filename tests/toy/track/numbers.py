"""Lengths in a file, a line each."""

from pathlib import Path


def read(path: Path) -> list[float]:
    """The lengths of a file of an index."""
    return [float(line) for line in path.read_text().splitlines()]
