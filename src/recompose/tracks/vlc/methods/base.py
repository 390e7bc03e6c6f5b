"""The base of methods that tune a CLIP on images, captions and hard negatives, and what their losses take."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from recompose.backbones import low_rank
from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.building import WithSettings
from recompose.tracks.vlc.attribution.labels import LabelRequest, TokenLabels
from recompose.tracks.vlc.methods.settings import TunedSettings
from recompose.training.gathering import gather_batch


@dataclass(frozen=True)
class LocalFeatures:
    """The patches of n images (without the class token) and the tokens of their captions and m negatives, projected,
    not normalised. Masks leave out padding and the start of text, which is the same everywhere.
    """

    patches: Tensor  # [n, P, E]
    tokens: Tensor  # [n, T, E]
    mask: Tensor  # [n, T] bool
    negative_tokens: Tensor  # [m, T, E]
    negative_mask: Tensor  # [m, T] bool


@dataclass(frozen=True)
class Representations:
    """Embeddings of n images, of their captions, and of the captions' m negatives, all of the first caption first.

    They are not normalised. The other fields are of methods whose losses take them.
    """

    images: Tensor  # [n, E]
    texts: Tensor  # [n, E]
    negatives: Tensor  # [m, E]; perturbed captions are among them
    local: LocalFeatures | None = None
    scores: Tensor | None = None  # [n, T], the attribution to captions' tokens
    labels: TokenLabels | None = None  # of [n, T]
    changed: Tensor | None = None  # [n, P, T] bool, the caption's tokens that a perturbation replaces

    @property
    def embeddings(self) -> tuple[Tensor, Tensor, Tensor]:
        """The embeddings of images, captions and negatives."""
        return self.images, self.texts, self.negatives

    def in_32_bits(self) -> "Representations":
        """Return the same with 16-bit tensors converted to 32 bits."""
        half = (torch.float16, torch.bfloat16)
        return _by_tensor(lambda tensor: tensor.float() if tensor.dtype in half else tensor, self)


def _by_tensor(function: Callable[..., Tensor], first: Any, *others: Any) -> Any:
    """Apply a function to the corresponding tensors of dataclasses of the same kind; return such a dataclass."""
    if first is None or isinstance(first, Tensor):
        return None if first is None else function(first, *others)
    names = [field.name for field in fields(first)]
    return type(first)(*(_by_tensor(function, *(getattr(part, name) for part in (first, *others))) for name in names))


class CaptionMethod(nn.Module, WithSettings, ABC):
    """A CLIP with the loss that tunes it.

    Args:
        backbone: the CLIP to tune, owned by the method.
        settings: its tuning.
        negatives: the kinds of negatives of a caption, in the order of ``valid``.

    Raises:
        ArgumentError: ``lora`` with an image tower without transformer blocks.
    """

    settings_class: ClassVar[type[TunedSettings]]
    label_request: LabelRequest | None = None  # the labels that the loss needs

    def __init__(self, backbone: Backbone, settings: TunedSettings, negatives: Sequence[str] = ()) -> None:
        super().__init__()
        self.backbone, self.negatives = backbone, tuple(negatives)
        if settings.tuning == "lora" and settings.lora:
            if not backbone.depth:
                fault = "needs transformer blocks, and a convolutional image tower has none: set tuning to full"
                raise ArgumentError("tuning", f"is lora, which {fault}")
            low_rank.attach(backbone, settings.lora.rank, settings.lora.alpha)

    @property
    def logit_scale(self) -> Tensor:
        """The factor 1 / tau on cosines."""
        return self.backbone.logit_scale

    def begin_epoch(self) -> None:
        """Reset the loss's state of an epoch."""

    def represent(self, pixels: Tensor, ids: Tensor) -> Representations:
        """Return the representations that the loss takes.

        Those of an image or a text depend on it alone, so that a batch can be represented in parts.

        Args:
            pixels: [n, 3, H, W].
            ids: [n + m, T], token ids of the images' captions, and then of the captions' negatives.
        """
        texts = self.backbone.encode_text(ids)
        return Representations(self.backbone.encode_image(pixels), texts[: len(pixels)], texts[len(pixels) :])

    @abstractmethod
    def loss(self, batch: Representations, valid: Tensor) -> Tensor:
        """Return the loss of a whole batch.

        Args:
            batch: as returned by ``represent``, with labels where ``label_request`` asks for them.
            valid: [n, K] bool, the negatives of each kind that exist.
        """


def represent_in_chunks(
    method: CaptionMethod, pixels: Tensor, ids: Tensor, valid: Tensor, chunk: int | None
) -> Representations:
    """Return a method's representations of a whole batch, computed for ``chunk`` images with their texts at a time.

    Cached gradients (Gao et al., 2021): a chunk stores its representations, not the towers' activations. In the
    backward pass each chunk is computed again, and propagates the gradients of its representations. So a step needs a
    second forward pass and the memory of one chunk, and its gradients are those of the whole batch.

    Args:
        method: the method.
        pixels: [B, 3, H, W].
        ids: [B + valid.sum(), T], captions and then negatives, all of the first caption first.
        valid: [B, K] bool.
        chunk: images of a chunk; None: all.
    """
    batch = len(pixels)
    if chunk is None or chunk >= batch:
        return method.represent(pixels, ids)
    starts = range(0, batch, chunk)
    counts = [int(part.sum()) for part in valid.split(chunk)]
    texts = zip(ids[:batch].split(chunk), ids[batch:].split(counts), strict=True)
    parts = [
        checkpoint(method.represent, pixels[start : start + chunk], torch.cat(both), use_reentrant=False)
        for start, both in zip(starts, texts, strict=True)
    ]
    return _by_tensor(lambda *tensors: torch.cat(tensors), *parts)


def gather_embeddings(mine: Representations, valid: Tensor) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor]:
    """Return the embeddings of images, captions and negatives, and ``valid``, of all processes, whose numbers of
    negatives may differ.

    FSC-CLIP's code at 604015d gathers only for the contrast of images with captions, without the gradients of other
    processes' embeddings. On n devices, which train with the mean of their gradients, this loss then weighs 1 / n of
    its weight on one device. Here the number of devices does not matter.
    """
    images, texts, whole = gather_batch(mine.images), gather_batch(mine.texts), gather_batch(valid)
    if whole is valid:
        return mine.embeddings, valid
    filled = mine.negatives.new_zeros(*valid.shape, mine.images.shape[1])
    filled = filled.masked_scatter(valid[..., None], mine.negatives)
    return (images, texts, gather_batch(filled)[whole]), whole
