"""What runs and evaluations of tests are carried out by."""

from collections.abc import Mapping
from typing import Any

from recompose.recipes.plan import Recipe


def document(
    method: type | str, settings: Mapping[str, Any], *, seed: int = 0, precision: str = "32-true", **others: Any
) -> dict[str, Any]:
    """Return the document of a run, which takes its seed, and of an evaluation, which takes the rest."""
    return {
        "class": method if isinstance(method, str) else f"{method.__module__}:{method.__name__}",
        "settings": settings,
        "seed": seed,
        "trainer": {"precision": precision, "threads": 1, "accelerator": "cpu", "devices": 1},
        **{"feasibility": None, "save": [], **others},
    }


def recipe_of(document: Mapping[str, Any]) -> Recipe:
    """Return a recipe with a document, for what carries it out."""
    return Recipe("", "a test", dict(document))
