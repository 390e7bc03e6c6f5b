"""CLIP (Radford et al., 2021), pretrained and fine-tuned with its own loss: the baselines."""

from typing import ClassVar

from torch import Tensor, nn

from recompose.backbones.clip import Backbone
from recompose.tracks.building import WithSettings
from recompose.tracks.vlc.losses import contrastive_loss
from recompose.tracks.vlc.methods.base import CaptionMethod, Representations
from recompose.tracks.vlc.methods.settings import ClipFtSettings, UntunedClipSettings
from recompose.training.gathering import gather_batch


class UntunedCLIP(nn.Module, WithSettings):
    """A CLIP without tuning."""

    settings_class: ClassVar = UntunedClipSettings

    def __init__(self, backbone: Backbone, settings: UntunedClipSettings) -> None:
        super().__init__()
        self.backbone = backbone


class ClipFt(CaptionMethod):
    """CLIP under the contrast of images with captions (FSC-CLIP, Eqs. 1 and 2), without hard negatives."""

    settings_class: ClassVar = ClipFtSettings

    def loss(self, batch: Representations, valid: Tensor) -> Tensor:
        """Return the contrastive loss of all devices' images and captions."""
        return contrastive_loss(gather_batch(batch.images), gather_batch(batch.texts), self.logit_scale)
