"""Attribution by attention and its gradients (CLIP-CAE, Section 3.2), to tokens and to patches.

The rule is that of Chefer et al. (2021) for self-attention. Checked against hila-chefer/Transformer-MM-Explainability
at 58eaea8, whose notebook for CLIP takes gradients and attention without their derivatives, the positive part of their
product in each head, the mean over heads, and starts at the last layer by default.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.vlc.attribution.towers import (
    check_pairs,
    embed_texts,
    image_features,
    pad_to,
    read_images,
    read_texts,
    similarity,
    with_gradient,
)
from recompose.tracks.vlc.checks import check_choice

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
    """Return the end of text's row of the relevance R [texts, context].

    R begins as the identity; each layer of the text tower updates R <- R + E R (CLIP-CAE, Eqs. 7 and 8), where E is the
    positive part of dS/dA * A over heads. Scores after the end of text are 0; that of the end of text includes the 1 of
    the identity.

    Args:
        backbone: the model whose text tower attends.
        images: pixels [texts, 3, H, W], or their embeddings [texts, E].
        ids: [texts, context], padded with zeros.
        heads: ``mean`` or ``sum``.
        clamp: negative parts become 0 in ``each`` head, after heads are ``joined``, or never (``none``).
        layers: ``all``, or the ``last`` alone.
        create_graph: True to keep the graph, so that scores can be differentiated.

    Raises:
        ArgumentError: shapes do not fit, there is no text, or a setting has an unknown value.
    """
    check_pairs(images, ids)
    _check(heads, clamp, layers)
    with torch.set_grad_enabled(create_graph):
        features = image_features(backbone, images)
    with torch.enable_grad():
        tokens = embed_texts(backbone, ids)
        read = read_texts(backbone, tokens)
        similarities = similarity(backbone, features if create_graph else features.detach(), read.features)
        scores = _row_of_relevance(similarities, read.attention, tokens.end, heads, clamp, layers, create_graph)
    return pad_to(scores, ids.shape[1])


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
    """Return the class token's row of the image tower's R, without the class token [images, patches].

    Patches are in row-major order from the top of the picture.

    Args:
        backbone: a model whose image tower is a transformer.
        pixels: [images, 3, H, W].
        ids: [images, context], of a caption of each.
        heads: see ``gradcam``.
        clamp: see ``gradcam``.
        layers: see ``gradcam``.
        create_graph: see ``gradcam``.

    Raises:
        ArgumentError: shapes do not fit, there is no image, a setting has an unknown value, or the image tower is
            convolutional.
    """
    check_pairs(pixels, ids)
    _check(heads, clamp, layers)
    if pixels.ndim != 4:
        raise ArgumentError("pixels", f"are {tuple(pixels.shape)}, not [images, 3, H, W]: embeddings have no patches")
    with torch.set_grad_enabled(create_graph):
        texts = backbone.encode_text(ids)
    with torch.enable_grad():
        read = read_images(backbone, with_gradient(pixels))
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
    """Return a row [n, length] of R, the product (I + E of the last layer) ... (I + E of the first).

    One row needs only products of vectors with matrices, the last layer first.
    """
    attention = attention if layers == "all" else attention[-1:]
    gradients = torch.autograd.grad(similarities.sum(), attention, create_graph=create_graph)
    relevance = one_hot(rows, attention[0].shape[-1]).to(attention[0])
    for probabilities, gradient in zip(reversed(attention), reversed(gradients), strict=True):
        explained = _over_heads(gradient * (probabilities if create_graph else probabilities.detach()), heads, clamp)
        relevance = relevance + torch.einsum("nq,nqk->nk", relevance, explained)
    return relevance


def _over_heads(products: Tensor, heads: Heads, clamp: Clamp) -> Tensor:
    """Return E [n, length, length], given gradients times attention [n, heads, length, length]."""
    if clamp == "each":
        products = products.relu()
    joined = products.mean(dim=1) if heads == "mean" else products.sum(dim=1)
    return joined.relu() if clamp == "joined" else joined


def _check(heads: str, clamp: str, layers: str) -> None:
    for name, choice, choices in (("heads", heads, Heads), ("clamp", clamp, Clamp), ("layers", layers, Layers)):
        check_choice(name, choice, choices)
