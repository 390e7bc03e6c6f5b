"""The settings of DEVISE."""

from recompose.tracks.gzsl.methods.parts.settings import BilinearSettings


class DeviseSettings(BilinearSettings):
    """DeViSE: a bilinear map for which all violations count."""
