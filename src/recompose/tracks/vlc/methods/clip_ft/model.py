"""CLIP fine-tuned with its own loss, without hard negatives."""

from typing import ClassVar

from torch import Tensor

from recompose.tracks.vlc.losses import contrastive_loss
from recompose.tracks.vlc.methods.clip_ft.settings import ClipFtSettings
from recompose.tracks.vlc.methods.parts.caption_method import CaptionMethod, Representations
from recompose.training.gathering import gather_batch


class ClipFt(CaptionMethod):
    """CLIP under the contrast of images with captions (FSC-CLIP, Eqs. 1 and 2)."""

    settings_class: ClassVar = ClipFtSettings

    def loss(self, batch: Representations, valid: Tensor) -> Tensor:
        """Return the contrastive loss of all devices' images and captions."""
        return contrastive_loss(gather_batch(batch.images), gather_batch(batch.texts), self.logit_scale)
