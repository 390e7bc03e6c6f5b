"""Pretrained CLIP (Radford et al., 2021), the baseline."""

from typing import ClassVar

from torch import nn

from recompose.backbones.clip import Backbone
from recompose.tracks.vlc.methods.clip.settings import UntunedClipSettings


class UntunedCLIP(nn.Module):
    """A CLIP without tuning."""

    settings_class: ClassVar = UntunedClipSettings

    def __init__(self, backbone: Backbone, settings: UntunedClipSettings) -> None:
        super().__init__()
        self.backbone = backbone
