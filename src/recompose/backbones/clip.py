"""CLIP behind one small interface, for the small backbone and for the released ones."""

import logging
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import open_clip
import torch
from open_clip.tokenizer import SimpleTokenizer
from PIL import Image
from torch import Tensor, nn

from recompose.backbones.attention import SelfAttention
from recompose.backbones.stem import convolutional_stem
from recompose.backbones.weight_files import load_weights
from recompose.errors import ArgumentError
from recompose.files import read_json

ARCHITECTURES = Path(__file__).parent / "architectures"
DESCRIPTION = "backbone.json"  # architecture, activation, and the name of the weights' file
Activation = Literal["gelu", "quick_gelu"]


class SharedTokenizer:
    """A tokenizer of open_clip that all copies of a backbone share, with a cache of the ids of words.

    Epochs and evaluations tokenize the same words again, and open_clip's cleaning takes longer than a small tower.
    """

    def __init__(self, tokenizer: Callable[[list[str]], Tensor]) -> None:
        self._tokenizer: Any = tokenizer
        self._splits = isinstance(tokenizer, SimpleTokenizer) and tokenizer.reduction_fn is None
        self._word_ids: dict[str, list[int]] = {}

    def __call__(self, texts: Sequence[str]) -> Tensor:
        """Return token ids [texts, context]."""
        tokenizer = self._tokenizer
        if not self._splits:
            return tokenizer(list(texts))
        ids = np.zeros((len(texts), tokenizer.context_length), dtype=np.int64)
        for row, text in zip(ids, texts, strict=True):
            content = self._ids(text)[: len(row) - 2]
            row[: len(content) + 2] = [tokenizer.sot_token_id, *content, tokenizer.eot_token_id]
        return torch.from_numpy(ids)

    def _ids(self, text: str) -> list[int]:
        """Return the ids of a text; cleaning changes nothing across the words of printable ASCII without entities."""
        if not (text.isascii() and text.isprintable() and "&" not in text):
            return self._tokenizer.encode(text)
        words = text.split()
        for word in set(words) - self._word_ids.keys():
            self._word_ids[word] = self._tokenizer.encode(word)
        return [number for word in words for number in self._word_ids[word]]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of token ids."""
        return self._tokenizer.decode(ids)

    def __deepcopy__(self, memo: dict[int, Any]) -> "SharedTokenizer":
        return self


@lru_cache
def tokenizer_of(architecture: str) -> SharedTokenizer:
    """Return the tokenizer of an architecture, ours or open_clip's own."""
    open_clip.add_model_config(ARCHITECTURES)
    return SharedTokenizer(open_clip.get_tokenizer(architecture))


