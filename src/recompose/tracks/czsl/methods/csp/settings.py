"""The settings of CSP."""

from pydantic import Field

from recompose.params.sections import Share
from recompose.tracks.czsl.methods.parts.settings import TrainedPairSettings


class CspSettings(TrainedPairSettings):
    """CSP: a learned vector for each state and each object."""

    dropout: Share = Field(description="Dropout rate of learned vectors.")
