"""The settings of TransZero."""

from pydantic import Field

from recompose.params.sections import Weight
from recompose.tracks.gzsl.methods.parts.settings import CalibratedSettings, Grounding


class TranszeroSettings(CalibratedSettings):
    """TransZero: attributes that attend to regions."""

    grounding: Grounding = Field(description="The transformer.")
    regression_weight: Weight = Field(description="Weight of the squared distance to the class's attributes.")
