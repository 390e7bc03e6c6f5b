"""VP-CMJL: visual proxies of states, objects and pairs, learned jointly with texts (Zhang et al., ICCV 2025;
codefish12-09/VP_CMJL at 74d7b22).

Symbols: E is the width of the joint space; P, S and O are the numbers of pairs, states and objects.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, kl_div

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.czsl.methods.attention import FeedForward
from recompose.tracks.czsl.methods.base import PairMethod, TrainingPrior, cosine_logits
from recompose.tracks.czsl.methods.disentangler import Disentangler
from recompose.tracks.czsl.methods.image_tower import image_tuning
from recompose.tracks.czsl.methods.paths import PathPrompts
from recompose.tracks.czsl.methods.prompts import prompt_words
from vp_cmjl.settings import BranchScoring, VpCmjlSettings

Branches: TypeAlias = tuple[Tensor, Tensor]  # of visual proxies and of texts


class TextAttention(nn.Module):
    """A pre-norm block in which images attend to texts: attention, then a feed-forward network, both residual."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if width % heads:
            raise ArgumentError("heads", f"is {heads}, which does not divide the width of {width}")
        self.norm, self.norm_texts = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads)
        self.feed_forward = FeedForward(width, 0.0)

    def forward(self, embeddings: Tensor, texts: Tensor) -> tuple[Tensor, Tensor]:
        """Return embeddings [images, E] after attention to texts [texts, E], and its weights [images, texts], the means
        over heads.
        """
        texts = self.norm_texts(texts)
        attended, weights = self.attention(self.norm(embeddings), texts, texts)
        embeddings = embeddings + attended
        return embeddings + self.feed_forward(embeddings), weights


@dataclass(frozen=True)
class Views:
    """Images by the tuned tower: as a whole, and the parts of state and object, each [images, E]."""

    whole: Tensor
    state: Tensor
    object: Tensor


@dataclass(frozen=True)
class WorldBlock:
    """A block of a world: its pairs [P, 2], with their proxies and texts [P, E]; the texts of all states [S, E] and
    objects [O, E].
    """

    index: Tensor
    pairs: Branches
    states: Tensor
    objects: Tensor


@dataclass(frozen=True)
class Parts:
    """The logits of both branches: of a block's pairs [images, P], and of all states and objects."""

    index: Tensor
    pairs: Branches
    states: Branches
    objects: Branches


