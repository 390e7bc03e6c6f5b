"""Attribution by what a caption loses when a word of it is replaced (CLIP-CAE, Section 3.3)."""

import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.vlc.attribution.towers import check_pairs, image_features, similarity


def perturbation(backbone: Backbone, images: Tensor, ids: Tensor, perturbed: Tensor, changed: Tensor) -> Tensor:
    """How far the similarity drops when a token is replaced [texts, context]: the mean of S(I, T) - S(I, T_p) over the
    perturbations T_p that change it (CLIP-CAE, Eq. 9). A token that none changes has 0.

    A perturbation replaces a word or some, all pieces at once, and what stands there instead may have more pieces or
    fewer. The image takes no gradients; the text tower and tau do.

    Args:
        backbone: that compares.
        images: pixels [texts, 3, H, W], or their embeddings [texts, E].
        ids: [texts, context], padded with zeros.
        perturbed: [texts, P, context], token ids of the perturbations of each text; texts may have fewer than P.
        changed: [texts, P, context] bool, which tokens of ``ids`` each perturbation replaces. One that replaces none is
            none: its ids are not looked at.

    Raises:
        ValueError: shapes do not fit, or there is no text.
    """
    check_pairs(images, ids)
    _check(ids, perturbed, changed)
    with torch.no_grad():
        features = image_features(backbone, images).detach()
    texts, valid = backbone.encode_text(ids), changed.any(dim=2)
    others = backbone.encode_text(perturbed[valid]) if valid.any() else texts[:0]
    return mean_drops(backbone, features, texts, others, changed)


def mean_drops(backbone: Backbone, images: Tensor, texts: Tensor, others: Tensor, changed: Tensor) -> Tensor:
    """What ``perturbation`` gives [texts, context], of embeddings: of images and of texts [texts, E], which are their
    captions, and of perturbations [changed.any(dim=2).sum(), E], all of the first text first.
    """
    valid = changed.any(dim=2)
    rows = valid.nonzero()[:, 0]
    before = similarity(backbone, images, texts)[rows]
    after = similarity(backbone, images[rows], others)
    drops = before.new_zeros(valid.shape).masked_scatter(valid, before - after)
    counted = changed.to(drops)
    return torch.einsum("np,npt->nt", drops, counted) / counted.sum(dim=1).clamp_min(1)


def _check(ids: Tensor, perturbed: Tensor, changed: Tensor) -> None:
    count, context = ids.shape
    if perturbed.ndim != 3 or len(perturbed) != count:
        raise ValueError(f"perturbed is [texts, P, context] of {count} texts, not {tuple(perturbed.shape)}")
    if changed.dtype != torch.bool or changed.shape != (*perturbed.shape[:2], context):
        expected = f"bool {(*perturbed.shape[:2], context)}, a row of ids for each perturbation"
        raise ValueError(f"changed is {expected}, not {changed.dtype} {tuple(changed.shape)}")
