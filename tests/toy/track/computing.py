"""Training, where the guess goes downhill on the squared error, and scoring: how far it is from each length."""

import random
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import mean

from recompose.files import read_json, write_json
from recompose.progress import ProgressLogger
from recompose.recipes.plan import Recipe


def read(path: Path) -> list[float]:
    """The lengths of a file of an index, a line each."""
    return [float(line) for line in path.read_text().splitlines()]


def train(recipe: Recipe, needs: Mapping[str, Path], folder: Path) -> bool:
    """Leave ``checkpoint.json`` and ``costs.json`` in a folder."""
    lengths, settings = read(needs["data"] / "train.csv"), recipe.document["settings"]["training"]
    began, guess = time.perf_counter(), random.Random(recipe.document["seed"]).random()
    pace = ProgressLogger(recipe.name, "epoch", settings["epochs"])
    for epoch in range(settings["epochs"]):
        guess -= settings["lr"] * 2 * mean(guess - length for length in lengths)
        pace.at(epoch + 1)
    write_json(folder / "checkpoint.json", {"guess": guess})
    seconds = (time.perf_counter() - began) / settings["epochs"]
    write_json(folder / "costs.json", {"trainable_parameters": 1, "epoch_seconds": seconds})
    return True


def evaluate(recipes: Mapping[Path, Recipe], needs: Mapping[str, Path]) -> None:
    """Leave ``scores.json`` in the folder of each evaluation."""
    guess = read_json(needs["run"] / "checkpoint.json")["guess"] if "run" in needs else 0.0
    lengths = read(needs["data"] / "test.csv")
    for folder in recipes:
        write_json(folder / "scores.json", {"guess": guess, "differences": [guess - length for length in lengths]})
