"""The base class of methods that tune a CLIP on images, captions and hard negatives."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from torch import Tensor, nn

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.vlc.methods.parts import tower_lora
from recompose.tracks.vlc.methods.parts.settings import TunedSettings

if TYPE_CHECKING:
    from recompose.tracks.vlc.attribution.label_batches import LabelRequest
    from recompose.tracks.vlc.attribution.token_labels import TokenLabels


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
        settings: its tuning.
        negatives: the kinds of negatives of a caption, in the order of ``valid``.

    Raises:
        ArgumentError: ``lora`` with an image tower without transformer blocks.
    """

    settings_class: ClassVar[type[TunedSettings]]
    label_request: "LabelRequest | None" = None  # the labels that the loss needs

    def __init__(self, backbone: Backbone, settings: TunedSettings, negatives: Sequence[str] = ()) -> None:
        super().__init__()
        self.backbone, self.negatives = backbone, tuple(negatives)
        if settings.tuning == "lora" and settings.lora:
            if not backbone.depth:
                fault = "needs transformer blocks, and a convolutional image tower has none: set tuning to full"
                raise ArgumentError("tuning", f"is lora, which {fault}")
            tower_lora.attach(backbone, settings.lora.rank, settings.lora.alpha)

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
