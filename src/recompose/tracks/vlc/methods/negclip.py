"""NegCLIP (Yuksekgonul et al., 2023) and CE-CLIP (Zhang et al., 2024): images contrasted with hard negatives, which
CE-CLIP also ranks below captions by growing thresholds.

| loss | here | released code |
|---|---|---|
| NegCLIP's | ``losses.contrastive_loss_with_negatives`` | the baseline of ytaek-oh/fsc-clip at 604015d |
| CE-CLIP's, between modalities: L_cmr | ``losses.cross_modal_rank_loss`` | lezhang7/Enhance-FineGrained at ef87eb7 |
| its thresholds | ``losses.rank_thresholds`` | they grow with the margins that the model reaches |
| CE-CLIP's, within texts: L_imc | ``losses.intra_modal_loss`` | another target since 47cef4e |
| CE-CLIP's sum | ``RankingMethod.ranked_loss`` | |

Negatives are new in each step, and there are no additional images that resemble those of the batch. CE-CLIP's code has
four prepared negatives of a caption: nouns swapped, and an adjective, a noun and a verb replaced by a language model.
Here the settings name their kinds. For a missing negative, that code uses the text ``###``; here it is left out.
"""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.vlc.losses import (
    contrastive_loss_with_negatives,
    cross_modal_rank_loss,
    intra_modal_loss,
    rank_thresholds,
)
from recompose.tracks.vlc.methods.base import CaptionMethod, Representations, gather_embeddings
from recompose.tracks.vlc.methods.settings import CeClipLosses, CeClipSettings, NegClipSettings, TunedSettings


class NegClip(CaptionMethod):
    """CLIP with its contrastive loss, in which images are also contrasted with a negative of each caption."""

    settings_class: ClassVar = NegClipSettings

    def __init__(self, backbone: Backbone, settings: NegClipSettings) -> None:
        super().__init__(backbone, settings, negatives=["negclip"])

    def loss(self, batch: Representations, valid: Tensor) -> Tensor:
        """Return the contrastive loss of all devices' images, captions and negatives."""
        embeddings, valid = gather_embeddings(batch, valid)
        return contrastive_loss_with_negatives(*embeddings, valid, self.logit_scale)


class RankingMethod(CaptionMethod):
    """A CLIP that CE-CLIP's three losses may tune. The thresholds of a step are those that the one before has left."""

    thresholds: Tensor  # [K]

    def __init__(self, backbone: Backbone, settings: TunedSettings, negatives: Sequence[str]) -> None:
        super().__init__(backbone, settings, negatives)
        self.register_buffer("thresholds", torch.zeros(len(self.negatives)))

    def begin_epoch(self) -> None:
        """Reset the thresholds to 0, as released."""
        self.thresholds.zero_()

    def ranked_loss(self, embeddings: tuple[Tensor, Tensor, Tensor], valid: Tensor, settings: CeClipLosses) -> Tensor:
        """Return the sum of NegCLIP's loss, a ranking loss and a contrast of captions with negatives; the thresholds
        become those of the next step.

        Args:
            embeddings: of images, captions and negatives of all devices.
            valid: [B, K] bool, the negatives of each kind that exist.
            settings: the weights of the losses.
        """
        inputs = *embeddings, valid, self.logit_scale
        rank = cross_modal_rank_loss(*inputs, self.thresholds)
        self.thresholds = rank_thresholds(*inputs, self.thresholds, settings.threshold)
        contrast = intra_modal_loss(*inputs, settings.intra_modal_target)
        loss = contrastive_loss_with_negatives(*inputs, missing="excluded")
        return loss + settings.rank_weight * rank + settings.contrast_weight * contrast


class CeClip(RankingMethod):
    """CLIP with NegCLIP's loss, a contrast of captions with negatives, and a ranking loss."""

    settings_class: ClassVar = CeClipSettings

    def __init__(self, backbone: Backbone, settings: CeClipSettings) -> None:
        super().__init__(backbone, settings, settings.negatives)
        self.settings = settings

    def loss(self, batch: Representations, valid: Tensor) -> Tensor:
        """Return the sum of the three losses of all devices' images, captions and negatives."""
        return self.ranked_loss(*gather_embeddings(batch, valid), self.settings)
