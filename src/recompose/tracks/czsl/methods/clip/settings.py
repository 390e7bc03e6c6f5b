"""The settings of zero-shot CLIP."""

from pydantic import Field

from recompose.params.method import MethodSettings
from recompose.tracks.czsl.methods.parts.settings import Template


class ZeroShotSettings(MethodSettings):
    """Zero-shot CLIP."""

    prompt: Template = Field(description="The text of a pair.")
