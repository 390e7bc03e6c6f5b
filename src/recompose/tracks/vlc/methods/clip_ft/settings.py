"""The settings of CLIP fine-tuned with its own loss."""

from recompose.tracks.vlc.methods.parts.settings import TunedSettings

OUTSIDE_FINGERPRINTS = True  # documents hold the values


class ClipFtSettings(TunedSettings):
    """A CLIP tuned on images and their captions."""
