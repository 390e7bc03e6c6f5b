"""What methods have in common that tune a CLIP on images, their captions, and hard negatives of these."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from torch import Tensor, nn

from recompose.backbones.clip import Backbone
from recompose.nn import tower_lora

if TYPE_CHECKING:
    from recompose.tracks.vlc.attribution.label_batches import Marking
    from recompose.tracks.vlc.attribution.token_labels import Marks

Tuning: TypeAlias = Literal["full", "lora"]
NOTHING: Mapping[str, Any] = MappingProxyType({})  # is said of a way that is not taken


class Representations(NamedTuple):
    """What becomes of n images with a caption each, and of the captions' m negatives, all of the first caption first;
    not normalised.
    """

    images: Tensor  # [n, E]
    texts: Tensor  # [n, E]
    negatives: Tensor  # [m, E]


class TokenRepresentations(NamedTuple):
    """The same, and the patches and tokens that they are made of: without the class token, projected, not
    normalised. Masks leave out padding and the start of text, which is the same everywhere.
    """

    images: Tensor  # [n, E]
    texts: Tensor  # [n, E]
    negatives: Tensor  # [m, E]
    patches: Tensor  # [n, P, E]
    tokens: Tensor  # [n, T, E]
    mask: Tensor  # [n, T] bool
    negative_tokens: Tensor  # [m, T, E]
    negative_mask: Tensor  # [m, T] bool


class AttributedRepresentations(NamedTuple):
    """The same without patches and tokens, and what each token of a caption counts for."""

    images: Tensor  # [n, E]
    texts: Tensor  # [n, E]
    negatives: Tensor  # [m, E]
    scores: Tensor  # [n, T]


AnyRepresentations: TypeAlias = Representations | TokenRepresentations | AttributedRepresentations


class MarkedRepresentations(NamedTuple):
    """What the loss of a method is computed from that asks for ``marking``."""

    of: AnyRepresentations  # as negatives it has captions with a concept replaced, too
    marks: "Marks"  # of [n, T]
    changed: Tensor  # [n, P, T] bool, which tokens of a caption that concept is


class CaptionMethod(nn.Module, ABC):
    """A CLIP with a loss that it is tuned by.

    Args:
        backbone: that is tuned; it is the method's own from here on.
        tuning: ``full``, all its weights, or ``lora``, low-rank changes of them.
        lora: ``rank`` and ``alpha`` of these, where they are what is tuned.
        negatives: the kinds of negatives that are made of a caption, in the order of ``valid``.

    Raises:
        ValueError: an image tower without transformer blocks is to be changed at low rank.
    """

    marking: "Marking | None" = None  # what the loss asks to know of captions

    def __init__(
        self, backbone: Backbone, *, tuning: Tuning, lora: Mapping[str, Any] = NOTHING, negatives: Sequence[str] = ()
    ) -> None:
        super().__init__()
        self.backbone, self.negatives = backbone, tuple(negatives)
        if tuning == "lora":
            if not backbone.depth:
                raise ValueError("a convolutional image tower has no transformer blocks for lora: set tuning to full")
            tower_lora.attach(backbone, lora["rank"], lora["alpha"])

    @property
    def logit_scale(self) -> Tensor:
        """1 / tau."""
        return self.backbone.logit_scale

    def begin_epoch(self) -> None:
        """Forget what a loss remembers of an epoch."""

    def represent(self, pixels: Tensor, ids: Tensor) -> AnyRepresentations:
        """What the loss is computed from: each image's and each text's part depends on nothing else, so that a batch
        can be represented in parts.

        Args:
            pixels: [n, 3, H, W].
            ids: [n + m, T], token ids of the images' captions, and then of the captions' negatives.
        """
        texts = self.backbone.encode_text(ids)
        return Representations(self.backbone.encode_image(pixels), texts[: len(pixels)], texts[len(pixels) :])

    @abstractmethod
    def loss(self, batch: Any, valid: Tensor) -> Tensor:
        """The loss of a whole batch.

        Args:
            batch: what ``represent`` makes of it, with its marks where ``marking`` asks for them.
            valid: [n, K] bool, which negatives of each kind there are.
        """
