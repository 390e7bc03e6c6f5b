"""NegCLIP (Yuksekgonul et al., 2023), as FSC-CLIP's code at 604015d has it as a baseline: negatives are made anew in
each step, and there are no additional images that resemble those of the batch.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.vlc.losses import contrastive_loss_with_negatives
from recompose.tracks.vlc.methods.parts.caption_method import NOTHING, CaptionMethod, Representations, Tuning
from recompose.tracks.vlc.methods.parts.gathering import gathered_with_negatives


class NegClip(CaptionMethod):
    """CLIP under its own contrast, with a negative of each caption among what images are told from."""

    def __init__(self, backbone: Backbone, *, tuning: Tuning, lora: Mapping[str, Any] = NOTHING) -> None:
        super().__init__(backbone, tuning=tuning, lora=lora, negatives=["negclip"])

    def loss(self, batch: Representations, valid: Tensor) -> Tensor:
        """The contrast of all devices' images, captions and negatives."""
        whole, valid = gathered_with_negatives(batch, valid)
        return contrastive_loss_with_negatives(*whole, valid, self.logit_scale)
