"""The making of metrics from the scores of an evaluation, by the functions of its track and of plugins."""

from collections.abc import Callable, Mapping
from importlib import import_module
from math import isfinite
from pathlib import Path
from traceback import extract_tb
from typing import Any, SupportsFloat

from recompose.errors import PluginError
from recompose.files import read_json, write_json
from recompose.recipes.plan import Recipe

MEASURE = "recompose.tracks.measuring:make_metrics"
METRICS = "metrics.json"  # in the folder of such a content: name -> value
EVALUATION, OWN = "evaluation", "metrics"  # roles: whose metrics they are, and what a plugin's metric is added to


def make_metrics(recipe: Recipe, needs: Mapping[str, Path], folder: Path) -> None:
    """Compute the metrics of an evaluation, or one that a plugin adds to them, by their flat names.

    Raises:
        PluginError: a plugin's metric fails, or returns no number.
    """
    own = read_json(needs[OWN] / METRICS) if OWN in needs else {}
    write_json(folder / METRICS, compute_metrics(recipe, needs, own))


def compute_metrics(recipe: Recipe, needs: Mapping[str, Path], own: Mapping[str, float]) -> dict[str, float]:
    """Return what a recipe of metrics gives; what is no number, as of no item, is not measured.

    Args:
        recipe: of the metrics of an evaluation, or of a plugin's metric.
        needs: the folders of what it needs, by role.
        own: the metrics of the evaluation, which a plugin's metric is added to.

    Raises:
        PluginError: a plugin's metric fails, or returns no number.
    """
    if OWN in recipe.needs:
        name = recipe.document["metric"]
        value = _plugin_value(name, recipe.made_by["metric"], own, needs[EVALUATION], needs)
        values = {} if value is None else {name: value}
    else:
        values = function(recipe.made_by["metrics"])(needs, needs[EVALUATION])
    return {name: value for name, value in values.items() if isfinite(value)}


def _plugin_value(
    name: str, path: str, values: Mapping[str, float], evaluation: Path, needs: Mapping[str, Path]
) -> float | None:
    """Return the value of a plugin's metric, None where an evaluation has none.

    Raises:
        PluginError: its function fails, or returns no number; the message names the line.
    """
    try:
        value = function(path)(values, evaluation, needs)
    except (ArithmeticError, AttributeError, LookupError, NameError, OSError, TypeError, ValueError) as error:
        frame = extract_tb(error.__traceback__)[-1]
        place, fault = f"{frame.filename}:{frame.lineno}", f"{type(error).__name__}: {error}"
        message = f"{place}: the metric {name!r} fails on evaluations/{evaluation.name}: {fault}"
        raise PluginError(message, code="broken-metric", place=place) from None
    if value is None or isinstance(value, SupportsFloat):
        return None if value is None else float(value)
    message = f"{path}: the metric {name!r} returned {value!r} instead of a number or None"
    raise PluginError(message, code="broken-metric", place=path)


def function(place: str) -> Callable[..., Any]:
    """Return the function at ``module:name``."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
