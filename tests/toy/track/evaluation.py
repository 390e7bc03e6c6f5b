"""Scoring: how far the guess is from each length of the test."""

from collections.abc import Mapping
from pathlib import Path

from recompose.files import read_json, write_json
from recompose.tracks.toy.numbers import read


def evaluate(needs: Mapping[str, Path], folder: Path) -> None:
    """Leave ``scores.json`` in a folder."""
    guess = read_json(needs["run"] / "checkpoint.json")["guess"] if "run" in needs else 0.0
    lengths = read(needs["data"] / "test.csv")
    write_json(folder / "scores.json", {"guess": guess, "differences": [guess - length for length in lengths]})
