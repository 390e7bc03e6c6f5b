"""FSC-CLIP (Oh et al., 2024): losses of hard negatives over embeddings, and over patches and tokens.

The paper's equations in their order; papers/fsc-clip/notes.md has more on where the code departs. ``losses`` says how
batches and their negatives are given, and has the contrast of Eqs. 1 and 2.

| equation | here | released code, ytaek-oh/fsc-clip at 604015d |
|---|---|---|
| 1, 2 | ``contrastive_loss`` | gathered from all devices, without gradients of the others |
| 3, 4 | ``hard_negative_loss`` | of one device; a missing negative has a logit of 0 |
| 5 | ``local_hard_negative_loss`` | likewise |
| 6, 7 | ``patch_weights`` | takes no gradients |
| 8 | ``local_scores`` | its logarithm; neither start of text nor padding counts |
| 9, 10 | ``_selective_cross_entropy`` | beta is shared by the negatives that exist |
| 11 | ``FscClip.loss`` | |

In losses, ``gamma`` is the power of the focal factor, 0 for none; ``beta`` is the smoothed mass of the labels, 0 for
none. ``image_tokens`` [N, P, E] are patches without the class token, and ``text_tokens`` [N, T, E] are projected into
the shared space and not normalised, since their lengths weigh patches. ``text_mask`` [N, T] bool marks the tokens that
count: as released, neither the start token nor padding.
"""

from typing import Any, ClassVar, Literal

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, normalize, pad

from recompose.backbones.clip import Backbone, end_of_text
from recompose.errors import ArgumentError
from recompose.tracks.arrays import check_shape
from recompose.tracks.vlc.losses import Missing, check_negatives, contrastive_loss, images_of, own_logits
from recompose.tracks.vlc.methods.base import CaptionMethod, LocalFeatures, Representations
from recompose.tracks.vlc.methods.settings import FscClipSettings
from recompose.training.gathering import gather_batch

Weights = Literal["minmax", "sparse", "softmax"]


def hard_negative_loss(
    image_features: Tensor,
    text_features: Tensor,
    negative_features: Tensor,
    valid: Tensor,
    logit_scale: Tensor | float,
    gamma: float = 0.0,
    beta: float = 0.0,
    *,
    missing: Missing = "zero",
) -> Tensor:
    """Return the global loss of hard negatives, L_neg^g (FSC-CLIP, Eqs. 3 and 4).

    It contrasts an image's caption with its own hard negatives, under selective calibrated regularization (Eqs. 9 and
    10). Let p be the softmax of an image over its caption (0) and its K negatives, and n the number of the caption and
    the existing negatives. With y_0 = 1 - beta + beta / n, y_k = beta / n for existing negatives and 0 for missing
    ones, an image's loss is -sum_k y_k (1 - p_k)^gamma log p_k. The factor takes gradients, too. The loss is the mean
    over images with a negative. Without any it is 0, with gradients of 0; the released code (604015d) has NaN there and
    stops. As printed in the paper, beta is shared by all 1 + K, missing or not.

    Example:
        >>> image, negatives, valid = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]), torch.tensor([[True]])
        >>> hard_negative_loss(image, image, negatives, valid, logit_scale=1.0)
        tensor(0.3133)
        >>> hard_negative_loss(image, image, negatives, valid, logit_scale=1.0, gamma=2.0)
        tensor(0.0227)
        >>> hard_negative_loss(image, image, negatives, torch.tensor([[True, False]]), logit_scale=1.0)
        tensor(0.5514)
    """
    logits = own_logits(image_features, text_features, negative_features, valid, logit_scale)
    return _selective_cross_entropy(*logits, valid, gamma, beta, missing)


def local_hard_negative_loss(
    image_tokens: Tensor,
    text_tokens: Tensor,
    text_mask: Tensor,
    negative_tokens: Tensor,
    negative_mask: Tensor,
    valid: Tensor,
    logit_scale: Tensor | float,
    gamma: float = 0.0,
    beta: float = 0.0,
    weights: Weights = "minmax",
    *,
    missing: Missing = "zero",
) -> Tensor:
    """Return the local loss of hard negatives, L_neg^l (FSC-CLIP, Eq. 5).

    It is ``hard_negative_loss`` with the logarithms of local scores in place of scaled cosines; see ``patch_weights``
    for ``weights``.

    Example:
        >>> patches, negatives = torch.eye(2)[None], torch.tensor([[[1.0, -1.0]]])
        >>> tokens, mask, valid = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[True]]), torch.tensor([[True]])
        >>> local_hard_negative_loss(patches, tokens, mask, negatives, mask, valid, logit_scale=1.0)
        tensor(0.5574)
    """
    _check_tokens(image_tokens, text_tokens, text_mask)
    check_negatives("negative_tokens", image_tokens, negative_tokens, valid)
    scores = local_scores(image_tokens, text_tokens, text_mask, logit_scale, weights)
    images = image_tokens[images_of(valid)]
    negative_scores = local_scores(images, negative_tokens, negative_mask, logit_scale, weights)
    return _selective_cross_entropy(scores, negative_scores, valid, gamma, beta, missing)


