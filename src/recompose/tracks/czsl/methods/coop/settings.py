"""The settings of CoOp."""

from recompose.tracks.czsl.methods.parts.settings import TrainedPairSettings


class CoopSettings(TrainedPairSettings):
    """CoOp: a learned context before fixed names."""
