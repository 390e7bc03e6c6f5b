"""The common bases of all methods for state-object pairs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize
from torch.utils.checkpoint import checkpoint

from recompose.backbones.clip import Backbone
from recompose.tracks.building import WithSettings
from recompose.tracks.czsl.methods.settings import PairTrainingSettings

TEXTS = 512  # in one pass through the tower
TEXT_IMAGE_PAIRS = 8_192  # of one text and one image, in one pass


def apply_blockwise(function: Callable[..., Tensor], *rows: Tensor, size: int, dim: int = 0) -> Tensor:
    """Return a function of rows, computed in blocks of ``size`` rows and joined along ``dim``.

    With several blocks, intermediate values are computed again in the backward pass instead of being stored.
    """
    blocks = list(zip(*(array.split(size) for array in rows), strict=True))
    if len(blocks) > 1 and torch.is_grad_enabled():
        function = partial(checkpoint, function, use_reentrant=False)
    return torch.cat([function(*block) for block in blocks], dim=dim)


@dataclass(frozen=True)
class TrainingPrior:
    """A method's prior knowledge of a data set. Pairs are indices of state and object."""

    pairs: Tensor  # [pairs, 2], of all splits: their names, not their images
    embeddings: Tensor  # [images, E], of training images, by the frozen tower
    labels: Tensor  # [images, 2], of the same images


class PairMethod(nn.Module, WithSettings, ABC):
    """A method on a frozen backbone: its encodings of images and of pairs, their scores, and its loss.

    A pair is given by the index of its state and the index of its object. E is the width of the joint space. The pairs
    of a world come in blocks, so that the scores of all pairs are never in memory at once.
    """

    # a method's inputs: embeddings of the frozen tower, or bytes of images
    sees: ClassVar[Literal["embeddings", "pixels"]] = "embeddings"

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone = backbone.requires_grad_(False)
        self.scoring: Any = None  # stays None for a method without scoring settings

    def train(self, mode: bool = True) -> "PairMethod":
        """Switch to training and return the method; the frozen towers stay in evaluation mode."""
        super().train(mode)
        self.backbone.eval()
        return self

    def prepare(self, prior: TrainingPrior) -> None:
        """Take the prior knowledge of the data set, once, before training."""

    def parameter_groups(self, training: PairTrainingSettings) -> list[dict[str, Any]]:
        """Return the trained parameters in groups for the optimiser; a group may have a rate and a decay of its own."""
        return [{"params": [parameter for parameter in self.parameters() if parameter.requires_grad]}]

    def set_scoring(self, scoring: Any) -> Self:
        """Set the scoring settings, which training does not depend on, and return the method."""
        self.scoring = scoring
        return self

    @abstractmethod
    def encode_images(self, inputs: Tensor) -> Any:
        """Return the method's encoding of images, from its inputs: embeddings [images, E], or bytes [images, 3, height,
        width].
        """

    @abstractmethod
    def encode_texts(self, blocks: Sequence[Tensor]) -> list[Any]:
        """Return the method's encoding of a world, for each of its blocks of pairs [pairs, 2]."""

    @abstractmethod
    def compare(self, images: Any, texts: list[Any]) -> Iterator[Any]:
        """Yield the parts of the scores of images and each block of a world, which depend on no scoring settings:
        mostly the scores themselves.
        """

    def score(self, parts: Any, scoring: Any, world: str, log_totals: tuple[Tensor, ...] = ()) -> Tensor:
        """Return scores [images, pairs], in 32 bits, of a block's parts by scoring settings.

        Args:
            parts: from ``compare``.
            scoring: the settings.
            world: closed or open.
            log_totals: those of the world, if the settings need them.
        """
        return parts

    def needs_totals(self, scoring: Any) -> bool:
        """Return whether scores by these settings need ``log_totals``."""
        return False

    def log_totals(self, compared: Iterable[Any]) -> tuple[Tensor, ...]:
        """Return the logarithms [images] of sums over all pairs of a world, from the parts of its blocks."""
        return ()

    def image_embeddings(self, inputs: Tensor) -> dict[str, Tensor]:
        """Return the vectors of images that figures show, by name, each [images, E]."""
        raise NotImplementedError(f"{type(self).__name__} has no embeddings to show")

    def pair_embeddings(self, pairs: Tensor) -> dict[str, Tensor]:
        """Return the vectors of pairs [pairs, 2] that figures show, by name, each [pairs, E]."""
        raise NotImplementedError(f"{type(self).__name__} has no embeddings to show")

    @abstractmethod
    def loss(self, inputs: Tensor, targets: Tensor, pairs: Tensor) -> Tensor:
        """Return the loss on images, as ``encode_images`` takes them, with labels ``targets`` [images] among ``pairs``
        [pairs, 2].
        """

    def scores(self, inputs: Tensor, texts: list[Any], world: str) -> Iterator[Tensor]:
        """Return the scores [images, pairs] of images in each block of a world, by the method's own settings."""
        compared = Compared(self, self.encode_images(inputs), texts)
        log_totals = self.log_totals(compared) if self.needs_totals(self.scoring) else ()
        return (self.score(parts, self.scoring, world, log_totals) for parts in compared)


class Compared:
    """The parts of the scores of images and each block of a world. Each pass over them computes them anew, so that one
    block is in memory at once; a single block is computed once.
    """

    def __init__(self, method: PairMethod, images: Any, texts: list[Any]) -> None:
        self._compare = partial(method.compare, images, texts)
        self._kept = list(self._compare()) if len(texts) == 1 else []

    def __iter__(self) -> Iterator[Any]:
        return iter(self._kept) if self._kept else self._compare()


class TextMethod(PairMethod):
    """A method whose scores are cosines between an image's embedding and the text of a pair, times CLIP's factor."""

    def encode_images(self, inputs: Tensor) -> Tensor:
        """Return the embeddings themselves."""
        return inputs

    def encode_texts(self, blocks: Sequence[Tensor]) -> list[Tensor]:
        """Return the texts [pairs, E] of each block."""
        return [self.encode_pairs(pairs) for pairs in blocks]

    @abstractmethod
    def encode_pairs(self, pairs: Tensor) -> Tensor:
        """Return text embeddings [pairs, E], of unit length, of pairs [pairs, 2]."""

    def compare(self, images: Tensor, texts: list[Tensor]) -> Iterator[Tensor]:
        """Yield the logits [images, pairs] of each block."""
        return (self.logits(images, block) for block in texts)

    def logits(self, images: Tensor, texts: Tensor) -> Tensor:
        """Return logits [images, pairs] of image embeddings [images, E], of any length, and texts of unit length
        [pairs, E].
        """
        return cosine_logits(self.backbone.logit_scale, images, texts)

    def loss(self, inputs: Tensor, targets: Tensor, pairs: Tensor) -> Tensor:
        """Return the cross-entropy over pairs."""
        return cross_entropy(self.logits(inputs, self.encode_pairs(pairs)), targets)


def cosine_logits(scale: Tensor, images: Tensor, texts: Tensor) -> Tensor:
    """Return cosines [images, texts] times CLIP's factor, of images [images, E] and texts [texts, E], or [images,
    texts, E] with texts of each image.

    Always in 32 bits: cosines times 100 in 16 bits would tie pairs that differ.
    """
    with torch.autocast(images.device.type, enabled=False):
        images, texts = normalize(images.float(), dim=-1), normalize(texts.float(), dim=-1)
        cosines = images @ texts.T if texts.dim() == 2 else torch.einsum("ie,ite->it", images, texts)
        return scale.float() * cosines
