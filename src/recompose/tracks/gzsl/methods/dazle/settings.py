"""The settings of DAZLE."""

from pydantic import Field

from recompose.tracks.gzsl.methods.parts.settings import CalibratedSettings


class DazleSettings(CalibratedSettings):
    """DAZLE: dense attention of attributes to regions, and attention over attributes."""

    normalise_words: bool = Field(description="Whether vectors of attributes are scaled to unit length at each step.")
    attribute_attention: bool = Field(
        description="Whether attributes are weighted for each image; in the released code for SUN they are not."
    )
