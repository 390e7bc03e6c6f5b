"""The settings of ALE."""

from recompose.tracks.gzsl.methods.parts.settings import BilinearSettings


class AleSettings(BilinearSettings):
    """ALE: a bilinear map whose violations count by the rank that they give the image's class."""
