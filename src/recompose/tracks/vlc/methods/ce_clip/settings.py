"""The settings of CE-CLIP."""

from recompose.tracks.vlc.methods.parts.settings import CeClipLosses, Negatives, TunedSettings

OUTSIDE_FINGERPRINTS = True  # documents hold the values


class CeClipSettings(CeClipLosses, TunedSettings):
    """CE-CLIP: hard negatives ranked below captions, by growing thresholds, and contrasted with them."""

    negatives: Negatives
