"""NegCLIP (Yuksekgonul et al., 2023) and CE-CLIP (Zhang et al., 2024): images contrasted with hard negatives, which
CE-CLIP also ranks below captions by growing thresholds.

| loss | here | released code |
|---|---|---|
| NegCLIP's | ``losses.contrastive_loss_with_negatives`` | the baseline of ytaek-oh/fsc-clip at 604015d |
| CE-CLIP's, between modalities: L_cmr | ``cross_modal_rank_loss`` | lezhang7/Enhance-FineGrained at ef87eb7 |
| its thresholds | ``rank_thresholds`` | they grow with the margins that the model reaches |
| CE-CLIP's, within texts: L_imc | ``intra_modal_loss`` | another target since 47cef4e |
| CE-CLIP's sum | ``RankingMethod.ranked_loss`` | |

Negatives are new in each step, and there are no additional images that resemble those of the batch. CE-CLIP's code has
four prepared negatives of a caption: nouns swapped, and an adjective, a noun and a verb replaced by a language model.
Here the settings name their kinds. For a missing negative, that code uses the text ``###``; here it is left out.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from recompose.backbones.clip import Backbone
from recompose.tracks.vlc.losses import contrastive_loss_with_negatives, normalized, own_logits
from recompose.tracks.vlc.methods.base import CaptionMethod, Representations, gather_embeddings
from recompose.tracks.vlc.methods.settings import CeClipLosses, CeClipSettings, NegClipSettings, TunedSettings

Target = Literal["first", "own"]


def intra_modal_loss(
    image_features: Tensor,
    text_features: Tensor,
    negative_features: Tensor,
    valid: Tensor,
    logit_scale: Tensor | float,
    target: Target = "first",
) -> Tensor:
    """Return CE-CLIP's contrast of captions with negatives, L_imc (Zhang et al., 2024).

    It is the mean over captions of the cross-entropy of a target among the logits of the negatives of all captions.
    Without negatives it is 0, with gradients of 0. The ``target`` is one of:

    - ``own``: the logit of a caption with its own image, in the first column, as in the paper and in the code that
      trained the published checkpoint (8553a11); captions move away from negatives.
    - ``first``, as released since 47cef4e, which lacks that column while the labels still select the first one: every
      caption moves towards the first negative of the batch.

    Example:
        >>> negatives, valid = torch.tensor([[0.0, 1.0]]), torch.tensor([[True], [False]])
        >>> intra_modal_loss(torch.eye(2), torch.eye(2), negatives, valid, logit_scale=1.0, target="own")
        tensor(0.5032)
        >>> intra_modal_loss(torch.eye(2), torch.eye(2), negatives, valid, logit_scale=1.0)
        tensor(0.)
    """
    images, texts, negatives = normalized(image_features, text_features, negative_features, valid, logit_scale)
    logits = logit_scale * texts @ negatives.T
    if target == "own" or not len(negatives):  # a single column gives a loss of 0
        logits = torch.cat([logit_scale * (images * texts).sum(dim=1, keepdim=True), logits], dim=1)
    return cross_entropy(logits, torch.zeros(len(texts), dtype=torch.long, device=texts.device))


def cross_modal_rank_loss(
    image_features: Tensor,
    text_features: Tensor,
    negative_features: Tensor,
    valid: Tensor,
    logit_scale: Tensor | float,
    thresholds: Tensor,
) -> Tensor:
    """Return CE-CLIP's loss that ranks an image's caption above its negatives, L_cmr (Zhang et al., 2024).

    It is the mean over all B x K of the shortfall of the caption's lead over a negative below the threshold [K] of the
    negative's kind, in units of logits; missing negatives count 0 (as released, ef87eb7).

    Example:
        >>> negatives, valid = torch.tensor([[0.0, 1.0]]), torch.tensor([[True], [False]])
        >>> cross_modal_rank_loss(torch.eye(2), torch.eye(2), negatives, valid, 10.0, torch.tensor([12.0]))
        tensor(1.)
    """
    positives, negatives = own_logits(image_features, text_features, negative_features, valid, logit_scale)
    leads = positives[:, None] - positives.new_zeros(valid.shape).masked_scatter(valid, negatives)
    shortfalls = (thresholds - leads).relu().masked_fill(~valid, 0)
    return shortfalls.sum() / max(valid.numel(), 1)


@torch.no_grad()
def rank_thresholds(
    image_features: Tensor,
    text_features: Tensor,
    negative_features: Tensor,
    valid: Tensor,
    logit_scale: Tensor | float,
    before: Tensor,
    highest: float,
) -> Tensor:
    """Return the thresholds [K] of CE-CLIP's next step, from those before (Zhang et al., 2024).

    A threshold is the mean lead of this batch's captions over their negatives of a kind, clamped to 0 and ``highest``.
    As released (ef87eb7), that is the mean logit of all captions, those without this kind included, minus that of the
    existing negatives. Where a batch has none of a kind, the released code has 0 / 0; here its threshold is unchanged.

    Example:
        >>> negatives, valid = torch.tensor([[0.6, 0.8]]), torch.tensor([[True], [False]])
        >>> rank_thresholds(torch.eye(2), torch.eye(2), negatives, valid, 10.0, torch.zeros(1), 10.0)
        tensor([4.])
    """
    positives, negatives = own_logits(image_features, text_features, negative_features, valid, logit_scale)
    counts, totals = valid.sum(dim=0), positives.new_zeros(valid.shape).masked_scatter(valid, negatives).sum(dim=0)
    means = positives.mean() - totals / counts.clamp_min(1)
    return means.clamp(0, highest).where(counts > 0, before.to(means))


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
