"""NegCLIP (Yuksekgonul et al., 2023), as the baseline in FSC-CLIP's code at 604015d.

Negatives are new in each step, and there are no additional images that resemble those of the batch.
"""

from typing import ClassVar

from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.vlc.losses import contrastive_loss_with_negatives
from recompose.tracks.vlc.methods.negclip.settings import NegClipSettings
from recompose.tracks.vlc.methods.parts.caption_method import CaptionMethod, Representations
from recompose.tracks.vlc.methods.parts.gathering import gather_with_negatives


class NegClip(CaptionMethod):
    """CLIP with its contrastive loss, in which images are also contrasted with a negative of each caption."""

    settings_class: ClassVar = NegClipSettings

    def __init__(self, backbone: Backbone, settings: NegClipSettings) -> None:
        super().__init__(backbone, settings, negatives=["negclip"])

    def loss(self, batch: Representations, valid: Tensor) -> Tensor:
        """Return the contrastive loss of all devices' images, captions and negatives."""
        whole, valid = gather_with_negatives(batch, valid)
        return contrastive_loss_with_negatives(*whole, valid, self.logit_scale)
