"""What released code computes, from bytes of images and indices of pairs to logits and loss, written down anew from
reading it.

Sources: MSCI = ltpwy/MSCI at 04cea14, Troika = bighuang624/Troika at 1f3c546, CSP and CoOp = BatsResearch/csp at
029a4af, DFSP = Forest-art/DFSP at 4f935ea. Each function takes the tensors of a method of ours by name
(``tensors_of``), and nothing else of it: not its order, nor what it normalises. Prompts are padded to eight tokens, as
released. Dropout is left out. Symbols: E is the width of the joint space, D of the text tower, W of the image tower.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import batch_norm, cross_entropy, layer_norm, linear, pad

Tensors = Mapping[str, Tensor]
MEAN = (0.48145466, 0.4578275, 0.40821073)
DEVIATION = (0.26862954, 0.26130258, 0.27577711)
CONTEXT = 8  # tokens of a prompt
PATHS = ("pair", "state", "object")


@dataclass(frozen=True)
class Sizes:
    """Numbers that no tensor's shape tells."""

    states: int
    image_heads: int
    text_heads: int


def tensors_of(method: torch.nn.Module) -> dict[str, Tensor]:
    """The parameters and buffers of a method by name; gradients reach the parameters."""
    return {**dict(method.named_parameters()), **dict(method.named_buffers())}


def unit(x: Tensor) -> Tensor:
    """Vectors [..., n] divided by their norms."""
    return x / x.norm(dim=-1, keepdim=True)


def quick_gelu(x: Tensor) -> Tensor:
    return x * torch.sigmoid(1.702 * x)


def mapped(p: Tensors, name: str, x: Tensor) -> Tensor:
    """A linear map, with a bias where it has one."""
    return linear(x, p[f"{name}.weight"], p.get(f"{name}.bias"))


def normed(p: Tensors, name: str, x: Tensor) -> Tensor:
    return layer_norm(x, x.shape[-1:], p[f"{name}.weight"], p[f"{name}.bias"])


def attended(q: Tensor, k: Tensor, v: Tensor, heads: int, causal: bool = False) -> Tensor:
    """Multi-head attention [n, queries, width] of projected queries to projected keys and values."""
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (q, k, v))
    logits = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if causal:
        logits = logits + torch.full(logits.shape[-2:], -torch.inf).triu(1)
    return (logits.softmax(dim=-1) @ v).transpose(1, 2).flatten(2)


def clip_attention(p: Tensors, name: str, x: Tensor, other: Tensor, heads: int, causal: bool = False) -> Tensor:
    """Attention of x [n, tokens, width] with joint projections, to the other."""
    weights, biases = p[f"{name}.in_proj_weight"].chunk(3), p[f"{name}.in_proj_bias"].chunk(3)
    q, k, v = (linear(of, weight, bias) for of, weight, bias in zip((x, other, other), weights, biases, strict=True))
    return mapped(p, f"{name}.out_proj", attended(q, k, v, heads, causal))


# towers


def image_blocks(
    p: Tensors, images: Tensor, heads: int, activation: Callable[[Tensor], Tensor] = quick_gelu
) -> list[Tensor]:
    """What each block of the image tower gives [images, 1 + patches, W], of bytes; with adapters where the tensors
    hold some.
    """
    visual = "backbone.model.visual."
    mean, deviation = (torch.tensor(values).view(3, 1, 1) for values in (MEAN, DEVIATION))
    pixels = (images.float() / 255 - mean) / deviation
    weight = p[f"{visual}conv1.weight"]
    patches = torch.conv2d(pixels, weight, stride=weight.shape[-1]).flatten(2).transpose(1, 2)
    first = p[f"{visual}class_embedding"].expand(len(images), 1, -1)
    x = normed(p, f"{visual}ln_pre", torch.cat([first, patches], dim=1) + p[f"{visual}positional_embedding"])
    actual, number = [], 0
    while f"{visual}transformer.resblocks.{number}.ln_1.weight" in p:
        block = f"{visual}transformer.resblocks.{number}"
        inner = normed(p, f"{block}.ln_1", x)
        x = x + clip_attention(p, f"{block}.attn", inner, inner, heads) + adapted(p, f"adapters.attention.{number}", x)
        hidden = activation(mapped(p, f"{block}.mlp.c_fc", normed(p, f"{block}.ln_2", x)))
        x = x + mapped(p, f"{block}.mlp.c_proj", hidden) + adapted(p, f"adapters.feed_forward.{number}", x)
        actual.append(x)
        number += 1
    return actual


