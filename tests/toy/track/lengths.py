"""Lengths in a file, and its index: half of them to train on, and half to test on."""

import random
from pathlib import Path

from recompose.files import write_json, write_text
from recompose.recipes.plan import Recipe


def acquire(recipe: Recipe, raw: Path) -> Path:
    """Draw lengths unless they are there, and return their folder."""
    root, draw = recipe.raw_folder(raw), random.Random(recipe.document["seed"])
    if not root.exists():
        lengths = (f"{1 + draw.random():.4f}" for _ in range(recipe.document["count"]))
        write_text(root / "lengths.csv", "\n".join(["length", *lengths]) + "\n")
    return root


def index(recipe: Recipe, root: Path, folder: Path) -> list[str]:
    """Write both halves into a folder, and return the file that was read."""
    lengths = [float(line) for line in (root / "lengths.csv").read_text().splitlines()[1:]]
    half = len(lengths) // 2
    write_text(folder / "train.csv", "\n".join(map(str, lengths[:half])) + "\n")
    write_text(folder / "test.csv", "\n".join(map(str, lengths[half:])) + "\n")
    write_json(folder / "statistics.json", {"train": half, "test": len(lengths) - half})
    return ["lengths.csv"]
