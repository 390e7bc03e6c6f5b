"""CE-CLIP's losses, which CLIP-CAE shares."""

from torch import Tensor

from recompose.tracks.vlc.losses import (
    contrastive_loss_with_negatives,
    cross_modal_rank_loss,
    intra_modal_loss,
    rank_thresholds,
)
from recompose.tracks.vlc.methods.parts.caption_method import Representations
from recompose.tracks.vlc.methods.parts.settings import CeClipLosses


def ranked_loss(
    batch: Representations, valid: Tensor, logit_scale: Tensor, thresholds: Tensor, settings: CeClipLosses
) -> tuple[Tensor, Tensor]:
    """Return the sum of NegCLIP's loss, a ranking loss and a contrast of captions with negatives, and new thresholds.

    Args:
        batch: representations of all devices.
        valid: [B, K] bool, the negatives of each kind that exist.
        logit_scale: 1 / tau.
        thresholds: [K], as the preceding step left them.
        settings: the weights of the losses.
    """
    rank = cross_modal_rank_loss(*batch, valid, logit_scale, thresholds)
    after = rank_thresholds(*batch, valid, logit_scale, thresholds, settings.threshold)
    contrast = intra_modal_loss(*batch, valid, logit_scale, settings.intra_modal_target)
    loss = contrastive_loss_with_negatives(*batch, valid, logit_scale, missing="excluded")
    return loss + settings.rank_weight * rank + settings.contrast_weight * contrast, after