def adapted(p: Tensors, name: str, x: Tensor) -> Tensor | float:
    """What an adapter adds of a sub-layer's input, the residual stream before its norm: 0.1 times two linear maps
    around a ReLU.
    """
    if f"{name}.down.weight" not in p:
        return 0.0
    return 0.1 * mapped(p, f"{name}.up", mapped(p, f"{name}.down", x).relu())


def in_joint_space(p: Tensors, tokens: Tensor) -> Tensor:
    """Tokens [..., E] of the image tower's [..., W]."""
    return normed(p, "backbone.model.visual.ln_post", tokens) @ p["backbone.model.visual.proj"]


def prompt_tokens(p: Tensors, ids: Tensor, context: Tensor | None, words: list[Tensor], heads: int) -> Tensor:
    """What the text tower's last block gives [texts, 8, D]: a template's token embeddings, with words before its end,
    and a context after its start.

    Args:
        ids: [8], padded with zeros.
        context: [length, D], or None: the template's.
        words: of each slot, [texts, D].
    """
    model = "backbone.model."
    end = int(ids.argmax())
    x = p[f"{model}token_embedding.weight"][ids].repeat(len(words[0]), 1, 1)
    for place, word in enumerate(words):
        x[:, end - len(words) + place] = word
    if context is not None:
        x[:, 1 : 1 + len(context)] = context
    x = x + p[f"{model}positional_embedding"][:CONTEXT]
    number = 0
    while f"{model}transformer.resblocks.{number}.ln_1.weight" in p:
        block = f"{model}transformer.resblocks.{number}"
        inner = normed(p, f"{block}.ln_1", x)
        x = x + clip_attention(p, f"{block}.attn", inner, inner, heads, causal=True)
        hidden = quick_gelu(mapped(p, f"{block}.mlp.c_fc", normed(p, f"{block}.ln_2", x)))
        x = x + mapped(p, f"{block}.mlp.c_proj", hidden)
        number += 1
    return x


def text_embeddings(p: Tensors, tokens: Tensor, ids: Tensor) -> Tensor:
    """Text embeddings [texts, E], not normalised, at the end of text."""
    return normed(p, "backbone.model.ln_final", tokens)[:, int(ids.argmax())] @ p["backbone.model.text_projection"]


def padded(ids: list[int]) -> Tensor:
    """Ids [8] of a template, padded with zeros."""
    return pad(torch.tensor(ids), (0, CONTEXT - len(ids)))


TWO_SLOTS = padded([49406, 320, 1125, 539, 343, 343, 49407])  # "a photo of x x"
ONE_SLOT = padded([49406, 320, 1125, 539, 343, 49407])


# CSP and CoOp


def by_text(p: Tensors, embeddings: Tensor, pairs: Tensor, sizes: Sizes) -> Tensor:
    """Logits [images, pairs] of CSP, whose vectors of words are learned, or of CoOp, whose context is."""
    words = [p["primitives"][pairs[:, 0]], p["primitives"][pairs[:, 1] + sizes.states]]
    tokens = prompt_tokens(p, TWO_SLOTS, p.get("context"), words, sizes.text_heads)
    texts = unit(text_embeddings(p, tokens, TWO_SLOTS))
    return p["backbone.model.logit_scale"].exp() * unit(embeddings) @ texts.T


# Troika and MSCI


def looked(p: Tensors, name: str, texts: Tensor, tokens: Tensor, heads: int) -> Tensor:
    """Texts [images, texts, E] after a layer of cross-attention to tokens [images, tokens, E]; only what follows it
    is normed before.
    """
    q, k, v = (
        mapped(p, f"{name}.attention.{part}", x) for part, x in (("query", texts), ("key", tokens), ("value", tokens))
    )
    texts = texts + mapped(p, f"{name}.attention.out", attended(q, k, v, heads))
    hidden = quick_gelu(mapped(p, f"{name}.feed_forward.1", normed(p, f"{name}.feed_forward.0", texts)))
    return texts + mapped(p, f"{name}.feed_forward.4", hidden)


def three_views(
    p: Tensors, embedding: Tensor, training: bool, heads: tuple[str, ...] = ("state", "object")
) -> dict[str, Tensor]:
    """The class token itself for pairs, and one layer of a linear map, batch norm and ReLU for states and for
    objects; at unit length.
    """
    views = {"pair": embedding}
    for path in heads:
        norm = f"of_{path}.1"
        mean, variance = p[f"{norm}.running_mean"].clone(), p[f"{norm}.running_var"].clone()
        x = mapped(p, f"of_{path}.0", embedding)
        views[path] = batch_norm(x, mean, variance, p[f"{norm}.weight"], p[f"{norm}.bias"], training).relu()
    return {path: unit(view) for path, view in views.items()}