def local_scores(
    image_tokens: Tensor,
    text_tokens: Tensor,
    text_mask: Tensor,
    logit_scale: Tensor | float,
    weights: Weights = "minmax",
) -> Tensor:
    """Return log S_l [N] of images with texts (FSC-CLIP, Eqs. 7 and 8).

    It is the logarithm of the sum over tokens of exp(scale times the cosine of a token with its weighted mean of
    patches). As it is a sum, a longer text has a higher score. Gradients go to tokens and patches, none through the
    weights, for which see ``patch_weights``.

    Example:
        >>> patches, tokens = torch.eye(2)[None], torch.tensor([[[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]])
        >>> local_scores(patches, tokens, torch.tensor([[True, False, False]]), logit_scale=1.0)
        tensor([1.])
        >>> local_scores(patches, tokens, torch.tensor([[True, True, False]]), logit_scale=1.0)
        tensor([1.6931])
    """
    _check_tokens(image_tokens, text_tokens, text_mask)
    used = text_mask.any(dim=0)  # most of CLIP's 77 positions are padding in every text
    text_tokens, text_mask = text_tokens[:, used], text_mask[:, used]
    aligned = patch_weights(image_tokens, text_tokens, weights) @ image_tokens
    logits = logit_scale * (normalize(aligned, dim=2) * normalize(text_tokens, dim=2)).sum(dim=2)
    return logits.masked_fill(~text_mask, -torch.inf).logsumexp(dim=1)


def patch_weights(image_tokens: Tensor, text_tokens: Tensor, weights: Weights = "minmax") -> Tensor:
    """Return the weights [N, T, P] of an image's patches for each token of a text.

    They follow from the dot products of the token with the patches, unnormalised and without a temperature; they sum to
    1 and take no gradients. Where a token's dot products are all the same, ``minmax`` and ``sparse`` are uniform; Eq. 6
    and the released code (604015d) have 0 / 0 there.

    Args:
        image_tokens: [N, P, E].
        text_tokens: [N, T, E], of each image's text.
        weights: ``minmax``, from 0 for the lowest dot product to 1 for the highest, divided by their sum (FSC-CLIP,
            Eqs. 6 and 7); ``sparse``, the same with those below 1 / P set to 0 before they are divided by their sum;
            ``softmax`` (both Appendix B.1).

    Example:
        >>> patches = torch.tensor([[[0.0], [1.0], [4.0]]])
        >>> patch_weights(patches, torch.ones(1, 1, 1)), patch_weights(patches, torch.ones(1, 1, 1), "sparse")
        (tensor([[[0.0000, 0.2000, 0.8000]]]), tensor([[[0., 0., 1.]]]))
    """
    _check_patches(image_tokens, text_tokens)
    similarities = torch.einsum("nte,npe->ntp", text_tokens.detach(), image_tokens.detach())
    if weights == "softmax":
        return similarities.softmax(dim=2)
    lowest, highest = similarities.amin(dim=2, keepdim=True), similarities.amax(dim=2, keepdim=True)
    spread = highest - lowest
    shares = ((similarities - lowest) / spread).masked_fill(spread == 0, 1)
    if weights == "sparse":
        shares = shares.masked_fill(shares < 1 / shares.shape[2], 0)
    return shares / shares.sum(dim=2, keepdim=True)


def _selective_cross_entropy(
    positives: Tensor, negatives: Tensor, valid: Tensor, gamma: float, beta: float, missing: Missing
) -> Tensor:
    """Return the loss of ``hard_negative_loss``, given logits of captions [B] and of negatives [valid.sum()]."""
    absent = 0.0 if missing == "zero" else -torch.inf
    negative_logits = positives.new_full(valid.shape, absent).masked_scatter(valid, negatives)
    counted = pad(valid, (1, 0), value=True)
    logs = log_softmax(torch.cat([positives[:, None], negative_logits], dim=1), dim=1).masked_fill(~counted, 0)
    labels = counted * (beta / counted.sum(dim=1, keepdim=True, dtype=logs.dtype))
    labels[:, 0] += 1 - beta
    doubts = (-logs.expm1()).clamp_min(torch.finfo(logs.dtype).tiny)  # 1 - p; powers below 1 have no slope at 0
    losses = -(labels * doubts**gamma * logs).sum(dim=1)
    rows = valid.any(dim=1)
    return losses[rows].sum() / rows.sum().clamp_min(1)


def _check_patches(images: Tensor, texts: Tensor) -> None:
    fits = images.ndim == texts.ndim == 3 and images.shape[::2] == texts.shape[::2] and images.shape[1]
    check_shape("text_tokens", texts, fits, f"[N, T, E] for patches [N, P, E], which are {tuple(images.shape)}")


def _check_tokens(images: Tensor, texts: Tensor, mask: Tensor) -> None:
    _check_patches(images, texts)
    fits = mask.dtype == torch.bool and mask.shape == texts.shape[:2]
    check_shape("text_mask", mask, fits, f"bool [N, T] for {tuple(texts.shape)}")
    empty = ~mask.any(dim=1)
    if empty.any():
        fault = f"has no token of {int(empty.sum())} texts, the first of which is {int(empty.int().argmax())}"
        raise ArgumentError("text_mask", fault, code="empty-text")


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
