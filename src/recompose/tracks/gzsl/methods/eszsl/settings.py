"""The settings of ESZSL."""

from typing import ClassVar, Literal

from pydantic import Field

from recompose.params.sections import Positive, Section
from recompose.tracks.gzsl.methods.parts.settings import PooledSettings


class SelectionOfBias(Section):
    """The choice of the bias for a closed form, by images that it was not solved with."""

    selection: Literal["validation"] = Field(description="It is chosen on seen classes that the solution leaves out.")


class EszslSettings(PooledSettings):
    """ESZSL: a bilinear map in closed form."""

    training_class: ClassVar = SelectionOfBias

    feature_weight: Positive = Field(description="gamma, the ridge on the side of features.")
    class_weight: Positive = Field(description="lambda, the ridge on the side of classes.")
    labels: Literal["one-hot", "signed"] = Field(
        description="1 for an image's class and 0 for the others; or -1 for the others, as in the paper."
    )
