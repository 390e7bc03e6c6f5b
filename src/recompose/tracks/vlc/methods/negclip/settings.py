"""The settings of NegCLIP."""

from recompose.tracks.vlc.methods.parts.settings import TunedSettings


class NegClipSettings(TunedSettings):
    """NegCLIP: images are also contrasted with a hard negative of each caption."""
