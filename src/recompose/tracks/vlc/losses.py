"""The losses of FSC-CLIP, NegCLIP, CE-CLIP and CLIP-CAE: contrasts of images, captions and hard negatives.

The contrast with hard negatives is of one vector each (global), or of patches and tokens (local). No loss is multiplied
by its lambda, and nothing is gathered across devices; the released code gathers only for the contrast of images with
captions. Arguments that do not fit each other raise ``ArgumentError``.

A batch has B images with one caption each, and up to K hard negatives of each caption, one of each kind:

- ``image_features`` and ``text_features`` [B, E] may have any length, since only cosines count; the released model
  normalises them before.
- ``valid`` [B, K] bool marks the negatives that exist.
- ``negative_features`` [valid.sum(), E] are without the missing ones, in the row order of ``valid``, all of the first
  caption first. (FSC-CLIP's code, 604015d, lists them kind by kind, which gives the same losses.)
- ``logit_scale`` is 1 / tau, 100 in a pretrained CLIP: a number, or a tensor of one number that takes gradients.
- ``missing`` sets the treatment of a missing negative. ``zero``, as released: it has a logit of 0 and stays in the
  denominator of the softmax, which is negligible at the cosines and the scale of a pretrained CLIP, but not at a scale
  near 1. ``excluded``, as in the paper (Appendix A.1): it is in no sum.
- ``gamma`` is the power of the focal factor, 0 for none; ``beta`` is the smoothed mass of the labels, 0 for none.

For local losses, ``image_tokens`` [N, P, E] are patches without the class token, and ``text_tokens`` [N, T, E] are
projected into the shared space and not normalised, since their lengths weigh patches. ``text_mask`` [N, T] bool marks
the tokens that count: as released (604015d), neither the start token nor padding.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, normalize, pad

from recompose.errors import ArgumentError
from recompose.tracks.arrays import check_shape

Missing = Literal["zero", "excluded"]
Weights = Literal["minmax", "sparse", "softmax"]
Target = Literal["first", "own"]


def contrastive_loss(image_features: Tensor, text_features: Tensor, logit_scale: Tensor | float) -> Tensor:
    """Return CLIP's loss (FSC-CLIP, Eqs. 1 and 2).

    It is the mean of the cross-entropies of a caption among the batch's captions given its image, and of an image among
    the batch's images given its caption.

    Example:
        >>> contrastive_loss(torch.eye(2), torch.eye(2), logit_scale=1.0)
        tensor(0.3133)
    """
    _check_pairs(image_features, text_features)
    logits = logit_scale * normalize(image_features, dim=1) @ normalize(text_features, dim=1).T
    return (_cross_entropy_of_pairs(logits) + _cross_entropy_of_pairs(logits.T)) / 2


def contrastive_loss_with_negatives(
    image_features: Tensor,
    text_features: Tensor,
    negative_features: Tensor,
    valid: Tensor,
    logit_scale: Tensor | float,
    *,
    missing: Missing = "zero",
) -> Tensor:
    """Return NegCLIP's loss: CLIP's loss, with the negatives of all captions among the candidates of an image.

    The candidates of a caption are the same images as in CLIP's loss. NegCLIP's additional images are left out, as in
    FSC-CLIP's code (604015d), whose NegCLIP this is. ``zero`` makes each missing negative a caption with a logit of 0
    for every image, as released.

    Example:
        >>> negatives, valid = torch.tensor([[1.0, 0.0]]), torch.tensor([[True], [False]])
        >>> contrastive_loss_with_negatives(torch.eye(2), torch.eye(2), negatives, valid, logit_scale=2.0)
        tensor(0.3537)
        >>> contrastive_loss_with_negatives(
        ...     torch.eye(2), torch.eye(2), negatives, valid, logit_scale=2.0, missing="excluded"
        ... )
        tensor(0.3130)
    """
    images, texts, negatives = _normalized(image_features, text_features, negative_features, valid, logit_scale)
    of_images = logit_scale * images @ torch.cat([texts, negatives]).T
    if missing == "zero":
        of_images = pad(of_images, (0, int((~valid).sum())))
    of_texts = logit_scale * texts @ images.T
    return (_cross_entropy_of_pairs(of_images) + _cross_entropy_of_pairs(of_texts)) / 2


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
    logits = _own_logits(image_features, text_features, negative_features, valid, logit_scale)
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
    _check_negatives("negative_tokens", image_tokens, negative_tokens, valid)
    scores = local_scores(image_tokens, text_tokens, text_mask, logit_scale, weights)
    images = image_tokens[_images_of(valid)]
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
    images, texts, negatives = _normalized(image_features, text_features, negative_features, valid, logit_scale)
    logits = logit_scale * texts @ negatives.T
    if target == "own" or not len(negatives):  # a single column gives a loss of 0
        logits = torch.cat([logit_scale * (images * texts).sum(dim=1, keepdim=True), logits], dim=1)
    return nn.functional.cross_entropy(logits, torch.zeros(len(texts), dtype=torch.long, device=texts.device))


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
    positives, negatives = _own_logits(image_features, text_features, negative_features, valid, logit_scale)
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
    positives, negatives = _own_logits(image_features, text_features, negative_features, valid, logit_scale)
    counts, totals = valid.sum(dim=0), positives.new_zeros(valid.shape).masked_scatter(valid, negatives).sum(dim=0)
    means = positives.mean() - totals / counts.clamp_min(1)
    return means.clamp(0, highest).where(counts > 0, before.to(means))


def attribution_loss(scores: Tensor, objects: Tensor, composition: Tensor, margin: float = 0.0) -> Tensor:
    """Return CLIP-CAE's loss of attribution, L_Attr (Li et al., 2024, Eq. 5).

    With a_obj the mean of a caption's scores over the tokens of its objects, and a_comp that over the tokens of its
    relations and attributes, the loss is the mean of max(a_obj - a_comp + epsilon, 0) over captions. The paper does not
    specify the case of a caption without either kind of tokens: here it is left out. If no caption has both, the loss
    is 0, with gradients of 0.

    Args:
        scores: [texts, tokens], the attribution to each token; scores outside the masks are ignored and take no
            gradients.
        objects: [texts, tokens] bool.
        composition: [texts, tokens] bool.
        margin: epsilon, 0 in the paper.

    Example:
        >>> scores = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.9, 0.1, 0.0]])
        >>> objects = torch.tensor([[True, False, False], [True, True, False], [True, False, False]])
        >>> composition = torch.tensor([[False, True, True], [False, False, True], [False, False, False]])
        >>> attribution_loss(scores, objects, composition)
        tensor(0.1250)
    """
    object_means, composition_means = mean_attributions(scores, objects), mean_attributions(scores, composition)
    complete = objects.any(dim=1) & composition.any(dim=1)
    excess = (object_means - composition_means + margin).clamp_min(0)
    return excess.masked_fill(~complete, 0).sum() / complete.sum().clamp_min(1)


def mean_attributions(scores: Tensor, mask: Tensor) -> Tensor:
    """Return the mean of each text's scores [texts, tokens] over a mask [texts, tokens] bool; 0 where it is empty."""
    fits = mask.dtype == torch.bool and scores.ndim == 2 and mask.shape == scores.shape
    check_shape("mask", mask, fits, f"bool [texts, tokens] as scores, which are {tuple(scores.shape)}")
    return scores.masked_fill(~mask, 0).sum(dim=1) / mask.sum(dim=1).clamp_min(1)


