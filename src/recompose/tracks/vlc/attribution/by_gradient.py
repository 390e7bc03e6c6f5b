"""Attribution by gradients (CLIP-CAE, Section 3.4)."""

from typing import Literal, get_args

import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.vlc.attribution.towers import (
    check_choice,
    check_pairs,
    embedded,
    fitted,
    image_features,
    read_texts,
    similarity,
)

Support = Literal["text", "context"]


def gradient(
    backbone: Backbone, images: Tensor, ids: Tensor, *, support: Support = "text", create_graph: bool = False
) -> Tensor:
    """The softmax over tokens [texts, context] of the sum of |dS/dx| over the dimensions of a token's embedding x
    (CLIP-CAE, Eq. 10). That it is taken before positions are added changes nothing.

    Args:
        backbone: that compares.
        images: pixels [texts, 3, H, W], or their embeddings [texts, E].
        ids: [texts, context], padded with zeros.
        support: what the softmax is over: ``text``, from the start to the end of text, behind which scores are 0; or
            ``context``, all positions of the tower, however far ids are cut: padding has gradients of 0, which a
            softmax makes something of.
        create_graph: whether scores can be differentiated; otherwise nothing is left of how they were computed.

    Raises:
        ValueError: shapes do not fit, there is no text, or the support is of no such name.
    """
    check_pairs(images, ids)
    check_choice("support", support, get_args(Support))
    with torch.set_grad_enabled(create_graph):
        features = image_features(backbone, images)
    with torch.enable_grad():
        tokens = embedded(backbone, ids)
        read = read_texts(backbone, tokens)
        similarities = similarity(backbone, features if create_graph else features.detach(), read.features)
        (slopes,) = torch.autograd.grad(similarities.sum(), tokens.embeddings, create_graph=create_graph)
        sizes = slopes.abs().sum(dim=2)
        if support == "text":
            behind = torch.arange(sizes.shape[1], device=ids.device) > tokens.end[:, None]
            sizes = sizes.masked_fill(behind, -torch.inf)
        else:
            sizes = fitted(sizes, len(backbone.model.positional_embedding))
        return fitted(sizes.softmax(dim=1), ids.shape[1])
