"""Training, where the guess goes downhill on the squared error, and scoring: how far it is from each length."""

import random
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from recompose.files import read_json, write_json
from recompose.progress import ProgressLogger


def read(path: Path) -> list[float]:
    """The lengths of a file of an index, a line each."""
    return [float(line) for line in path.read_text().splitlines()]


def train(document: Mapping[str, Any], needs: Mapping[str, Path], folder: Path, title: str) -> bool:
    """Leave ``checkpoint.json`` and ``costs.json`` in a folder."""
    lengths, settings = read(needs["data"] / "train.csv"), document["settings"]["training"]
    began, guess = time.perf_counter(), random.Random(document["seed"]).random()
    pace = ProgressLogger(title, "epoch", settings["epochs"])
    for epoch in range(settings["epochs"]):
        guess -= settings["lr"] * 2 * mean(guess - length for length in lengths)
        pace.at(epoch + 1)
    write_json(folder / "checkpoint.json", {"guess": guess})
    seconds = (time.perf_counter() - began) / settings["epochs"]
    write_json(folder / "costs.json", {"trainable_parameters": 1, "epoch_seconds": seconds})
    return True


def evaluate(needs: Mapping[str, Path], folder: Path) -> None:
    """Leave ``scores.json`` in a folder."""
    guess = read_json(needs["run"] / "checkpoint.json")["guess"] if "run" in needs else 0.0
    lengths = read(needs["data"] / "test.csv")
    write_json(folder / "scores.json", {"guess": guess, "differences": [guess - length for length in lengths]})
