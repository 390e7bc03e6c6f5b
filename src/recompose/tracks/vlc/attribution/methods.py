"""Attribution of a caption's similarity with an image to tokens and patches, by CLIP-CAE's four methods (Section 3).

Each method is a function of a backbone, images, and the token ids [texts, context] of a caption of each; it
returns scores [texts, context]. Images are pixels [texts, 3, H, W], or their embeddings [texts, E], so that a training
step encodes an image once. The similarity S(I, T) is the cosine of the two embeddings divided by tau (Eq. 1). A text's
scores depend on that text and its image alone: batches can be split, and ids cut at the longest text.

The paper has no released code, and leaves conventions open. Each is a setting with a default:

| method | setting | default | reason |
| --- | --- | --- | --- |
| attention | ``row`` | ``eot`` | the tower has no [CLS]; this token becomes the embedding |
| | ``layers``, ``heads`` | ``mean`` | the paper's text |
| gradcam | ``heads`` | ``mean`` | the paper's text, and Chefer et al.; its Eq. 7 prints a sum |
| | ``clamp`` | ``each`` | Eq. 7 and Chefer et al. take the positive part of each head before reducing over heads |
| | ``layers`` | ``all`` | the paper's text; the notebook of Chefer et al. for CLIP begins at the last layer |
| gradient | ``support`` | ``text`` | padding is no token of a text |
| | ``derived`` | ``logit`` | Eq. 1, with its factor of about 100; without it, scores of tokens are nearly equal |

The caller chooses the perturbations and their number. Some of these choices change the scale of scores, and so the
meaning of the loss's weight. Functions with ``create_graph`` take derivatives, and their scores can be differentiated
again if it is set; the others follow the caller's gradient mode. Image embeddings take gradients as printed, except in
perturbation (Eq. 9).

The towers run block by block here, and return the probabilities of attention: a backbone's own pass does not return
them, and its fused kernels have no second derivatives. The rule of GradCAM is that of Chefer et al. (2021) for
self-attention. Checked against hila-chefer/Transformer-MM-Explainability at 58eaea8, whose notebook for CLIP takes
gradients and attention without their derivatives, the positive part of their product in each head, the mean over heads,
and starts at the last layer by default.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

import torch
from torch import Tensor
from torch.nn.functional import normalize, one_hot, pad

from recompose.backbones.clip import Backbone, end_of_text
from recompose.errors import ArgumentError
from recompose.tracks.arrays import check_shape

Row = Literal["eot", "last"]
Layers = Literal["all", "last"]
Heads = Literal["mean", "sum"]
Clamp = Literal["each", "joined", "none"]
Support = Literal["text", "context"]
Derived = Literal["logit", "cosine"]


class Relevance(TypedDict, total=False):
    """The conventions of GradCAM, see above."""

    heads: Heads
    clamp: Clamp
    layers: Layers


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
    fits = ids.ndim == 2 and images.ndim in (2, 4) and len(images) == len(ids) and ids.numel()
    expected = f"pixels [texts, 3, H, W] or embeddings [texts, E] for a text or more: ids are {tuple(ids.shape)}"
    check_shape("images", images, fits, expected)


def attention(
    backbone: Backbone,
    images: Tensor,
    ids: Tensor,
    *,
    row: Row = "eot",
    layers: Literal["mean", "last"] = "mean",
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
        ArgumentError: shapes do not fit, or there is no text.
    """
    check_pairs(images, ids)
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


def gradcam(
    backbone: Backbone, images: Tensor, ids: Tensor, *, create_graph: bool = False, **conventions: Unpack[Relevance]
) -> Tensor:
    """Return the end of text's row of the relevance R [texts, context].

    R begins as the identity; each layer of the text tower updates R <- R + E R (CLIP-CAE, Eqs. 7 and 8), where E is the
    positive part of dS/dA * A over heads. Scores after the end of text are 0; that of the end of text includes the 1 of
    the identity.

    Args:
        backbone: the model whose text tower attends.
        images: pixels [texts, 3, H, W], or their embeddings [texts, E].
        ids: [texts, context], padded with zeros.
        create_graph: True to keep the graph, so that scores can be differentiated.
        conventions: ``heads``, ``mean`` or ``sum``; ``clamp``, whether negative parts become 0 in ``each`` head, after
            heads are ``joined``, or never (``none``); ``layers``, ``all`` or the ``last`` alone.

    Raises:
        ArgumentError: shapes do not fit, or there is no text.
    """
    check_pairs(images, ids)
    with torch.set_grad_enabled(create_graph):
        features = image_features(backbone, images)
    with torch.enable_grad():
        tokens = embed_texts(backbone, ids)
        read = read_texts(backbone, tokens)
        similarities = similarity(backbone, features if create_graph else features.detach(), read.features)
        scores = _row_of_relevance(similarities, read.attention, tokens.end, create_graph, **conventions)
    return pad_to(scores, ids.shape[1])


def patches(
    backbone: Backbone, pixels: Tensor, ids: Tensor, *, create_graph: bool = False, **conventions: Unpack[Relevance]
) -> Tensor:
    """Return the class token's row of the image tower's R, without the class token [images, patches].

    Patches are in row-major order from the top of the picture.

    Args:
        backbone: a model whose image tower is a transformer.
        pixels: [images, 3, H, W].
        ids: [images, context], of a caption of each.
        create_graph: see ``gradcam``.
        conventions: see ``gradcam``.

    Raises:
        ArgumentError: shapes do not fit, there is no image, or the image tower is convolutional.
    """
    check_pairs(pixels, ids)
    check_shape("pixels", pixels, pixels.ndim == 4, "[images, 3, H, W]: embeddings have no patches")
    with torch.set_grad_enabled(create_graph):
        texts = backbone.encode_text(ids)
    with torch.enable_grad():
        read = read_images(backbone, with_gradient(pixels))
        similarities = similarity(backbone, read.features, texts)
        start = torch.zeros(len(pixels), dtype=torch.long, device=pixels.device)
        scores = _row_of_relevance(similarities, read.attention, start, create_graph, **conventions)
    return scores[:, 1:]


def _row_of_relevance(
    similarities: Tensor,
    attention: Sequence[Tensor],
    rows: Tensor,
    create_graph: bool,
    heads: Heads = "mean",
    clamp: Clamp = "each",
    layers: Layers = "all",
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
    _check_perturbations(ids, perturbed, changed)
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


def _check_perturbations(ids: Tensor, perturbed: Tensor, changed: Tensor) -> None:
    count, context = ids.shape
    fits = perturbed.ndim == 3 and len(perturbed) == count
    check_shape("perturbed", perturbed, fits, f"[texts, P, context] of {count} texts")
    expected = (*perturbed.shape[:2], context)
    fits = changed.dtype == torch.bool and changed.shape == expected
    check_shape("changed", changed, fits, f"bool {expected}, a row of ids for each perturbation")


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
        ArgumentError: shapes do not fit, or there is no text.
    """
    check_pairs(images, ids)
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