def three_texts(p: Tensors, pairs: Tensor, sizes: Sizes) -> dict[str, Tensor]:
    """Texts [texts, E] of each path, at unit length: contexts of their own, vectors of words that they share."""
    words = p["prompts.primitives"]
    states, objects = words[: sizes.states], words[sizes.states :]
    slots = {"pair": [states[pairs[:, 0]], objects[pairs[:, 1]]], "state": [states], "object": [objects]}
    texts = {}
    for path, contents in slots.items():
        ids = TWO_SLOTS if path == "pair" else ONE_SLOT
        tokens = prompt_tokens(p, ids, p[f"prompts.contexts.{path}"], contents, sizes.text_heads)
        texts[path] = unit(text_embeddings(p, tokens, ids))
    return texts


def troika(
    p: Tensors,
    images: Tensor,
    pairs: Tensor,
    sizes: Sizes,
    *,
    heads: int,
    training: bool,
    layers: int = 2,
    norms: int = len(PATHS),
) -> dict[str, Tensor]:
    """Logits [images, texts] of each path of Troika; as its paper has it with one norm for all paths."""
    tokens = in_joint_space(p, image_blocks(p, images, sizes.image_heads)[-1])
    views, texts = three_views(p, tokens[:, 0], training), three_texts(p, pairs, sizes)
    logits = {}
    for number, path in enumerate(PATHS):
        if number < norms:
            tokens = normed(p, "norm", tokens)  # anew, of what it was for the path before
        seen = texts[path].expand(len(images), -1, -1)
        for layer in range(layers):
            seen = looked(p, f"interactions.{layer}", seen, tokens, heads)
        logits[path] = by_view(p, views[path], texts[path] + p["traction"] * seen)
    return logits


def msci(
    p: Tensors,
    images: Tensor,
    pairs: Tensor,
    sizes: Sizes,
    *,
    heads: int,
    training: bool,
    layers: int = 2,
    mean: bool = False,
    stages: tuple[str, ...] = ("low", "high"),
    shares: tuple[str, ...] = ("low", "high"),
    views: tuple[str, ...] = ("state", "object"),
) -> dict[str, Tensor]:
    """Logits [images, texts] of each path of MSCI; the ablations of its paper leave out stages, shares or the
    aggregation.
    """
    blocks = [in_joint_space(p, block) for block in image_blocks(p, images, sizes.image_heads)]
    embeddings, texts = three_views(p, blocks[-1][:, 0], training, views), three_texts(p, pairs, sizes)
    groups, features = {"low": blocks[:layers], "high": blocks[-layers:]}, {}
    for name in stages:
        features[name] = torch.stack(groups[name]).mean(dim=0)  # a single layer is not aggregated
        if layers > 1 and not mean:
            joined = mapped(p, f"aggregators.{name}.map.0", torch.cat(groups[name], dim=-1))
            features[name] = normed(p, f"aggregators.{name}.map.1", joined).relu()
    logits = {}
    for path in PATHS:
        seen = text = texts[path].expand(len(images), -1, -1)
        for name in stages:
            seen = looked(p, f"interactions.{name}", seen, normed(p, f"norms.{name}", features[name]), heads)
            if name in shares:
                text = text + p[f"shares.{name}"] * seen
        logits[path] = by_view(p, embeddings[path], text)
    return logits


def by_view(p: Tensors, view: Tensor, texts: Tensor) -> Tensor:
    """Logits [images, texts] of views at unit length and texts [images, texts, E] as each image has them."""
    return torch.einsum("ie,ite->it", view, unit(texts) * p["backbone.model.logit_scale"].exp())


def three_losses(logits: dict[str, Tensor], targets: Tensor, pairs: Tensor, weights: list[float]) -> Tensor:
    labels = {"pair": targets, "state": pairs[targets, 0], "object": pairs[targets, 1]}
    losses = [weight * cross_entropy(logits[path], labels[path]) for path, weight in zip(PATHS, weights, strict=True)]
    return torch.stack(losses).sum()


def fused(logits: dict[str, Tensor], pairs: Tensor, weights: list[float]) -> Tensor:
    """Scores [images, pairs]: the pair's logit, and the product of two weighted probabilities; weights of pair,
    state and object.
    """
    of_states, of_objects = (logits[path].softmax(dim=-1) for path in ("state", "object"))
    product = (weights[1] * of_states[:, pairs[:, 0]]) * (weights[2] * of_objects[:, pairs[:, 1]])
    return weights[0] * logits["pair"] + product


