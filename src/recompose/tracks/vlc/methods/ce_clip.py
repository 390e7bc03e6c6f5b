"""CE-CLIP (Zhang et al., 2024): negatives are contrasted with captions, too, and ranked below them by thresholds that
grow with what the model can tell apart. Checked against lezhang7/Enhance-FineGrained at ef87eb7.

The released negatives of a caption are four, written beforehand: nouns swapped, and an adjective, a noun and a verb
replaced by a language model. Here they are of the kinds that settings name, made anew in each step. Where one could not
be made, the released code shows the text ``###``; here none is shown.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.vlc.losses import (
    Target,
    contrastive_loss_with_negatives,
    cross_modal_rank_loss,
    intra_modal_loss,
    rank_thresholds,
)
from recompose.tracks.vlc.methods.parts.caption_method import NOTHING, CaptionMethod, Representations, Tuning
from recompose.tracks.vlc.methods.parts.gathering import gathered_with_negatives


class CeClip(CaptionMethod):
    """CLIP under NegCLIP's contrast, a contrast of captions with negatives, and a rank of these.

    Args:
        backbone: that is tuned.
        tuning: ``full`` or ``lora``.
        lora: ``rank`` and ``alpha``, where it is what is tuned.
        negatives: the kinds that are made of a caption.
        rank_weight: of the rank.
        contrast_weight: of the contrast of captions with negatives.
        threshold: the highest one.
        intra_modal_target: see ``losses.intra_modal_loss``.
    """

    thresholds: Tensor

    def __init__(
        self,
        backbone: Backbone,
        *,
        tuning: Tuning,
        lora: Mapping[str, Any] = NOTHING,
        negatives: Sequence[str],
        rank_weight: float,
        contrast_weight: float,
        threshold: float,
        intra_modal_target: Target,
    ) -> None:
        super().__init__(backbone, tuning=tuning, lora=lora, negatives=negatives)
        self.rank_weight, self.contrast_weight = rank_weight, contrast_weight
        self.threshold, self.intra_modal_target = threshold, intra_modal_target
        self.register_buffer("thresholds", torch.zeros(len(self.negatives)))

    def begin_epoch(self) -> None:
        """Thresholds begin at 0 in each epoch, as released."""
        self.thresholds.zero_()

    def loss(self, batch: Representations, valid: Tensor) -> Tensor:
        """The three losses of all devices' images, captions and negatives, under the thresholds that the step before
        left; leaves the next step's.
        """
        whole, valid = gathered_with_negatives(batch, valid)
        scale, before = self.logit_scale, self.thresholds
        rank = cross_modal_rank_loss(*whole, valid, scale, before)
        self.thresholds = rank_thresholds(*whole, valid, scale, before, self.threshold)
        contrast = intra_modal_loss(*whole, valid, scale, self.intra_modal_target)
        loss = contrastive_loss_with_negatives(*whole, valid, scale, missing="excluded")
        return loss + self.rank_weight * rank + self.contrast_weight * contrast
