"""Three paths from an image to a pair: as a whole, by its state and by its object (Huang et al., 2024), and C-S-O, the
plain three paths, Duplex's baseline.

See ``paths`` for symbols.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.base import TEXT_IMAGE_PAIRS, PairMethod, apply_blockwise, cosine_logits
from recompose.tracks.czsl.methods.image_tower import image_tuning
from recompose.tracks.czsl.methods.paths import (
    PATHS,
    Parts,
    PathPrompts,
    PathScoring,
    TextBlock,
    Views,
    disentangler_of,
    weights_of,
)
from recompose.tracks.czsl.methods.settings import CsoSettings, ThreePathSettings


class ThreePath(PairMethod):
    """A tuned image tower, learned prompts, disentangled states and objects; one cross-entropy and one logit per path.

    The fusion of scores is no setting of the model: ``set_scoring`` sets it, for validation and for an evaluation.
    """

    sees = "pixels"
    settings_class: ClassVar[type[ThreePathSettings]] = ThreePathSettings
    settings: ThreePathSettings

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: ThreePathSettings) -> None:
        super().__init__(backbone)
        self.settings, self.loss_weights = settings, settings.loss_weights
        soft = settings.prompts == "soft"
        self.prompts = PathPrompts(
            backbone, states, objects, settings.prompt, settings.attribute_dropout if soft else 0.0
        )
        self.prompts.requires_grad_(soft)
        self.adapters = image_tuning(
            settings.image_tower, backbone, bottleneck=settings.adapter_bottleneck, dropout=settings.adapter_dropout
        )
        self.of_state, self.of_object = (disentangler_of(settings, backbone.width) for _ in range(2))

    def layers(self) -> list[list[int]]:
        """Return the groups of tower blocks whose tokens texts attend to; none in the plain three paths."""
        return []

    def project(self, tokens: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return a path's tokens, projected for ``attend`` once for all texts."""
        return tokens

    def attend(self, texts: Tensor, projected: tuple[Any, ...]) -> Tensor:
        """Return texts [P, E], of unit length, after cross-attention to each image's projected tokens: [images, P, E],
        or [P, E] without cross-attention.
        """
        return texts

    def tokens_of(self, path: str, tokens: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the tokens that the texts of a path attend to: here all of them."""
        return tokens

    def gather(self, groups: list[list[Tensor]]) -> tuple[Tensor, ...]:
        """Return the tokens that texts attend to, from the tokens of each group of layers."""
        return ()

    def encode_images(self, inputs: Tensor) -> Views:
        """Return each path's embedding, and the tokens for texts, of images as bytes [images, 3, height, width]."""
        groups = self.layers()
        with self.adapters.attach(self.backbone.image_blocks):
            embedding, layer_tokens = self._tower(
                self.backbone.from_bytes(inputs), {layer for group in groups for layer in group}
            )
        return Views(
            pair=embedding,
            state=self.of_state(embedding),
            object=self.of_object(embedding),
            tokens=self.gather([[layer_tokens[layer] for layer in group] for group in groups]),
        )

    def _tower(self, pixels: Tensor, layers_needed: set[int]) -> tuple[Tensor, dict[int, Tensor]]:
        """Return the embedding [images, E], and the tokens [images, 1 + patches, E] of these blocks."""
        if not layers_needed:
            return self.backbone.encode_image(pixels), {}
        layers = sorted({*layers_needed, self.backbone.depth - 1})
        layer_tokens = dict(zip(layers, self.backbone.joint_tokens(pixels, layers), strict=True))
        return layer_tokens[layers[-1]][:, 0], layer_tokens

    def encode_texts(self, blocks: Sequence[Tensor]) -> list[TextBlock]:
        """Return the texts of each block of pairs [pairs, 2], and of all states and objects."""
        states, objects = self.prompts.words()
        alone = self._encode("state", states), self._encode("object", objects)
        return [
            TextBlock(index, self._encode("pair", states[index[:, 0]], objects[index[:, 1]]), *alone)
            for index in blocks
        ]

    def _encode(self, path: str, *words: Tensor) -> Tensor:
        return self.prompts.encode(self.backbone, path, *words)

    def logits(self, path: str, images: Views, texts: Tensor) -> Tensor:
        """Return logits [images, texts] of a path, in blocks of texts [texts, E] of any length.

        Texts get unit length before they attend to images, not only after it: lambda was chosen for queries and
        additions of that size (MSCI at 04cea14, Troika at 1f3c546). Without attention, cosines do not depend on it.
        """
        view, projected = getattr(images, path), self.project(self.tokens_of(path, images.tokens))
        return apply_blockwise(
            lambda block: cosine_logits(self.backbone.logit_scale, view, self.attend(block, projected)),
            normalize(texts.float(), dim=-1),
            size=max(1, TEXT_IMAGE_PAIRS // len(view)),
            dim=1,
        )

    def wholes(self, images: Views, block: TextBlock) -> tuple[Tensor, ...]:
        """Return logits [images, P] of each way to score a pair as a whole: here by its text alone."""
        return (self.logits("pair", images, block.pairs),)

    def log_totals(self, compared: Iterable[Parts]) -> tuple[Tensor, ...]:
        """Return the logarithms [images] of the totals that divide the probabilities of pairs (MSCI, Eq. 10), of each
        way to score a pair as a whole.
        """
        of_blocks = ([logits.logsumexp(dim=-1) for logits in parts.wholes] for parts in compared)
        return tuple(torch.stack(sums).logsumexp(dim=0) for sums in zip(*of_blocks, strict=True))

    def needs_totals(self, scoring: PathScoring) -> bool:
        """Return whether a score needs the pair's probability."""
        return scoring.fusion == "probabilities"

    def compare(self, images: Views, texts: list[TextBlock]) -> Iterator[Parts]:
        """Yield the parts of each block: the probabilities of states and objects (MSCI, Eqs. 11 and 12), and the logits
        of pairs.
        """
        states = self.logits("state", images, texts[0].states).softmax(dim=-1)
        objects = self.logits("object", images, texts[0].objects).softmax(dim=-1)
        for block in texts:
            yield Parts(block.index, self.wholes(images, block), states, objects)

    def loss(self, inputs: Tensor, targets: Tensor, pairs: Tensor) -> Tensor:
        """Return the weighted cross-entropies of the three paths (MSCI, Eqs. 13 to 16), over the pairs of training."""
        images, (block,) = self.encode_images(inputs), self.encode_texts([pairs])
        labels = {"pair": targets, "state": pairs[targets, 0], "object": pairs[targets, 1]}
        texts = {"pair": block.pairs, "state": block.states, "object": block.objects}
        losses = [cross_entropy(self.logits(path, images, texts[path]), labels[path]) for path in PATHS]
        return sum((weight * loss for weight, loss in zip(self.loss_weights, losses, strict=True)), torch.zeros(()))

    def score(self, parts: Parts, scoring: PathScoring, world: str, log_totals: tuple[Tensor, ...] = ()) -> Tensor:
        """Return scores [images, P]: the weighted sum of a pair's probability, or logit, and of p(state) p(object).

        With probabilities and the weights beta and 1 - beta this is MSCI's Eq. 17; the released code (MSCI at 04cea14,
        Troika at 1f3c546) takes logits.
        """
        *shares, apart = weights_of(scoring, world)
        wholes = parts.wholes
        if scoring.fusion == "probabilities":
            wholes = tuple((logits - total[:, None]).exp() for logits, total in zip(wholes, log_totals, strict=True))
        score = apart * parts.apart
        for share, whole in zip(shares, wholes, strict=True):
            score = score + share * whole
        return score


class CSO(ThreePath):
    """Three paths without attention of texts to images."""

    settings_class = CsoSettings
