"""The settings of a method, and its section of params.yaml."""

from typing import Any, ClassVar, Self

from pydantic import Field, create_model

from recompose.files import Document
from recompose.params.sections import Name, Section


class MethodSettings(Section):
    """The settings that a method's model takes, declared beside it.

    A method that is trained also names the schema of its training, and one whose trained model can be scored in
    several ways that of its scoring. They are sections of their own, since a change of scoring retrains nothing.
    """

    training_class: ClassVar[type[Section] | None] = None
    scoring_class: ClassVar[type[Section] | None] = None

    def active(self) -> Self:
        """Return the settings with None for unused parts, so that a change of those retrains nothing."""
        return self

    @classmethod
    def section(cls) -> type[Section]:
        """Return the schema of the method's section of params.yaml: its settings, training and scoring.

        Example:
            >>> MethodSettings.section().model_validate({"per_dataset": {"mit-states": {"lr": 0.1}}}).per_dataset
            {'mit-states': {'lr': 0.1}}
        """
        parts: dict[str, Any] = {}
        if cls.training_class:
            parts["training"] = (cls.training_class, Field(description="Its training."))
        if cls.scoring_class:
            parts["scoring"] = (cls.scoring_class, Field(description="Its scoring; a change of it retrains nothing."))
        parts["per_dataset"] = (
            dict[Name, Document],
            Field(
                default={},
                description="Data set -> settings that differ there; mappings merge, lists and other values replace.",
            ),
        )
        return create_model(f"{cls.__name__}Section", __base__=cls, __doc__=cls.__doc__, **parts)
