"""The base class of methods that tune a CLIP on images, captions and hard negatives."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from torch import Tensor, nn

from recompose.backbones.clip import Backbone
from recompose.tracks.vlc.methods.parts import tower_lora

if TYPE_CHECKING:
    from recompose.tracks.vlc.attribution.label_batches import LabelRequest
    from recompose.tracks.vlc.attribution.token_labels import TokenLabels

Tuning: TypeAlias = Literal["full", "lora"]
NOTHING: Mapping[str, Any] = MappingProxyType({})  # the settings of an unused option


class Representations(NamedTuple):
    """Embeddings of n images, of their captions, and of the captions' m negatives, all of the first caption first.

    They are not normalised.
    """

    images: Tensor  # [n, E]
    texts: Tensor  # [n, E]
    negatives: Tensor  # [m, E]


class TokenRepresentations(NamedTuple):
    """Embeddings with patches (without the class token) and tokens, projected, not normalised.

    Masks leave out padding and the start of text, which is the same everywhere.
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
    """Embeddings with the attribution scores of captions' tokens."""

    images: Tensor  # [n, E]
    texts: Tensor  # [n, E]
    negatives: Tensor  # [m, E]
    scores: Tensor  # [n, T]


AnyRepresentations: TypeAlias = Representations | TokenRepresentations | AttributedRepresentations


class LabelledRepresentations(NamedTuple):
    """Representations with labels, the input of the loss of a method with a ``label_request``."""

    representations: AnyRepresentations  # the negatives include perturbed captions
    labels: "TokenLabels"  # of [n, T]
    changed: Tensor  # [n, P, T] bool, the caption's tokens that a perturbation replaces


class CaptionMethod(nn.Module, ABC):
    """A CLIP with the loss that tunes it.

    Args:
        backbone: the CLIP to tune, owned by the method.
        tuning: ``full``, all its weights, or ``lora``, low-rank changes of them.
        lora: ``rank`` and ``alpha`` of ``lora``.
        negatives: the kinds of negatives of a caption, in the order of ``valid``.

    Raises:
        ValueError: ``lora`` with an image tower without transformer blocks.
    """

    label_request: "LabelRequest | None" = None  # the labels that the loss needs

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
        """The factor 1 / tau on cosines."""
        return self.backbone.logit_scale

    def begin_epoch(self) -> None:
        """Reset the loss's state of an epoch."""

    def represent(self, pixels: Tensor, ids: Tensor) -> AnyRepresentations:
        """Return the representations that the loss takes.

        Those of an image or a text depend on it alone, so that a batch can be represented in parts.

        Args:
            pixels: [n, 3, H, W].
            ids: [n + m, T], token ids of the images' captions, and then of the captions' negatives.
        """
        texts = self.backbone.encode_text(ids)
        return Representations(self.backbone.encode_image(pixels), texts[: len(pixels)], texts[len(pixels) :])

    @abstractmethod
    def loss(self, batch: Any, valid: Tensor) -> Tensor:
        """Return the loss of a whole batch.

        Args:
            batch: as returned by ``represent``, with labels where ``label_request`` asks for them.
            valid: [n, K] bool, the negatives of each kind that exist.
        """
