"""The settings of SJE."""

from recompose.tracks.gzsl.methods.parts.settings import BilinearSettings


class SjeSettings(BilinearSettings):
    """SJE: a bilinear map for which the largest violation counts."""