class Backbone(nn.Module):
    """A CLIP model of open_clip, its tokenizer and its preprocessing.

    Symbols below: E is the width of the joint space, D of the text tower, W of the image tower.
    """

    def __init__(self, model: open_clip.CLIP, tokenizer: SharedTokenizer) -> None:
        super().__init__()
        self.model = model
        self.tokenizer = tokenizer
        for block in (*model.transformer.resblocks, *self.image_blocks):
            block.attn = SelfAttention(block.attn)
        visual = model.visual
        self.preprocess: Callable[[Image.Image], Tensor] = open_clip.image_transform(
            visual.image_size, is_train=False, mean=visual.image_mean, std=visual.image_std
        )

    @property
    def logit_scale(self) -> Tensor:
        """The factor on cosines, a scalar (100 in the released models)."""
        return self.model.logit_scale.exp()

    @property
    def depth(self) -> int:
        """The number of transformer blocks of the image tower."""
        return len(self.image_blocks)

    def tokens(self, texts: Sequence[str]) -> Tensor:
        """Return token ids [texts, context], with start and end of text, padded with zeros, on the device of the
        towers.
        """
        return self.tokenizer(texts).to(self.model.positional_embedding.device)

    def embed_tokens(self, ids: Tensor) -> Tensor:
        """Return token embeddings [..., D] of token ids [...]."""
        return self.model.token_embedding(ids)

    def encode_image(self, pixels: Tensor) -> Tensor:
        """Return image embeddings [images, E], not normalised, of preprocessed pixels [images, 3, height, width]."""
        return self.model.encode_image(pixels)

    def image_tokens(self, pixels: Tensor, layers: Sequence[int]) -> list[Tensor]:
        """Return the output of these blocks (0 is the first), each [images, 1 + patches, W], class token first.

        Raises:
            ValueError: the tower lacks one of the layers.
        """
        wrong = [layer for layer in layers if not 0 <= layer < self.depth]
        if wrong:
            raise ArgumentError("layers", f"{wrong} are not among the {self.depth} blocks of this image tower")
        out = self.model.visual.forward_intermediates(
            pixels, indices=list(layers), intermediates_only=True, output_fmt="NLC", output_extra_tokens=True
        )
        pairs = zip(out["image_intermediates_prefix"], out["image_intermediates"], strict=True)
        tokens = {layer: torch.cat(pair, dim=1) for layer, pair in zip(sorted(layers), pairs, strict=True)}
        return [tokens[layer] for layer in layers]

    @property
    def width(self) -> int:
        """E, the width of the joint space."""
        return int(self.model.text_projection.shape[1])

    @property
    def image_size(self) -> tuple[int, int]:
        """The height and width of the images that the tower takes, in pixels."""
        size = self.model.visual.image_size
        return (size, size) if isinstance(size, int) else tuple(size)

    @property
    def image_blocks(self) -> nn.ModuleList:
        """The transformer blocks of the image tower; a convolutional one has none."""
        transformer = getattr(self.model.visual, "transformer", None)
        return transformer.resblocks if transformer is not None else nn.ModuleList()

    @property
    def image_width(self) -> int:
        """W, the width of the image tower."""
        return int(self.model.visual.ln_post.normalized_shape[0])

    @property
    def image_length(self) -> int:
        """The number of tokens of an image: patches and the class token."""
        return int(self.model.visual.positional_embedding.shape[0])

    @property
    def text_width(self) -> int:
        """D, the width of the text tower."""
        return int(self.model.text_projection.shape[0])

    def from_bytes(self, images: Tensor) -> Tensor:
        """Return preprocessed pixels [images, 3, height, width] of bytes, or of numbers from 0 to 255."""
        visual = self.model.visual
        mean, std = (torch.tensor(values, device=images.device) for values in (visual.image_mean, visual.image_std))
        return (images.float() / 255 - mean.view(3, 1, 1)) / std.view(3, 1, 1)

    def joint_tokens(self, pixels: Tensor, layers: Sequence[int]) -> list[Tensor]:
        """Return the output of these blocks in the joint space: each token [images, 1 + patches, E], normed and
        projected like the class token.

        The class token of the last block is the image's embedding.
        """
        return [self.project_image(tokens) for tokens in self.image_tokens(pixels, layers)]

    def project_image(self, tokens: Tensor) -> Tensor:
        """Return tokens [..., W] of the image tower in the joint space [..., E], normed and projected like the class
        token.
        """
        visual = self.model.visual
        return visual.ln_post(tokens) @ visual.proj

    def encode_text(self, ids: Tensor) -> Tensor:
        """Return text embeddings [texts, E], not normalised, of token ids [texts, context]."""
        return self.encode_prompts(self.embed_tokens(ids), end_of_text(ids))

    def encode_prompts(self, embeddings: Tensor, end: Tensor) -> Tensor:
        """Return text embeddings [texts, E], not normalised, of prompts given as token embeddings.

        The tower is causal, so tokens after the last end-of-text token have no effect and are not computed.

        Args:
            embeddings: [texts, length, D], length up to the context.
            end: [texts], the position of each prompt's end-of-text token.
        """
        x = self.prompt_tokens(embeddings[:, : int(end.max()) + 1])
        return self.project_text(x[torch.arange(len(x), device=x.device), end])

    def prompt_tokens(self, embeddings: Tensor) -> Tensor:
        """Return the output of the text tower's last block [texts, length, D] for prompts given as token embeddings
        [texts, length, D].
        """
        model, length = self.model, embeddings.shape[1]
        x = embeddings + model.positional_embedding[:length]
        return model.transformer(x, attn_mask=model.attn_mask[:length, :length])

    def encode_alike(self, prompts: Tensor, shared: int) -> Tensor:
        """Return text embeddings [texts, E], not normalised, of prompts given as token embeddings [texts, length, D]
        whose first ``shared`` tokens are the same in all, and whose last one is the end of text.

        The tower is causal: the outputs of the shared tokens do not depend on later tokens, so they are computed once,
        and their keys and values serve all texts. The last block computes only the end of text. That takes half of
        the time of whole texts, which dominate a training step with many pairs and few images.
        """
        length, mask = prompts.shape[1], self.model.attn_mask
        x = prompts + self.model.positional_embedding[:length]
        prefix, suffix = x[:1, :shared], x[:, shared:]
        for block in self.model.transformer.resblocks:
            queries, *cached = block.attn.project(block.ln_1(prefix))
            suffix_queries, *suffix_cache = block.attn.project(block.ln_1(suffix))
            prefix = _after_attention(block, prefix, block.attn.attend(queries, *cached, mask[:shared, :shared]))
            cached = [
                torch.cat([earlier.expand(len(later), -1, -1, -1), later], dim=2)
                for earlier, later in zip(cached, suffix_cache, strict=True)
            ]
            if block is self.model.transformer.resblocks[-1]:
                suffix, suffix_queries = suffix[:, -1:], suffix_queries[:, :, -1:]
            attended = block.attn.attend(suffix_queries, *cached, mask[length - suffix.shape[1] : length, :length])
            suffix = _after_attention(block, suffix, attended)
        return self.project_text(suffix[:, -1])

    def project_text(self, tokens: Tensor) -> Tensor:
        """Return tokens [..., D] of the text tower in the joint space [..., E], normed and projected like the end of
        text.
        """
        return self.model.ln_final(tokens) @ self.model.text_projection