def _normalized(
    images: Tensor, texts: Tensor, negatives: Tensor, valid: Tensor, logit_scale: Tensor | float
) -> tuple[Tensor, Tensor, Tensor]:
    """Check the arguments of a loss with negatives, and return the features at unit length."""
    _check_pairs(images, texts)
    _check_negatives("negative_features", images, negatives, valid)
    return normalize(images, dim=1), normalize(texts, dim=1), normalize(negatives, dim=1)


def _own_logits(
    images: Tensor, texts: Tensor, negatives: Tensor, valid: Tensor, logit_scale: Tensor | float
) -> tuple[Tensor, Tensor]:
    """Return the logits of images with their captions [B], and with their captions' negatives [valid.sum()]."""
    images, texts, negatives = _normalized(images, texts, negatives, valid, logit_scale)
    positives = logit_scale * (images * texts).sum(dim=1)
    return positives, logit_scale * (images[_images_of(valid)] * negatives).sum(dim=1)


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


def _cross_entropy_of_pairs(logits: Tensor) -> Tensor:
    """Return the cross-entropy of logits [B, B or more] whose i-th row belongs to the i-th column."""
    return nn.functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


def _images_of(valid: Tensor) -> Tensor:
    """Return the image [valid.sum()] of each negative."""
    return valid.nonzero()[:, 0]


def _check_pairs(images: Tensor, texts: Tensor) -> None:
    fits = images.ndim == 2 and texts.shape == images.shape and len(images)
    check_shape("text_features", texts, fits, f"[B, E] as those of an image or more, which are {tuple(images.shape)}")


def _check_negatives(name: str, images: Tensor, negatives: Tensor, valid: Tensor) -> None:
    fits = valid.dtype == torch.bool and valid.ndim == 2 and len(valid) == len(images) > 0
    check_shape("valid", valid, fits, f"bool [B, K] of {len(images)} images, at least one")
    count, width = int(valid.sum()), images.shape[-1]
    fits = negatives.ndim == images.ndim and negatives.shape[-1] == width and len(negatives) == count
    check_shape(name, negatives, fits, f"{count} of width {width}, as many as valid has, with {images.ndim} dimensions")


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
