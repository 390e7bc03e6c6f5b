"""MSCI: texts cross-attend to local and to global features of the image, stage by stage (Wang et al., 2025).

The paper's equations in their order; papers/msci/notes.md has more departures of the released code. ``paths`` has the
prompts and the records of embeddings and texts, ``attention`` the cross-attention.

| equation | here | released code, ltpwy/MSCI at 04cea14 |
|---|---|---|
| 1, 2 | ``MSCI.layers`` | blocks' outputs first go through CLIP's projection |
| 3, 4 | ``Aggregator`` | a single layer is not aggregated |
| 5, 6 | ``MSCI.attend`` | several heads, with normalised tokens; one for all paths |
| 7, 8 | ``MSCI.attend`` | the softmax of Eq. 7 is of t1, not of t |
| 9 | ``MSCI.attend`` | two vectors for all pairs and paths |
| 10 | ``MSCI.logits``, ``MSCI.log_totals`` | |
| 11, 12 | ``MSCI.compare`` | |
| 13 to 16 | ``MSCI.loss`` | over the pairs of training |
| 17 | ``MSCI.score`` | the pair's logit in place of its probability |
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.czsl.methods.attention import Interaction, Projected
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
from recompose.tracks.czsl.methods.settings import MsciSettings


class Aggregator(nn.Module):
    """An aggregator of the tokens of several layers (Eqs. 1 to 4): concatenation, a linear map, layer normalisation,
    ReLU, dropout.
    """

    def __init__(self, layers: int, width: int, dropout: float) -> None:
        super().__init__()
        self.map = nn.Sequential(nn.Linear(layers * width, width), nn.LayerNorm(width), nn.ReLU(), nn.Dropout(dropout))

    def forward(self, layers: list[Tensor]) -> Tensor:
        """Return features [images, tokens, E] of tokens [images, tokens, E] of each layer."""
        return self.map(torch.cat(layers, dim=-1))


class MSCI(PairMethod):
    """Three paths whose texts interact first with low, then with high features; the paths share all of it.

    The fusion of scores is no setting of the model: ``set_scoring`` sets it, for validation and for an evaluation.
    """

    sees = "pixels"
    settings_class = MsciSettings
    settings: MsciSettings

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: MsciSettings) -> None:
        super().__init__(backbone)
        self.settings, self.loss_weights = settings, settings.loss_weights
        aggregated, dropout, width = settings.aggregated, settings.interaction_dropout, backbone.width
        if aggregated > backbone.depth:
            raise ArgumentError("aggregated", f"is {aggregated}, and the image tower has {backbone.depth} blocks")
        soft = settings.prompts == "soft"
        of_words = settings.attribute_dropout if soft else 0.0
        self.prompts = PathPrompts(backbone, states, objects, settings.prompt, of_words).requires_grad_(soft)
        self.adapters = image_tuning(
            settings.image_tower, backbone, bottleneck=settings.adapter_bottleneck, dropout=settings.adapter_dropout
        )
        self.of_state, self.of_object = (disentangler_of(settings, width) for _ in range(2))
        self.of_pair = disentangler_of(settings, width) if settings.pair_head else nn.Identity()
        used = {"both": ("low", "high"), "low": ("low",), "high": ("high",)}[settings.stages]
        learned = used if settings.aggregation == "learned" else ()
        self.aggregators = nn.ModuleDict({name: Aggregator(aggregated, width, dropout) for name in learned})
        self.norms = nn.ModuleDict({name: nn.LayerNorm(width) for name in used})
        self.interactions = nn.ModuleDict({name: Interaction(width, settings.heads, dropout) for name in used})
        counted = [name for name in used if name == used[-1] or settings.fusion_of_stages == "dynamic"]
        self.shares = nn.ParameterDict({name: torch.full((width,), settings.share) for name in counted})

    def layers(self) -> list[list[int]]:
        """Return the first and the last blocks of the image tower (Eqs. 1 and 2), for the chosen stages."""
        depth, count = self.backbone.depth, self.settings.aggregated
        first, last = list(range(count)), list(range(depth - count, depth))
        if self.settings.aggregation == "ends":
            first, last = first[:1], last[-1:]
        return [{"low": first, "high": last}[name] for name in self.norms]

    def encode_images(self, inputs: Tensor) -> Views:
        """Return each path's embedding of images as bytes [images, 3, height, width], and low and high features,
        projected for the interactions once for all paths, which share these.
        """
        groups = self.layers()
        layers = sorted({*(layer for group in groups for layer in group), self.backbone.depth - 1})
        with self.adapters.attach(self.backbone.image_blocks):
            tokens = self.backbone.joint_tokens(self.backbone.from_bytes(inputs), layers)
        by_layer = dict(zip(layers, tokens, strict=True))
        embedding = by_layer[layers[-1]][:, 0]
        state, of_object = self.of_state(embedding), self.of_object(embedding)
        features = [
            norm(self._aggregate(name, [by_layer[layer] for layer in group]))
            for (name, norm), group in zip(self.norms.items(), groups, strict=True)
        ]
        interactions: Iterable[Any] = self.interactions.values()
        projected: list[Projected] = [each.project(of) for each, of in zip(interactions, features, strict=True)]
        return Views(self.of_pair(embedding), state, of_object, tuple(projected))

    def _aggregate(self, name: str, layers: list[Tensor]) -> Tensor:
        """Return low or high features [images, tokens, E] (Eqs. 3 and 4), or the mean of the layers."""
        if self.settings.aggregation == "learned":
            return self.aggregators[name](layers)
        return torch.stack(layers).mean(dim=0)

    def encode_texts(self, blocks: Sequence[Tensor]) -> list[TextBlock]:
        """Return the texts of each block of pairs [pairs, 2], and of all states and objects."""
        states, objects = self.prompts.words()
        alone = [self.prompts.encode(self.backbone, *each) for each in (("state", states), ("object", objects))]
        return [
            TextBlock(
                pairs, self.prompts.encode(self.backbone, "pair", states[pairs[:, 0]], objects[pairs[:, 1]]), *alone
            )
            for pairs in blocks
        ]

    def attend(self, texts: Tensor, projected: tuple[Any, ...]) -> Tensor:
        """Return t + lambda 1 * t 1 + lambda 2 * t 2 [images, P, E] (Eqs. 5 to 9), for texts t [P, E] of unit length.

        The second stage continues from the first.
        """
        stage = final = texts
        interactions: Iterable[tuple[str, Any]] = self.interactions.items()
        for (name, interaction), features in zip(interactions, projected, strict=True):
            stage = stage + interaction.attention(stage, features)  # Eq. 5, then Eq. 7
            stage = stage + interaction.feed_forward(stage)  # Eq. 6, then Eq. 8
            if name in self.shares:
                final = final + self.shares[name] * stage  # Eq. 9
        return final

    def logits(self, path: str, images: Views, texts: Tensor) -> Tensor:
        """Return logits [images, texts] of a path, in blocks of texts [texts, E] of any length.

        Texts get unit length before they attend to images, not only after it: lambda was chosen for queries and
        additions of that size.
        """
        view = getattr(images, path)
        return apply_blockwise(
            lambda block: cosine_logits(self.backbone.logit_scale, view, self.attend(block, images.tokens)),
            normalize(texts.float(), dim=-1),
            size=max(1, TEXT_IMAGE_PAIRS // len(view)),
            dim=1,
        )

    def compare(self, images: Views, texts: list[TextBlock]) -> Iterator[Parts]:
        """Yield the parts of each block: the probabilities of states and objects (Eqs. 11 and 12), and the logits of
        pairs.
        """
        states = self.logits("state", images, texts[0].states).softmax(dim=-1)
        objects = self.logits("object", images, texts[0].objects).softmax(dim=-1)
        for block in texts:
            yield Parts(block.index, (self.logits("pair", images, block.pairs),), states, objects)

    def needs_totals(self, scoring: PathScoring) -> bool:
        """Return whether a score needs the pair's probability."""
        return scoring.fusion == "probabilities"

    def log_totals(self, compared: Iterable[Parts]) -> tuple[Tensor, ...]:
        """Return the logarithm [images] of the total that divides the probabilities of pairs (Eq. 10)."""
        of_blocks = [parts.wholes[0].logsumexp(dim=-1) for parts in compared]
        return (torch.stack(of_blocks).logsumexp(dim=0),)

    def loss(self, inputs: Tensor, targets: Tensor, pairs: Tensor) -> Tensor:
        """Return the weighted cross-entropies of the three paths (Eqs. 13 to 16), over the pairs of training."""
        images, (block,) = self.encode_images(inputs), self.encode_texts([pairs])
        labels = {"pair": targets, "state": pairs[targets, 0], "object": pairs[targets, 1]}
        texts = {"pair": block.pairs, "state": block.states, "object": block.objects}
        losses = [cross_entropy(self.logits(path, images, texts[path]), labels[path]) for path in PATHS]
        return sum((weight * loss for weight, loss in zip(self.loss_weights, losses, strict=True)), torch.zeros(()))

    def score(self, parts: Parts, scoring: PathScoring, world: str, log_totals: tuple[Tensor, ...] = ()) -> Tensor:
        """Return scores [images, P]: beta p(pair) + (1 - beta) p(state) p(object) (Eq. 17), with the weights of the
        settings, and the pair's probability or, as released, its logit.
        """
        of_pair, apart = weights_of(scoring, world)
        whole = parts.wholes[0]
        if self.needs_totals(scoring):
            whole = (whole - log_totals[0][:, None]).exp()
        return apart * parts.apart + of_pair * whole
