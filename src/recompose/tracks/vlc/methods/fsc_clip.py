"""FSC-CLIP (Oh et al., 2024): losses of hard negatives over embeddings, and over patches and tokens.

They have focal weights and smoothed labels. Checked against ytaek-oh/fsc-clip at 604015d.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from recompose.backbones.clip import Backbone, end_of_text
from recompose.nn.gathering import gather_batch
from recompose.tracks.vlc.losses import Missing, Weights, contrastive_loss, hard_negative_loss, local_hard_negative_loss
from recompose.tracks.vlc.methods.parts.caption_method import (
    NOTHING,
    AnyRepresentations,
    CaptionMethod,
    TokenRepresentations,
    Tuning,
)


class FscClip(CaptionMethod):
    """CLIP with the loss L_clip + lambda_g L_neg^g + lambda_l L_neg^l (Eq. 11).

    Args:
        backbone: the CLIP to tune.
        tuning: ``full`` or ``lora``.
        lora: ``rank`` and ``alpha`` of ``lora``.
        negatives: the kinds of negatives of a caption.
        global_weight: lambda_g; 0 for no such loss.
        local_weight: lambda_l; 0 for no such loss, and then patches and tokens are not computed.
        gamma: of the focal factor, in both (Eq. 9).
        beta: the smoothed mass of labels, in both (Eq. 10).
        missing: the logit of a missing negative, see ``losses``.
        weights: the weights of patches for a token (Eq. 6).

    Raises:
        ValueError: a local loss with an image tower without patches.
    """

    def __init__(
        self,
        backbone: Backbone,
        *,
        tuning: Tuning,
        lora: Mapping[str, Any] = NOTHING,
        negatives: Sequence[str],
        global_weight: float,
        local_weight: float,
        gamma: float,
        beta: float,
        missing: Missing,
        weights: Weights,
    ) -> None:
        super().__init__(backbone, tuning=tuning, lora=lora, negatives=negatives)
        if local_weight and not backbone.depth:
            raise ValueError(
                "the local loss of fsc-clip compares tokens with patches, and a convolutional image tower has none: "
                "set local_weight to 0, or use a transformer"
            )
        self.global_weight, self.local_weight = global_weight, local_weight
        self.gamma, self.beta, self.missing, self.weights = gamma, beta, missing, weights

    def represent(self, pixels: Tensor, ids: Tensor) -> AnyRepresentations:
        """Return embeddings, with patches and tokens of the same passes; see ``CaptionMethod.represent``."""
        if not self.local_weight:
            return super().represent(pixels, ids)
        backbone, count = self.backbone, len(pixels)
        (image_tokens,) = backbone.joint_tokens(pixels, [backbone.depth - 1])
        tokens = backbone.project_text(backbone.prompt_tokens(backbone.embed_tokens(ids)))
        texts = tokens[torch.arange(len(ids), device=ids.device), end_of_text(ids)]
        mask = ids > 0
        mask[:, 0] = False  # the start of text
        return TokenRepresentations(
            images=image_tokens[:, 0],
            texts=texts[:count],
            negatives=texts[count:],
            patches=image_tokens[:, 1:],
            tokens=tokens[:count],
            mask=mask[:count],
            negative_tokens=tokens[count:],
            negative_mask=mask[count:],
        )

    def loss(self, batch: AnyRepresentations, valid: Tensor) -> Tensor:
        """Return the contrastive loss of all devices' images and captions, plus the losses of this one's negatives."""
        scale, regularization = self.logit_scale, (self.gamma, self.beta)
        loss = contrastive_loss(gather_batch(batch.images), gather_batch(batch.texts), scale)
        if self.global_weight:
            global_loss = hard_negative_loss(
                batch.images, batch.texts, batch.negatives, valid, scale, *regularization, missing=self.missing
            )
            loss = loss + self.global_weight * global_loss
        if isinstance(batch, TokenRepresentations):
            loss = loss + self.local_weight * local_hard_negative_loss(
                batch.patches,
                batch.tokens,
                batch.mask,
                batch.negative_tokens,
                batch.negative_mask,
                valid,
                scale,
                *regularization,
                self.weights,
                missing=self.missing,
            )
        return loss
