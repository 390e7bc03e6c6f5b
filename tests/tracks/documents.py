"""What runs and evaluations of tests are carried out by."""

from collections.abc import Mapping
from typing import Any


def document(
    method: type | str, settings: Mapping[str, Any], *, seed: int = 0, precision: str = "32-true", **others: Any
) -> dict[str, Any]:
    """Return the document of a run, which takes its trainer, and of an evaluation, which takes the rest."""
    return {
        "class": method if isinstance(method, str) else f"{method.__module__}:{method.__name__}",
        "settings": settings,
        "seed": seed,
        "trainer": {"precision": precision, "threads": 1},
        **{"threads": 1, "feasibility": None, "save": [], **others},
    }
