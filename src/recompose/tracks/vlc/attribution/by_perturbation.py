"""Attribution by perturbation: the drop of similarity when a word is replaced (CLIP-CAE, Section 3.3)."""

import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.vlc.attribution.towers import check_pairs, image_features, similarity


def perturbation(backbone: Backbone, images: Tensor, ids: Tensor, perturbed: Tensor, changed: Tensor) -> Tensor:
    """Return the drop of similarity when a token is replaced [texts, context].

    It is the mean of S(I, T) - S(I, T_p) over the perturbations T_p that change the token (CLIP-CAE, Eq. 9), or 0
    without any. A perturbation replaces all pieces of one or more words at once, possibly by more or fewer pieces. The
    image takes no gradients; the text tower and tau do.

    Args:
        backbone: the model.
        images: pixels [texts, 3, H, W], or their embeddings [texts, E].
        ids: [texts, context], padded with zeros.
        perturbed: [texts, P, context], token ids of the perturbations of each text; texts may have fewer than P.
        changed: [texts, P, context] bool, the tokens of ``ids`` that each perturbation replaces. Perturbations that
            replace none are ignored.

    Raises:
        ArgumentError: shapes do not fit, or there is no text.
    """
    check_pairs(images, ids)
    _check(ids, perturbed, changed)
    with torch.no_grad():
        features = image_features(backbone, images).detach()
    texts, valid = backbone.encode_text(ids), changed.any(dim=2)
    replaced = backbone.encode_text(perturbed[valid]) if valid.any() else texts[:0]
    return mean_drops(backbone, features, texts, replaced, changed)


def mean_drops(backbone: Backbone, images: Tensor, texts: Tensor, replaced: Tensor, changed: Tensor) -> Tensor:
    """Return the scores of ``perturbation`` [texts, context], given embeddings.

    Embeddings are of images and of their captions [texts, E], and of perturbations [changed.any(dim=2).sum(), E], all
    of the first text first.
    """
    valid = changed.any(dim=2)
    rows = valid.nonzero()[:, 0]
    before = similarity(backbone, images, texts)[rows]
    after = similarity(backbone, images[rows], replaced)
    drops = before.new_zeros(valid.shape).masked_scatter(valid, before - after)
    counted = changed.to(drops)
    return torch.einsum("np,npt->nt", drops, counted) / counted.sum(dim=1).clamp_min(1)


def _check(ids: Tensor, perturbed: Tensor, changed: Tensor) -> None:
    count, context = ids.shape
    if perturbed.ndim != 3 or len(perturbed) != count:
        raise ArgumentError("perturbed", f"is {tuple(perturbed.shape)}, not [texts, P, context] of {count} texts")
    if changed.dtype != torch.bool or changed.shape != (*perturbed.shape[:2], context):
        expected = f"bool {(*perturbed.shape[:2], context)}, a row of ids for each perturbation"
        raise ArgumentError("changed", f"is {changed.dtype} {tuple(changed.shape)}, not {expected}")
