"""CE-CLIP (Zhang et al., 2024): negatives are contrasted with captions, and ranked below them by growing thresholds.

Checked against lezhang7/Enhance-FineGrained at ef87eb7. The thresholds grow with the margins that the model reaches.

The released code has four prepared negatives of a caption: nouns swapped, and an adjective, a noun and a verb replaced
by a language model. Here the settings name their kinds, and they are new in each step. For a missing negative, the
released code uses the text ``###``; here it is left out.
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
from recompose.tracks.vlc.methods.parts.gathering import gather_with_negatives


class CeClip(CaptionMethod):
    """CLIP with NegCLIP's loss, a contrast of captions with negatives, and a ranking loss.

    Args:
        backbone: the CLIP to tune.
        tuning: ``full`` or ``lora``.
        lora: ``rank`` and ``alpha`` of ``lora``.
        negatives: the kinds of negatives of a caption.
        rank_weight: of the ranking loss.
        contrast_weight: of the contrast of captions with negatives.
        threshold: the upper limit of thresholds.
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
        """Reset the thresholds to 0, as released."""
        self.thresholds.zero_()

    def loss(self, batch: Representations, valid: Tensor) -> Tensor:
        """Return the sum of the three losses of all devices' images, captions and negatives.

        The thresholds are those of the preceding step; the next step's are stored.
        """
        whole, valid = gather_with_negatives(batch, valid)
        scale, before = self.logit_scale, self.thresholds
        rank = cross_modal_rank_loss(*whole, valid, scale, before)
        self.thresholds = rank_thresholds(*whole, valid, scale, before, self.threshold)
        contrast = intra_modal_loss(*whole, valid, scale, self.intra_modal_target)
        loss = contrastive_loss_with_negatives(*whole, valid, scale, missing="excluded")
        return loss + self.rank_weight * rank + self.contrast_weight * contrast
