"""The settings of a method, and its section of params.yaml."""

from typing import Any, ClassVar, Self

from pydantic import Field, create_model

from recompose.files import Document
from recompose.params.sections import Name, Section

PARTS = {"training": "Its training.", "scoring": "Its scoring; a change of it retrains nothing."}


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

    def document(self) -> Document:
        """Return the settings as plain values."""
        return self.model_dump(by_alias=True, exclude={"per_dataset"})

    @classmethod
    def section(cls) -> type[Self]:
        """Return the schema of the method's section of params.yaml: its settings, those of the parts that it has, and
        those that differ on data sets.

        Example:
            >>> MethodSettings.section().model_validate({"per_dataset": {"mit-states": {"lr": 0.1}}}).per_dataset
            {'mit-states': {'lr': 0.1}}
        """
        classes = {"training": cls.training_class, "scoring": cls.scoring_class}
        fields: Document = {
            name: (section, Field(description=PARTS[name])) for name, section in classes.items() if section is not None
        }
        per_dataset: Any = Field(
            default={},
            description="Data set -> settings that differ there; mappings merge, lists and other values replace.",
        )
        fields["per_dataset"] = (dict[Name, Document], per_dataset)
        return create_model(f"{cls.__name__}Section", __base__=cls, __doc__=cls.__doc__, **fields)
