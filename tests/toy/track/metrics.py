"""What follows from the differences between guess and lengths."""

from collections.abc import Mapping
from pathlib import Path
from statistics import mean

from recompose.files import read_json


def read_metrics(needs: Mapping[str, Path], evaluation: Path) -> dict[str, float]:
    """Their mean size, and their mean."""
    differences = read_json(evaluation / "scores.json")["differences"]
    return {"test/error": mean(map(abs, differences)), "test/bias": mean(differences)}
