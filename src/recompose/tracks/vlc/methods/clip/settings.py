"""The settings of a pretrained CLIP."""

from typing import ClassVar

from recompose.params.method import MethodSettings
from recompose.tracks.vlc.methods.parts.settings import ClipScoring

OUTSIDE_FINGERPRINTS = True  # documents hold the values


class UntunedClipSettings(MethodSettings):
    """A pretrained CLIP."""

    scoring_class: ClassVar = ClipScoring
