"""CLIP's and NegCLIP's losses, and what losses of hard negatives share; those of a paper are in the file of its method.

No loss is multiplied by its lambda, and nothing is gathered across devices; the released code gathers only for the
contrast of images with captions. Arguments that do not fit each other raise ``ArgumentError``.

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
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, pad

from recompose.tracks.arrays import check_shape

Missing = Literal["zero", "excluded"]


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
    images, texts, negatives = normalized(image_features, text_features, negative_features, valid, logit_scale)
    of_images = logit_scale * images @ torch.cat([texts, negatives]).T
    if missing == "zero":
        of_images = pad(of_images, (0, int((~valid).sum())))
    of_texts = logit_scale * texts @ images.T
    return (_cross_entropy_of_pairs(of_images) + _cross_entropy_of_pairs(of_texts)) / 2


def normalized(
    images: Tensor, texts: Tensor, negatives: Tensor, valid: Tensor, logit_scale: Tensor | float
) -> tuple[Tensor, Tensor, Tensor]:
    """Check the arguments of a loss with negatives, and return the features at unit length."""
    _check_pairs(images, texts)
    check_negatives("negative_features", images, negatives, valid)
    return normalize(images, dim=1), normalize(texts, dim=1), normalize(negatives, dim=1)


def own_logits(
    images: Tensor, texts: Tensor, negatives: Tensor, valid: Tensor, logit_scale: Tensor | float
) -> tuple[Tensor, Tensor]:
    """Return the logits of images with their captions [B], and with their captions' negatives [valid.sum()]."""
    images, texts, negatives = normalized(images, texts, negatives, valid, logit_scale)
    positives = logit_scale * (images * texts).sum(dim=1)
    return positives, logit_scale * (images[images_of(valid)] * negatives).sum(dim=1)


def _cross_entropy_of_pairs(logits: Tensor) -> Tensor:
    """Return the cross-entropy of logits [B, B or more] whose i-th row belongs to the i-th column."""
    return nn.functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


def images_of(valid: Tensor) -> Tensor:
    """Return the image [valid.sum()] of each negative."""
    return valid.nonzero()[:, 0]


def _check_pairs(images: Tensor, texts: Tensor) -> None:
    fits = images.ndim == 2 and texts.shape == images.shape and len(images)
    check_shape("text_features", texts, fits, f"[B, E] as those of an image or more, which are {tuple(images.shape)}")


def check_negatives(name: str, images: Tensor, negatives: Tensor, valid: Tensor) -> None:
    fits = valid.dtype == torch.bool and valid.ndim == 2 and len(valid) == len(images) > 0
    check_shape("valid", valid, fits, f"bool [B, K] of {len(images)} images, at least one")
    count, width = int(valid.sum()), images.shape[-1]
    fits = negatives.ndim == images.ndim and negatives.shape[-1] == width and len(negatives) == count
    check_shape(name, negatives, fits, f"{count} of width {width}, as many as valid has, with {images.ndim} dimensions")
