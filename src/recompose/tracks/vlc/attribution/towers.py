"""Forward passes of both towers, block by block, that return the probabilities of attention.

A backbone's own pass does not return them, and its fused kernels have no second derivatives.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize, pad

from recompose.backbones.clip import Backbone, end_of_text
from recompose.errors import ArgumentError


class Pass(NamedTuple):
    """A tower's outputs for n images or texts."""

    features: Tensor  # [n, E], not normalised
    attention: tuple[Tensor, ...]  # of each layer [n, heads, length, length], the probabilities of keys for a query


class Tokens(NamedTuple):
    """Inputs of the text tower, cut at the longest text's end, since the tower is causal."""

    embeddings: Tensor  # [n, length, D]
    end: Tensor  # [n], the position of each end-of-text token


def embed_texts(backbone: Backbone, ids: Tensor) -> Tokens:
    """Embed token ids [n, context], with derivatives also where the backbone is frozen."""
    end = end_of_text(ids)
    return Tokens(with_gradient(backbone.embed_tokens(ids[:, : int(end.max()) + 1])), end)


def with_gradient(inputs: Tensor) -> Tensor:
    """Return the inputs themselves if they require gradients, else a detached copy that does."""
    return inputs if inputs.requires_grad else inputs.detach().requires_grad_()


def read_texts(backbone: Backbone, tokens: Tokens) -> Pass:
    """Run the text tower, as ``Backbone.encode_prompts`` does."""
    model, length = backbone.model, tokens.embeddings.shape[1]
    x = tokens.embeddings + model.positional_embedding[:length]
    x, attention = _through(model.transformer.resblocks, x, model.attn_mask[:length, :length])
    return Pass(backbone.project_text(x[torch.arange(len(x), device=x.device), tokens.end]), attention)


def read_images(backbone: Backbone, pixels: Tensor) -> Pass:
    """Run the image tower on pixels [n, 3, H, W], as ``Backbone.encode_image`` does.

    Raises:
        ArgumentError: the image tower is convolutional, and has no patches.
    """
    if not backbone.depth:
        fault = "has a convolutional image tower, with neither patches nor attention: use a transformer"
        raise ArgumentError("backbone", fault, code="no-patches")
    visual = backbone.model.visual
    x = visual.conv1(pixels).flatten(2).transpose(1, 2)
    x = torch.cat([visual.class_embedding.to(x).expand(len(x), 1, -1), x], dim=1)
    x = visual.ln_pre(visual.patch_dropout(x + visual.positional_embedding.to(x)))
    x, attention = _through(backbone.image_blocks, x, None)
    return Pass(backbone.project_image(x[:, 0]), attention)


def _through(blocks: Any, x: Tensor, mask: Tensor | None) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Return tokens [n, length, width] after all blocks, and the attention of each block."""
    by_layer = []
    for block in blocks:
        queries, keys, values = block.attn.project(block.ln_1(x))
        logits = queries @ keys.transpose(-2, -1) * queries.shape[-1] ** -0.5
        probabilities = (logits if mask is None else logits + mask).softmax(dim=-1)
        by_layer.append(probabilities)
        x = x + block.ls_1(block.attn.out_proj((probabilities @ values).transpose(1, 2).flatten(2)))
        x = x + block.ls_2(block.mlp(block.ln_2(x)))
    return x, tuple(by_layer)


def image_features(backbone: Backbone, images: Tensor) -> Tensor:
    """Return the embeddings [n, E] of pixels [n, 3, H, W]; embeddings are returned unchanged."""
    return images if images.ndim == 2 else backbone.encode_image(images)


def similarity(backbone: Backbone, images: Tensor, texts: Tensor) -> Tensor:
    """Return S(I, T) [n] of image embeddings [n, E] and text embeddings [n, E] (CLIP-CAE, Eq. 1)."""
    return backbone.logit_scale * cosines(images, texts)


def cosines(images: Tensor, texts: Tensor) -> Tensor:
    """Return the cosines [n] of image embeddings [n, E] and text embeddings [n, E]."""
    return (normalize(images, dim=1) * normalize(texts, dim=1)).sum(dim=1)


def pad_to(scores: Tensor, width: int) -> Tensor:
    """Pad scores [n, length] with zeros to the width of ids."""
    return pad(scores, (0, width - scores.shape[1]))


def check_pairs(images: Tensor, ids: Tensor) -> None:
    """Check that there is an image for each text.

    Raises:
        ArgumentError: shapes do not fit, or there is no text.
    """
    if ids.ndim != 2 or images.ndim not in (2, 4) or len(images) != len(ids) or not ids.numel():
        expected = "pixels [texts, 3, H, W] or embeddings [texts, E], and ids [texts, context], with at least one text"
        raise ArgumentError("images", f"and ids are {tuple(images.shape)} and {tuple(ids.shape)}, not {expected}")