class VpCmjl(PairMethod):
    """Two branches, each with logits of pairs, states and objects: cosines with learned proxies in the visual space,
    and with learned prompts. In the text branch images attend to the texts of states and of objects, and the weights of
    attention count as logits, too. A divergence aligns the pairs' probabilities of the branches.
    """

    settings_class = VpCmjlSettings
    sees = "pixels"

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: VpCmjlSettings) -> None:
        super().__init__(backbone)
        self.settings, width = settings, backbone.width
        self._states, self._objects = states, objects
        self.prompts = PathPrompts(backbone, states, objects, settings.prompt, settings.attribute_dropout)
        self.adapters = image_tuning(
            settings.image_tower, backbone, bottleneck=settings.adapter_bottleneck, dropout=settings.adapter_dropout
        )
        self.state_proxies = nn.Parameter(torch.zeros(len(states), width))  # until ``prepare``
        self.object_proxies = nn.Parameter(torch.zeros(len(objects), width))
        self.of_state = Disentangler(width, 1, settings.disentangler_dropout)
        self.of_object = Disentangler(width, 1, settings.disentangler_dropout)
        self.compose = nn.Linear(2 * width, width)
        self.to_states = TextAttention(width, settings.heads)
        self.to_objects = TextAttention(width, settings.heads)

    @torch.no_grad()
    def prepare(self, prior: TrainingPrior) -> None:
        """Let the proxies begin at the frozen tower's texts of the bare names."""
        for proxies, names in ((self.state_proxies, self._states), (self.object_proxies, self._objects)):
            proxies.copy_(self.backbone.encode_text(self.backbone.tokens([prompt_words(name) for name in names])))

    def encode_images(self, inputs: Tensor) -> Views:
        """Return the views of images as bytes [images, 3, height, width]."""
        with self.adapters.attach(self.backbone.image_blocks):
            whole = self.backbone.encode_image(self.backbone.from_bytes(inputs))
        return Views(whole, self.of_state(whole), self.of_object(whole))

    def encode_texts(self, blocks: Sequence[Tensor]) -> list[WorldBlock]:
        """Return the proxies and texts of each block of pairs [pairs, 2], and the texts of all states and objects."""
        states, objects = self.prompts.words()
        alone = self._encode("state", states), self._encode("object", objects)
        encoded = []
        for index in blocks:
            texts = self._encode("pair", states[index[:, 0]], objects[index[:, 1]])
            proxies = [self.state_proxies[index[:, 0]], self.object_proxies[index[:, 1]]]
            encoded.append(WorldBlock(index, (self.compose(torch.cat(proxies, dim=-1)), texts), *alone))
        return encoded

    def _encode(self, path: str, *words: Tensor) -> Tensor:
        return self.prompts.encode(self.backbone, path, *words)

    def compare(self, images: Views, texts: list[WorldBlock]) -> Iterator[Parts]:
        """Yield the logits of both branches, of images and each block's pairs, and of all states and objects."""
        states = self._attended(self.to_states, images.whole, texts[0].states)
        objects = self._attended(self.to_objects, images.whole, texts[0].objects)
        of_states = self._cosines(images.state, self.state_proxies), states
        of_objects = self._cosines(images.object, self.object_proxies), objects
        for block in texts:
            proxies, prompts = block.pairs
            pairs = self._cosines(images.whole, proxies), self._cosines(images.whole, prompts)
            yield Parts(block.index, pairs, of_states, of_objects)

    def _attended(self, attention: TextAttention, embeddings: Tensor, texts: Tensor) -> Tensor:
        """Return logits [images, texts] of images after attention to these texts: cosines plus weights of attention,
        both times CLIP's factor.
        """
        attended, weights = attention(embeddings, texts)
        return self._cosines(attended, texts) + self.backbone.logit_scale.float() * weights.float()

    def _cosines(self, images: Tensor, vectors: Tensor) -> Tensor:
        return cosine_logits(self.backbone.logit_scale, images, vectors)

    def score(
        self, parts: Parts, scoring: BranchScoring | None, world: str, log_totals: tuple[Tensor, ...] = ()
    ) -> Tensor:
        """Return scores [images, P]: the pair's mixed logit, plus the probabilities of its state and of its object by
        theirs. Without settings, as in validation, the weights are those of ``selection``.
        """
        weights = scoring.weights_in(world) if scoring else self.settings.selection
        pairs, states, objects = (_mix(branches, weights) for branches in (parts.pairs, parts.states, parts.objects))
        return pairs + states.softmax(dim=-1)[:, parts.index[:, 0]] + objects.softmax(dim=-1)[:, parts.index[:, 1]]

    def loss(self, inputs: Tensor, targets: Tensor, pairs: Tensor) -> Tensor:
        """Return the weighted cross-entropies of both branches, and the divergence of the proxies' probabilities of
        pairs from those of the texts. Its gradient reaches both branches, as released.
        """
        texts = self.encode_texts([pairs])
        (parts,) = self.compare(self.encode_images(inputs), texts)
        of_pairs, of_primitives, of_alignment = self.settings.loss_weights
        by_name = _entropies(parts.states, pairs[targets, 0]) + _entropies(parts.objects, pairs[targets, 1])
        proxies, texts = parts.pairs
        alignment = kl_div(proxies.log_softmax(dim=-1), texts.softmax(dim=-1), reduction="batchmean")
        return of_pairs * _entropies(parts.pairs, targets) + of_primitives * by_name + of_alignment * alignment


def _mix(branches: Branches, weights: Sequence[float]) -> Tensor:
    """Return the weighted sum of the logits of both branches."""
    proxies, texts = branches
    return weights[0] * proxies + weights[1] * texts


def _entropies(branches: Branches, targets: Tensor) -> Tensor:
    """Return the sum of the cross-entropies of both branches."""
    proxies, texts = branches
    return cross_entropy(proxies, targets) + cross_entropy(texts, targets)
