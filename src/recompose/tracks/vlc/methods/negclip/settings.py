"""The settings of NegCLIP."""

from recompose.tracks.vlc.methods.parts.settings import TunedSettings

OUTSIDE_FINGERPRINTS = True  # documents hold the values


class NegClipSettings(TunedSettings):
    """NegCLIP: images are also contrasted with a hard negative of each caption."""
