"""The class and the settings of a method, as the document of a run or an evaluation names them."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, TypeAlias

from recompose.params.method import MethodSettings
from recompose.params.sections import Section

Document: TypeAlias = Mapping[str, Any]  # of the recipe of a run or an evaluation
Settings: TypeAlias = Mapping[str, Any]  # of a method, or one of their sections, as plain values

CHECKPOINT = "checkpoint.safetensors"
COSTS = "costs.json"
SECTIONS = ("training", "scoring")  # of a method's settings; its class takes all others


def method_class(document: Document) -> Any:
    """Return the class that a document names as ``module:class``.

    Example:
        >>> method_class({"class": "recompose.tracks.czsl.methods.chance:Chance"}).__name__
        'Chance'
    """
    module, name = document["class"].split(":")
    return getattr(import_module(module), name)


def build_settings(document: Document) -> MethodSettings:
    """Return the settings that a document's method takes, typed and checked.

    Raises:
        pydantic.ValidationError: the document does not fit the method, as after an edit by hand.
    """
    settings_class: type[MethodSettings] = method_class(document).settings_class
    return settings_class.model_validate(model_settings(document["settings"]))


def training_settings(document: Document) -> Section:
    """Return the settings of a run's training, typed and checked.

    Raises:
        pydantic.ValidationError: the document does not fit the method, as after an edit by hand.
    """
    training_class: type[Section] = method_class(document).settings_class.training_class
    return training_class.model_validate(document["settings"]["training"])


def scoring_settings(document: Document) -> Section | None:
    """Return the settings of an evaluation's scoring, typed and checked; None for a method without any.

    Raises:
        pydantic.ValidationError: the document does not fit the method, as after an edit by hand.
    """
    scoring_class: type[Section] | None = method_class(document).settings_class.scoring_class
    return scoring_class.model_validate(document["settings"]["scoring"]) if scoring_class else None


def model_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that a method's class takes.

    Example:
        >>> model_settings({"prompt": "a photo of {state} {object}", "training": {"lr": 0.1}})
        {'prompt': 'a photo of {state} {object}'}
    """
    return {name: value for name, value in settings.items() if name not in SECTIONS}
