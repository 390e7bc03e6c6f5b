"""The settings of TransZero++."""

from typing import Annotated

from pydantic import Field

from recompose.params.sections import Weight
from recompose.tracks.gzsl.methods.parts.settings import CalibratedSettings, PairedGrounding


class TranszeroPlusSettings(CalibratedSettings):
    """TransZero++: attributes that attend to regions, and regions that attend to attributes."""

    grounding: PairedGrounding = Field(description="The transformers.")
    vgt_weight: Annotated[float, Field(ge=0, le=1)] = Field(
        description="Share of the first transformer in an image's scores; the second has the rest."
    )
    agt_loss_weight: Weight = Field(description="Weight of the second transformer's losses.")
    regression_weight: Weight = Field(description="Weight of the squared distance to the class's attributes.")
    attribute_agreement: Weight = Field(
        description="Weight of the squared distance between the attribute scores of both transformers."
    )
    class_agreement: Weight = Field(
        description="Weight of the squared distance between the class scores of both transformers."
    )
