"""Attribution by attention (CLIP-CAE, Section 3.1)."""

from typing import Literal, get_args

import torch
from torch import Tensor
from torch.nn.functional import pad

from recompose.backbones.clip import Backbone, end_of_text
from recompose.tracks.vlc.attribution.towers import Tokens, check_choice, check_pairs, fitted, read_texts

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
    """How much the token that becomes the text's embedding attends to each token [texts, context], over the layers and
    heads of the text tower.

    Args:
        backbone: whose text tower attends.
        images: not looked at; they are here so that all attributions are called alike.
        ids: [texts, context], padded with zeros.
        row: whose attention is meant: ``eot``, of the end of text, which is the embedding; behind it scores are 0,
            since the tower is causal. ``last``, of the last position of the tower's context, wherever a text ends and
            ids are cut: it attends to padding, too.
        layers: ``mean`` over all, or the ``last`` alone.
        heads: ``mean`` or ``sum``.

    Raises:
        ValueError: shapes do not fit, there is no text, or a setting is of no such name.
    """
    check_pairs(images, ids)
    for name, choice, choices in (("row", row, Row), ("layers", layers, Layers), ("heads", heads, Heads)):
        check_choice(name, choice, get_args(choices))
    end = end_of_text(ids)
    if row == "eot":
        rows, seen = end, ids[:, : int(end.max()) + 1]
    else:
        context = len(backbone.model.positional_embedding)
        rows, seen = torch.full_like(end, context - 1), pad(ids, (0, context - ids.shape[1]))
    every = read_texts(backbone, Tokens(backbone.embed_tokens(seen), end)).attention
    texts = torch.arange(len(ids), device=ids.device)
    of_row = torch.stack([each[texts, :, rows] for each in (every if layers == "mean" else every[-1:])])
    joined = of_row.mean(dim=2) if heads == "mean" else of_row.sum(dim=2)
    return fitted(joined.mean(dim=0), ids.shape[1])
