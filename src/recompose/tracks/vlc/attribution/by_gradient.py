"""Attribution by gradients (CLIP-CAE, Section 3.4)."""

from typing import Literal

import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.vlc.attribution.towers import (
    check_pairs,
    cosines,
    embed_texts,
    image_features,
    pad_to,
    read_texts,
    similarity,
)
from recompose.tracks.vlc.checks import check_choice

Support = Literal["text", "context"]
Derived = Literal["logit", "cosine"]


def gradient(
    backbone: Backbone,
    images: Tensor,
    ids: Tensor,
    *,
    support: Support = "text",
    derived: Derived = "logit",
    create_graph: bool = False,
) -> Tensor:
    """Return the softmax over tokens [texts, context] of the sum of |dS/dx| over a token's embedding x.

    This is Eq. 10 of CLIP-CAE. The embedding is taken before positions are added, which changes no derivative. S of
    Eq. 1 has a factor of about 100 on cosines, with which the softmax saturates: nearly all weight is on one token.

    Args:
        backbone: the model.
        images: pixels [texts, 3, H, W], or their embeddings [texts, E].
        ids: [texts, context], padded with zeros.
        support: of the softmax: ``text``, from the start to the end of text, after which scores are 0; or ``context``,
            all positions of the tower, however far ids are cut: padding has gradients of 0, but a positive softmax.
        derived: S is the ``logit`` of Eq. 1, or the ``cosine`` without its factor.
        create_graph: True to keep the graph, so that scores can be differentiated.

    Raises:
        ArgumentError: shapes do not fit, there is no text, or a choice has an unknown value.
    """
    check_pairs(images, ids)
    check_choice("support", support, Support)
    check_choice("derived", derived, Derived)
    with torch.set_grad_enabled(create_graph):
        features = image_features(backbone, images)
    with torch.enable_grad():
        tokens = embed_texts(backbone, ids)
        read = read_texts(backbone, tokens)
        seen = features if create_graph else features.detach()
        of_cosines = derived == "cosine"
        similarities = cosines(seen, read.features) if of_cosines else similarity(backbone, seen, read.features)
        (slopes,) = torch.autograd.grad(similarities.sum(), tokens.embeddings, create_graph=create_graph)
        sizes = slopes.abs().sum(dim=2)
        if support == "text":
            padding = torch.arange(sizes.shape[1], device=ids.device) > tokens.end[:, None]
            sizes = sizes.masked_fill(padding, -torch.inf)
        else:
            sizes = pad_to(sizes, len(backbone.model.positional_embedding))
        return pad_to(sizes.softmax(dim=1), ids.shape[1])
