"""Attribution by attention (CLIP-CAE, Section 3.1)."""

from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import pad

from recompose.backbones.clip import Backbone, end_of_text
from recompose.tracks.vlc.attribution.towers import Tokens, check_pairs, pad_to, read_texts
from recompose.tracks.vlc.checks import check_choice

Row = Literal["eot", "last"]
Layers = Literal["mean", "last"]
Heads = Literal["mean", "sum"]


def attention(
    backbone: Backbone,
    images: Tensor,
    ids: Tensor,
    *,
    row: Row = "eot",
    layers: Layers = "mean",
    heads: Heads = "mean",
) -> Tensor:
    """Return the attention of the text's embedding token to each token [texts, context], over layers and heads.

    Args:
        backbone: the model whose text tower attends.
        images: unused; all attributions have the same signature.
        ids: [texts, context], padded with zeros.
        row: ``eot``, the attention of the end of text, which becomes the embedding; scores after it are 0, since the
            tower is causal. ``last``, the attention of the last position of the tower's context, wherever a text ends
            and ids are cut: it attends to padding, too.
        layers: ``mean`` over all, or the ``last`` alone.
        heads: ``mean`` or ``sum``.

    Raises:
        ArgumentError: shapes do not fit, there is no text, or a setting has an unknown value.
    """
    check_pairs(images, ids)
    for name, choice, choices in (("row", row, Row), ("layers", layers, Layers), ("heads", heads, Heads)):
        check_choice(name, choice, choices)
    end = end_of_text(ids)
    if row == "eot":
        rows, inputs = end, ids[:, : int(end.max()) + 1]
    else:
        context = len(backbone.model.positional_embedding)
        rows, inputs = torch.full_like(end, context - 1), pad(ids, (0, context - ids.shape[1]))
    by_layer = read_texts(backbone, Tokens(backbone.embed_tokens(inputs), end)).attention
    texts = torch.arange(len(ids), device=ids.device)
    chosen = by_layer if layers == "mean" else by_layer[-1:]
    attended = torch.stack([probabilities[texts, :, rows] for probabilities in chosen])
    over_heads = attended.mean(dim=2) if heads == "mean" else attended.sum(dim=2)
    return pad_to(over_heads.mean(dim=0), ids.shape[1])