def _after_attention(block: Any, x: Tensor, attended: Tensor) -> Tensor:
    """Return the output of a block for tokens whose attention is computed."""
    x = x + block.ls_1(attended)
    return x + block.ls_2(block.mlp(block.ln_2(x)))


def end_of_text(ids: Tensor) -> Tensor:
    """Return the position [texts] of the end-of-text token, which has the largest id of the vocabulary."""
    return ids.argmax(dim=-1)


def _is_relevant(record: logging.LogRecord) -> bool:
    """Return whether a log record is not open_clip's warning of random weights, which ``build`` asks for."""
    return "No pretrained weights loaded" not in record.getMessage()


logging.getLogger().addFilter(_is_relevant)


def _model(architecture: str, activation: Activation, device: str) -> open_clip.CLIP:
    """Return a model with random weights: open_clip's own, but for the stem that our architectures may have."""
    quick = activation == "quick_gelu"
    config = open_clip.get_model_config(architecture) or {}
    stem = config.pop("stem", None)
    if stem is None:
        return open_clip.create_model(architecture, quick_gelu=quick, device=device)
    if stem != "convolutional":
        raise ArgumentError("stem", f"of {architecture} is {stem!r}; a stem is convolutional or left out")
    model = open_clip.CLIP(**config, quick_gelu=quick)
    vision = config["vision_cfg"]
    model.visual.conv1 = convolutional_stem(vision["patch_size"], vision["width"])
    open_clip.set_model_preprocess_cfg(
        model, {"mean": open_clip.OPENAI_DATASET_MEAN, "std": open_clip.OPENAI_DATASET_STD}
    )
    return model


def build(architecture: str, activation: Activation) -> Backbone:
    """Return a backbone of an open_clip architecture, ours or open_clip's own, with random weights.

    Raises:
        RuntimeError: open_clip does not know the architecture.
        ValueError: its stem is unknown.
    """
    open_clip.add_model_config(ARCHITECTURES)
    return Backbone(_model(architecture, activation, "cpu"), tokenizer_of(architecture))


def outline(architecture: str, activation: Activation) -> Backbone:
    """Return a backbone without weights, in no memory but for the embedding of tokens: enough to build methods on, and
    to count their trainable parameters.

    Raises:
        RuntimeError: open_clip does not know the architecture.
    """
    with torch.device("meta"):
        model = _model(architecture, activation, "meta")
    model.token_embedding.to_empty(device="cpu")
    model.positional_embedding = nn.Parameter(torch.zeros(model.positional_embedding.shape))
    return Backbone(model, tokenizer_of(architecture))


def load(architecture: str, activation: Activation, weights: Path) -> Backbone:
    """Return a backbone with weights from a file, in any form of ``weight_files``.

    A TorchScript archive, as OpenAI publishes, is code: verify its digest first.

    Raises:
        DataError: the file cannot be read, or its weights do not fit the architecture.
    """
    backbone = build(architecture, activation)
    load_weights(backbone.model, weights, architecture, trusted=True)
    return backbone.eval()


def load_backbone(folder: Path) -> Backbone:
    """Return a backbone from a folder with its weights and ``backbone.json``, which holds architecture, activation and
    the weights' file name.

    Raises:
        DataError: the file cannot be read, or its weights do not fit the architecture.
    """
    description = read_json(folder / DESCRIPTION)
    return load(description["architecture"], description["activation"], folder / description["weights"])