# DFSP


def residual_block(p: Tensors, name: str, x: Tensor, other: Tensor | None = None) -> Tensor:
    """Tokens [n, tokens, width] after attention to themselves, or to the other, normed apart, and a feed-forward
    network; heads are 64 wide.
    """
    inner = normed(p, f"{name}.norm", x)
    seen = inner if other is None else normed(p, f"{name}.norm_other", other)
    x = x + clip_attention(p, f"{name}.attention", inner, seen, max(1, x.shape[-1] // 64))
    hidden = quick_gelu(mapped(p, f"{name}.feed_forward.1", normed(p, f"{name}.feed_forward.0", x)))
    return x + mapped(p, f"{name}.feed_forward.4", hidden)


def dfsp(
    p: Tensors, images: Tensor, pairs: Tensor, sizes: Sizes, *, share: float, fusion: str = "t2i", length: int = CONTEXT
) -> dict[str, Tensor]:
    """Logits of DFSP: of pairs after fusion and before it, and their means of states and of objects.

    Args:
        share: of what is fused, one minus the released ``res_w``.
        fusion: of texts into images (t2i), of images into texts (i2t), where each image has texts of its own, or both.
        length: the tokens of a prompt that take part in the fusion.
    """
    tokens = image_blocks(p, images, sizes.image_heads)[-1]
    words = [p["words"][pairs[:, 0]], p["words"][pairs[:, 1] + sizes.states]]
    texts = prompt_tokens(p, TWO_SLOTS, p["context"], words, sizes.text_heads)
    image, text = in_joint_space(p, tokens[:, 0]), text_embeddings(p, texts, TWO_SLOTS)
    scale = p["backbone.model.logit_scale"].exp()
    before = scale * unit(image) @ unit(text).T
    texts = texts[:, :length]
    means, of_names = [], []
    for place, count in ((0, sizes.states), (1, len(p["words"]) - sizes.states)):
        for number in range(count):
            row = pairs[:, place] == number
            means.append(texts[row].mean(dim=0) if row.any() else torch.zeros_like(texts[0]))
            of_names.append(before[:, row].mean(dim=1) if row.any() else torch.full_like(before[:, 0], -torch.inf))
    names = torch.stack(means)  # [S + O, length, D]
    looking = tokens
    if fusion != "i2t":
        widened = mapped(p, "text_to_image.0", names)
        folded = mapped(p, "text_to_image.1", widened.transpose(0, 1).reshape(-1, widened.shape[-1]).T).T
        looking = residual_block(p, "image_looks", tokens, folded.expand(len(images), -1, -1))
    looking = residual_block(p, "image_attention", looking)
    image = (1 - share) * image + share * in_joint_space(p, looking[:, 0])
    if fusion == "t2i":
        fused = text_embeddings(p, residual_block(p, "text_attention", texts), TWO_SLOTS)
    else:
        seen = []
        for narrowed in mapped(p, "image_to_text.0", tokens):  # of an image [1 + patches, D]
            given = mapped(p, "image_to_text.1", narrowed.T).T.reshape(length, len(names), -1).transpose(0, 1)
            seen.append(residual_block(p, "text_attention", residual_block(p, "text_looks", names, given))[:, -1])
        of_images = torch.stack(seen)
        products = of_images[:, pairs[:, 0]] * of_images[:, pairs[:, 1] + sizes.states]
        ends = normed(p, "backbone.model.ln_final", mapped(p, "composed", products))
        fused = ends @ p["backbone.model.text_projection"]
    texts_seen = unit((1 - share) * text + share * fused).expand(len(images), -1, -1)
    pair = scale * torch.einsum("ie,ite->it", unit(image), texts_seen)
    by_name = torch.stack(of_names, dim=1)
    return {"pair": pair, "before": before, "state": by_name[:, : sizes.states], "object": by_name[:, sizes.states :]}


def dfsp_loss(logits: dict[str, Tensor], targets: Tensor, pairs: Tensor, *, primitives: float, prompt: float) -> Any:
    by_name = cross_entropy(logits["state"], pairs[targets, 0]) + cross_entropy(logits["object"], pairs[targets, 1])
    by_pair = cross_entropy(logits["pair"], targets)
    return by_pair + primitives * by_name + prompt * cross_entropy(logits["before"], targets)
