"""The settings of C-S-O."""

from recompose.tracks.czsl.methods.parts.settings import ThreePathSettings


class CsoSettings(ThreePathSettings):
    """C-S-O: three paths from an image to a pair, as a whole, by its state, by its object, and nothing else."""
