"""FSC-CLIP (Oh et al., 2024): losses of hard negatives over embeddings, and over patches and tokens.

The paper's equations in their order; the functions without a class are in ``losses``, which other methods share, and
papers/fsc-clip/notes.md has more on where the code departs.

| equation | here | released code, ytaek-oh/fsc-clip at 604015d |
|---|---|---|
| 1, 2 | ``contrastive_loss`` | gathered from all devices, without gradients of the others |
| 3, 4 | ``hard_negative_loss`` | of one device; a missing negative has a logit of 0 |
| 5 | ``local_hard_negative_loss`` | likewise |
| 6, 7 | ``patch_weights`` | takes no gradients |
| 8 | ``local_scores`` | its logarithm; neither start of text nor padding counts |
| 9, 10 | ``_selective_cross_entropy`` | beta is shared by the negatives that exist |
| 11 | ``FscClip.loss`` | |
"""

from typing import Any, ClassVar

import torch
from torch import Tensor

from recompose.backbones.clip import Backbone, end_of_text
from recompose.errors import ArgumentError
from recompose.tracks.vlc.losses import contrastive_loss, hard_negative_loss, local_hard_negative_loss
from recompose.tracks.vlc.methods.base import CaptionMethod, LocalFeatures, Representations
from recompose.tracks.vlc.methods.settings import FscClipSettings
from recompose.training.gathering import gather_batch


class FscClip(CaptionMethod):
    """CLIP with the loss L_clip + lambda_g L_neg^g + lambda_l L_neg^l (Eq. 11).

    Where lambda_l is 0, patches and tokens are not computed.

    Raises:
        ArgumentError: a local loss with an image tower without patches.
    """

    settings_class: ClassVar = FscClipSettings

    def __init__(self, backbone: Backbone, settings: FscClipSettings) -> None:
        super().__init__(backbone, settings, settings.negatives)
        if settings.local_weight and not backbone.depth:
            raise ArgumentError(
                "local_weight",
                "is not 0: the local loss of fsc-clip compares tokens with patches, and a convolutional image tower "
                "has none; set it to 0, or use a transformer",
            )
        self.settings = settings

    def represent(self, pixels: Tensor, ids: Tensor) -> Representations:
        """Return embeddings, with patches and tokens of the same passes; see ``CaptionMethod.represent``."""
        if not self.settings.local_weight:
            return super().represent(pixels, ids)
        backbone, count = self.backbone, len(pixels)
        (image_tokens,) = backbone.joint_tokens(pixels, [backbone.depth - 1])
        tokens = backbone.project_text(backbone.prompt_tokens(backbone.embed_tokens(ids)))
        texts = tokens[torch.arange(len(ids), device=ids.device), end_of_text(ids)]
        mask = ids > 0
        mask[:, 0] = False  # the start of text
        local = LocalFeatures(image_tokens[:, 1:], tokens[:count], mask[:count], tokens[count:], mask[count:])
        return Representations(image_tokens[:, 0], texts[:count], texts[count:], local)

    def loss(self, batch: Representations, valid: Tensor) -> Tensor:
        """Return the contrastive loss of all devices' images and captions, plus the losses of this one's negatives."""
        scale, settings = self.logit_scale, self.settings
        loss = contrastive_loss(gather_batch(batch.images), gather_batch(batch.texts), scale)
        regularization: dict[str, Any] = {"gamma": settings.gamma, "beta": settings.beta, "missing": settings.missing}
        if settings.global_weight:
            of_negatives = hard_negative_loss(*batch.embeddings, valid, scale, **regularization)
            loss = loss + settings.global_weight * of_negatives
        if local := batch.local:
            texts = local.tokens, local.mask, local.negative_tokens, local.negative_mask
            of_negatives = local_hard_negative_loss(
                local.patches, *texts, valid, scale, weights=settings.weights, **regularization
            )
            loss = loss + settings.local_weight * of_negatives
        return loss
