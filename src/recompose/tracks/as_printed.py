"""Methods as papers train them, for notebooks."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from recompose.errors import ArgumentError
from recompose.params.loading import load_params
from recompose.params.track import TrackChoice
from recompose.tracks import TRACKS
from recompose.tracks.building import TypedSettings, WithSettings

MethodOfSettings = TypeVar("MethodOfSettings", bound=WithSettings)


def as_printed(method: type[MethodOfSettings], dataset: str, project: Path = Path()) -> Callable[..., MethodOfSettings]:
    """Return a method's class with the settings of params.yaml's profile ``paper``, to be called with its other
    arguments.

    ``as_printed(MSCI, "ut-zappos")(backbone, states, objects)`` is MSCI before training, as the paper trains it.

    Args:
        method: the class.
        dataset: a data set of the profile.
        project: the folder of params.yaml.

    Raises:
        ArgumentError: the profile does not run the method on this data set.
        ParamsError: params.yaml is absent or wrong.
    """
    params = load_params(project / "params.yaml", TRACKS.forms, "paper")
    path = f"{method.__module__}:{method.__qualname__}"
    for track, choice in params.chosen.tracks.items():
        assert isinstance(choice, TrackChoice)
        for name in choice.methods:
            if TRACKS[track].methods[name].class_path == path and dataset in choice.datasets:
                settings = TRACKS[track].section_of(params).settings(name, dataset).active()
                typed = TypedSettings({"class": path, "settings": settings.document()})
                return lambda *inputs: method(*inputs, settings=typed.own).set_scoring(typed.scoring)  # type: ignore[call-arg]
    raise ArgumentError("dataset", f"is {dataset!r}: the profile paper has no {method.__name__} on it")
