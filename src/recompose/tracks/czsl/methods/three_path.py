"""Three paths from an image to a pair: as a whole, by its state and by its object (Huang et al., 2024), and C-S-O, the
plain three paths, Duplex's baseline.

Symbols: E is the width of the joint space, D of the text tower; P, S and O are the numbers of pairs, states and
objects.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.base import TEXT_IMAGE_PAIRS, PairMethod, apply_blockwise, cosine_logits
from recompose.tracks.czsl.methods.disentangler import Disentangler
from recompose.tracks.czsl.methods.image_tower import image_tuning
from recompose.tracks.czsl.methods.prompts import SlottedPrompt, mean_token_embeddings
from recompose.tracks.czsl.methods.settings import CsoSettings, PairSelection, ThreePathScoring, ThreePathSettings

PATHS = ("pair", "state", "object")
PathScoring: TypeAlias = PairSelection | ThreePathScoring  # the fusion of the paths into one score


@dataclass(frozen=True)
class Parts:
    """The parts of the scores of images and a block's pairs in a world: p(state) p(object) [images, P]; the logits
    [images, P] of each way to score a pair as a whole; and the logarithms [images] of the totals that divide its
    probabilities, if a score needs them.
    """

    world: str
    apart: Tensor
    wholes: tuple[Tensor, ...]
    totals: tuple[Tensor, ...]


@dataclass(frozen=True)
class TextBlock:
    """A block of a world: its pairs [P, 2] and texts [P, E], and the texts of all states [S, E] and objects [O, E]."""

    index: Tensor
    pairs: Tensor
    states: Tensor
    objects: Tensor
    world: str  # closed or open


@dataclass(frozen=True)
class Views:
    """The views of images by the paths: an embedding [images, E] for each path, and the tokens that texts attend to.

    ``precompute`` adds the probabilities of states [images, S] and objects [images, O]; for a world in one block also
    the logits [images, P] of each way to score a pair as a whole, so that cross-attention is computed once. Totals are
    the logarithms [images] of the sums over all pairs of a world, of each of these ways.
    """

    pair: Tensor
    state: Tensor
    object: Tensor
    tokens: tuple[Any, ...]
    states: Tensor | None = None
    objects: Tensor | None = None
    totals: tuple[Tensor, ...] = ()
    wholes: tuple[Tensor, ...] = ()


class PathPrompts(nn.Module):
    """Three learned contexts, of pairs, states and objects, before learned vectors of states and objects that they
    share.

    They begin as the token embeddings of the template and of the names.
    """

    def __init__(
        self, backbone: Backbone, states: list[str], objects: list[str], template: str, dropout: float
    ) -> None:
        super().__init__()
        self.prompt = SlottedPrompt(backbone, template)
        self.contexts = nn.ParameterDict({path: self.prompt.context.clone() for path in PATHS})
        self.primitives = nn.Parameter(mean_token_embeddings(backbone, [*states, *objects]))
        self.dropout = nn.Dropout(dropout)
        self._states = len(states)

    def words(self) -> tuple[Tensor, Tensor]:
        """Return the vectors of states [S, D] and objects [O, D]; all prompts share one dropout mask."""
        primitives = self.dropout(self.primitives)
        return primitives[: self._states], primitives[self._states :]

    def encode(self, backbone: Backbone, path: str, *words: Tensor) -> Tensor:
        """Return text embeddings [texts, E], not normalised, of a path's prompts with these words [texts, D]."""
        return self.prompt.encode(backbone, self.contexts[path], *words)


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
        self.of_state, self.of_object = self._disentangler(), self._disentangler()

    def _disentangler(self) -> Disentangler:
        settings = self.settings
        return Disentangler(
            self.backbone.width,
            settings.disentangler_layers,
            settings.disentangler_dropout,
            end=settings.disentangler_end,
            start=settings.disentangler_start,
        )

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

    def encode_world(self, blocks: Sequence[Tensor], world: str) -> list[TextBlock]:
        """Return the texts of each block of pairs [pairs, 2], and of all states and objects."""
        states, objects = self.prompts.words()
        alone = self._encode("state", states), self._encode("object", objects)
        return [
            TextBlock(index, self._encode("pair", states[index[:, 0]], objects[index[:, 1]]), *alone, world)
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

    def loss(self, inputs: Tensor, targets: Tensor, pairs: Tensor) -> Tensor:
        """Return the weighted cross-entropies of the three paths (MSCI, Eqs. 13 to 16), over the pairs of training."""
        images, (block,) = self.encode_images(inputs), self.encode_world([pairs], "closed")
        labels = {"pair": targets, "state": pairs[targets, 0], "object": pairs[targets, 1]}
        texts = {"pair": block.pairs, "state": block.states, "object": block.objects}
        losses = [cross_entropy(self.logits(path, images, texts[path]), labels[path]) for path in PATHS]
        return sum((weight * loss for weight, loss in zip(self.loss_weights, losses, strict=True)), torch.zeros(()))

    def wholes(self, images: Views, block: TextBlock) -> tuple[Tensor, ...]:
        """Return logits [images, P] of each way to score a pair as a whole: here by its text alone."""
        return (self.logits("pair", images, block.pairs),)

    def precompute(self, images: Views, world: list[TextBlock]) -> Views:
        """Return images with the probabilities of states and objects (MSCI, Eqs. 11 and 12)."""
        states = self.logits("state", images, world[0].states).softmax(dim=-1)
        objects = self.logits("object", images, world[0].objects).softmax(dim=-1)
        images = replace(images, states=states, objects=objects)
        return replace(images, wholes=self.wholes(images, world[0])) if len(world) == 1 else images

    def needs_totals(self, scoring: PathScoring) -> bool:
        """Return whether a score needs the pair's probability."""
        return scoring.fusion == "probabilities"

    def with_totals(self, images: Views, world: list[TextBlock]) -> Views:
        """Return images with the totals that divide the probabilities of pairs (MSCI, Eq. 10)."""
        of_blocks = ([logits.logsumexp(dim=-1) for logits in self._wholes(images, block)] for block in world)
        totals = (torch.stack(sums).logsumexp(dim=0) for sums in zip(*of_blocks, strict=True))
        return replace(images, totals=tuple(totals))

    def _wholes(self, images: Views, block: TextBlock) -> tuple[Tensor, ...]:
        return images.wholes or self.wholes(images, block)

    def parts(self, images: Views, block: TextBlock) -> Parts:
        """Return the parts of the scores of precomputed images and a block's pairs."""
        assert images.states is not None and images.objects is not None
        apart = images.states[:, block.index[:, 0]] * images.objects[:, block.index[:, 1]]
        return Parts(block.world, apart, self._wholes(images, block), images.totals)

    def fuse(self, parts: Parts, scoring: PathScoring) -> Tensor:
        """Return scores [images, P]: the weighted sum of a pair's probability, or logit, and of p(state) p(object).

        With probabilities and the weights beta and 1 - beta this is MSCI's Eq. 17; the released code (MSCI at 04cea14,
        Troika at 1f3c546) takes logits.
        """
        *shares, apart = _weights(scoring, parts.world)
        wholes = parts.wholes
        if scoring.fusion == "probabilities":
            wholes = tuple((logits - total[:, None]).exp() for logits, total in zip(wholes, parts.totals, strict=True))
        score = apart * parts.apart
        for share, whole in zip(shares, wholes, strict=True):
            score = score + share * whole
        return score

    def score(self, images: Views, block: TextBlock) -> Tensor:
        """Return scores [images, P] of precomputed images by the method's own scoring settings."""
        return self.fuse(self.parts(images, block), self.scoring)


def _weights(scoring: PathScoring, world: str) -> Sequence[float]:
    """Return the weights of a score's parts in a world; validation, in the closed world alone, has one set."""
    if isinstance(scoring, PairSelection):
        return scoring.weights
    return {"closed": scoring.closed, "open": scoring.open}[world]


class CSO(ThreePath):
    """Three paths without attention of texts to images."""

    settings_class = CsoSettings
