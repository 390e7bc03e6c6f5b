"""FSC-CLIP (Oh et al., 2024): losses of hard negatives over embeddings, and over patches and tokens.

They have focal weights and smoothed labels. Checked against ytaek-oh/fsc-clip at 604015d.
"""

from typing import ClassVar

import torch
from torch import Tensor

from recompose.backbones.clip import Backbone, end_of_text
from recompose.errors import ArgumentError
from recompose.tracks.vlc.losses import contrastive_loss, hard_negative_loss, local_hard_negative_loss
from recompose.tracks.vlc.methods.fsc_clip.settings import FscClipSettings
from recompose.tracks.vlc.methods.parts.caption_method import AnyRepresentations, CaptionMethod, TokenRepresentations
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

    def represent(self, pixels: Tensor, ids: Tensor) -> AnyRepresentations:
        """Return embeddings, with patches and tokens of the same passes; see ``CaptionMethod.represent``."""
        if not self.settings.local_weight:
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
        scale, settings = self.logit_scale, self.settings
        loss = contrastive_loss(gather_batch(batch.images), gather_batch(batch.texts), scale)
        if settings.global_weight:
            loss = loss + settings.global_weight * hard_negative_loss(
                batch.images,
                batch.texts,
                batch.negatives,
                valid,
                scale,
                settings.gamma,
                settings.beta,
                missing=settings.missing,
            )
        if isinstance(batch, TokenRepresentations):
            loss = loss + settings.local_weight * local_hard_negative_loss(
                batch.patches,
                batch.tokens,
                batch.mask,
                batch.negative_tokens,
                batch.negative_mask,
                valid,
                scale,
                settings.gamma,
                settings.beta,
                settings.weights,
                missing=settings.missing,
            )
        return loss
