"""The making of metrics from the scores of an evaluation, by the functions of its track and of plugins."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from typing import Any, SupportsFloat

from recompose.errors import PluginError

MEASURE = "recompose.tracks.measuring:compute_metrics"
OWN = "metric "  # the beginning of the role of a plugin's metric, before its name


def compute_metrics(measured_by: Mapping[str, str], evaluation: Path, needs: Mapping[str, Path]) -> dict[str, float]:
    """Return all metrics of an evaluation by their flat names.

    Args:
        measured_by: role -> "module:name": the function of the track's ``metrics``, and one of each plugin's metric.
        evaluation: its folder.
        needs: the folders of what it needs, by role.

    Raises:
        PluginError: a plugin's metric fails, or returns no number.
    """
    values: dict[str, float] = function(measured_by["metrics"])(needs, evaluation)
    added = {
        role.removeprefix(OWN): _plugin_value(role.removeprefix(OWN), path, values, evaluation, needs)
        for role, path in measured_by.items()
        if role.startswith(OWN)
    }
    return values | {name: value for name, value in added.items() if value is not None}


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
