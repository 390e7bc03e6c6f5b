"""The class and the settings of a method, as the document of a run or an evaluation names them, or params.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Self, TypeAlias

from recompose.params.method import PARTS, MethodSettings
from recompose.params.sections import Section

Document: TypeAlias = Mapping[str, Any]  # of the recipe of a run or an evaluation
Settings: TypeAlias = Mapping[str, Any]  # of a method, or one of their sections, as plain values

CHECKPOINT = "checkpoint.safetensors"  # of a run
SCORES = "scores.safetensors"  # of an evaluation
EMBEDDINGS = "embeddings.safetensors"  # of an evaluation that saves them for figures
COSTS = "costs.json"  # of both


def method_class(document: Document) -> Any:
    """Return the class that a document names as ``module:class``.

    Example:
        >>> method_class({"class": "recompose.tracks.czsl.methods.chance:Chance"}).__name__
        'Chance'
    """
    module, name = document["class"].split(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True)
class TypedSettings:
    """The settings of a document: each part is built and checked once, when it is asked for.

    Raises:
        pydantic.ValidationError: a part does not fit the method, as after an edit by hand.

    Example:
        >>> document = {"class": "recompose.tracks.czsl.methods.chance:Chance", "settings": {}}
        >>> TypedSettings(document).own, TypedSettings(document).scoring
        (ChanceSettings(), None)
    """

    document: Document

    @cached_property
    def own(self) -> MethodSettings:
        """What the method's class takes: all but training and scoring."""
        own = {name: value for name, value in self.document["settings"].items() if name not in PARTS}
        return self._schema.model_validate(own)

    @cached_property
    def training(self) -> Section | None:
        """The settings of training; None if the document has none."""
        return self._part(self._schema.training_class, "training")

    @cached_property
    def scoring(self) -> Section | None:
        """The settings of scoring; None if the document has none."""
        return self._part(self._schema.scoring_class, "scoring")

    @property
    def _schema(self) -> type[MethodSettings]:
        return method_class(self.document).settings_class

    def _part(self, schema: type[Section] | None, name: str) -> Section | None:
        values = self.document["settings"].get(name)
        return schema.model_validate(values) if schema and values is not None else None


class WithSettings:
    """The base of all methods: a class that takes its settings last, by the name ``settings``."""

    settings_class: ClassVar[type[MethodSettings]]

    def set_scoring(self, scoring: Any) -> Self:
        """Set the scoring settings, where scores depend on them, and return the method."""
        return self
