"""Attribution by attention and its gradients (CLIP-CAE, Section 3.2), of captions and of pictures: the rule of Chefer
et al. (2021) for self-attention. Checked against hila-chefer/Transformer-MM-Explainability at 58eaea8, whose notebook
for CLIP takes the gradients and the attention without their derivatives, the positive part of their product in each
head, the mean over heads, and starts at the last layer unless it is told another.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from recompose.backbones.clip import Backbone
from recompose.tracks.vlc.attribution.towers import (
    check_choice,
    check_pairs,
    embedded,
    fitted,
    image_features,
    read_images,
    read_texts,
    similarity,
    tracked,
)

Heads = Literal["mean", "sum"]
Clamp = Literal["each", "joined", "none"]
Layers = Literal["all", "last"]


def gradcam(
    backbone: Backbone,
    images: Tensor,
    ids: Tensor,
    *,
    heads: Heads = "mean",
    clamp: Clamp = "each",
    layers: Layers = "all",
    create_graph: bool = False,
) -> Tensor:
    """The end of text's row of R [texts, context], where R begins as the identity, and in each layer of the text tower
    R <- R + E R (CLIP-CAE, Eqs. 7 and 8), with E the positive part of dS/dA * A over heads.

    Behind the end of text, scores are 0. That of the end of text has the 1 of the identity in it.

    Args:
        backbone: whose text tower attends.
        images: pixels [texts, 3, H, W], or their embeddings [texts, E].
        ids: [texts, context], padded with zeros.
        heads: ``mean`` or ``sum``.
        clamp: where negative parts are set to 0: in ``each`` head, in what heads are ``joined`` to, or nowhere
            (``none``).
        layers: ``all``, or the ``last`` alone.
        create_graph: whether scores can be differentiated; otherwise nothing is left of how they were computed.

    Raises:
        ValueError: shapes do not fit, there is no text, or a setting is of no such name.
    """
    check_pairs(images, ids)
    _check(heads, clamp, layers)
    with torch.set_grad_enabled(create_graph):
        features = image_features(backbone, images)
    with torch.enable_grad():
        tokens = embedded(backbone, ids)
        read = read_texts(backbone, tokens)
        similarities = similarity(backbone, features if create_graph else features.detach(), read.features)
        scores = _row_of_relevance(similarities, read.attention, tokens.end, heads, clamp, layers, create_graph)
    return fitted(scores, ids.shape[1])


def patches(
    backbone: Backbone,
    pixels: Tensor,
    ids: Tensor,
    *,
    heads: Heads = "mean",
    clamp: Clamp = "each",
    layers: Layers = "all",
    create_graph: bool = False,
) -> Tensor:
    """The same of the image tower: the class token's row of R without the class token [images, patches], row by row of
    the picture from its top.

    Args:
        backbone: whose image tower is a transformer.
        pixels: [images, 3, H, W].
        ids: [images, context], of a caption of each.
        heads: see ``gradcam``.
        clamp: see ``gradcam``.
        layers: see ``gradcam``.
        create_graph: see ``gradcam``.

    Raises:
        ValueError: shapes do not fit, there is no image, a setting is of no such name, or the image tower is
            convolutional.
    """
    check_pairs(pixels, ids)
    _check(heads, clamp, layers)
    if pixels.ndim != 4:
        raise ValueError("patches are of pixels [images, 3, H, W]; embeddings have none")
    with torch.set_grad_enabled(create_graph):
        texts = backbone.encode_text(ids)
    with torch.enable_grad():
        read = read_images(backbone, tracked(pixels))
        similarities = similarity(backbone, read.features, texts)
        start = torch.zeros(len(pixels), dtype=torch.long, device=pixels.device)
        scores = _row_of_relevance(similarities, read.attention, start, heads, clamp, layers, create_graph)
    return scores[:, 1:]


def _row_of_relevance(
    similarities: Tensor,
    attention: Sequence[Tensor],
    rows: Tensor,
    heads: Heads,
    clamp: Clamp,
    layers: Layers,
    create_graph: bool,
) -> Tensor:
    """A row [n, length] of R, which is (I + E of the last layer) ... (I + E of the first): one row of it takes products
    of vectors with matrices only, the last layer first.
    """
    attention = attention if layers == "all" else attention[-1:]
    gradients = torch.autograd.grad(similarities.sum(), attention, create_graph=create_graph)
    relevance = one_hot(rows, attention[0].shape[-1]).to(attention[0])
    for probabilities, gradient in zip(reversed(attention), reversed(gradients), strict=True):
        explained = _over_heads(gradient * (probabilities if create_graph else probabilities.detach()), heads, clamp)
        relevance = relevance + torch.einsum("nq,nqk->nk", relevance, explained)
    return relevance


def _over_heads(products: Tensor, heads: Heads, clamp: Clamp) -> Tensor:
    """E [n, length, length] of what gradients times attention are [n, heads, length, length]."""
    if clamp == "each":
        products = products.relu()
    joined = products.mean(dim=1) if heads == "mean" else products.sum(dim=1)
    return joined.relu() if clamp == "joined" else joined


def _check(heads: str, clamp: str, layers: str) -> None:
    for name, choice, choices in (("heads", heads, Heads), ("clamp", clamp, Clamp), ("layers", layers, Layers)):
        check_choice(name, choice, get_args(choices))
