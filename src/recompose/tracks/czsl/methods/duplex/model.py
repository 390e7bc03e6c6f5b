"""Duplex: semantic prototypes as anchors, visual prototypes refined on graphs of mini-batches (Peng et al., 2025).

It is built from its paper alone; papers/duplex/notes.md names the interpretations of what that leaves open. ``paths``
has the prompts and the records of embeddings and texts, ``prototypes`` the codebook and its graphs.

| equation | here |
|---|---|
| 1, 2, 6, 7 | ``Duplex.encode_texts`` |
| 3, 5 | ``Duplex.encode_images`` |
| 4 | ``Duplex.compare``, ``Duplex.log_totals`` |
| 8, 9 | ``Duplex.compare`` |
| 10 | ``Codebook`` |
| 11 | ``Duplex.compose`` |
| 12, 13 | ``candidates`` |
| 14 to 16 | ``aggregate`` |
| 17, 18 | ``Codebook.blend``, ``Duplex.refine`` (Algorithm 1) |
| 19 | ``Duplex.prototype_logits`` |
| 20 | ``Duplex.loss`` |
| 21 | ``Duplex.score`` |
| 22, 23 | ``metrics.best.Evaluator``, ``seen_unseen.harmonic_means`` |
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.base import PairMethod, TrainingPrior, cosine_logits
from recompose.tracks.czsl.methods.duplex.prototypes import (
    Codebook,
    Compose,
    Factors,
    aggregate,
    candidates,
    compose_alone,
)
from recompose.tracks.czsl.methods.image_tower import image_tuning
from recompose.tracks.czsl.methods.paths import (
    Parts,
    PathPrompts,
    PathScoring,
    TextBlock,
    Views,
    disentangler_of,
    weights_of,
)
from recompose.tracks.czsl.methods.settings import DuplexSettings
from recompose.training.gathering import gather_batch

NAMES = ("state", "object")  # the paths of a pair's names


@dataclass(frozen=True)
class PrototypeBlock(TextBlock):
    """A block of a world with the visual prototypes [P, E] of its pairs."""

    prototypes: Tensor


class Duplex(PairMethod):
    """Three paths, and a codebook of visual prototypes that score pairs.

    The paper leaves much open; papers/duplex/notes.md names the default interpretation and the reasons.

    The fusion of scores is no setting of the model: ``set_scoring`` sets it, for validation and for an evaluation.
    """

    sees = "pixels"
    settings_class = DuplexSettings
    settings: DuplexSettings
    target: Tensor
    place: Tensor

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: DuplexSettings) -> None:
        super().__init__(backbone)
        self.settings, self.loss_weights = settings, settings.loss_weights
        soft = settings.prompts == "soft"
        of_words = settings.attribute_dropout if soft else 0.0
        self.prompts = PathPrompts(backbone, states, objects, settings.prompt, of_words).requires_grad_(soft)
        self.adapters = image_tuning(
            settings.image_tower, backbone, bottleneck=settings.adapter_bottleneck, dropout=settings.adapter_dropout
        )
        self.of_state, self.of_object = (disentangler_of(settings, backbone.width) for _ in range(2))
        self.codebook = Codebook(len(states), len(objects), backbone.width, trained=settings.codebook == "trained")
        # M s and M o of Eq. 11, which begin as its additive prior
        self.from_state, self.from_object = (_identity(backbone.width) for _ in range(2))
        everything = torch.cartesian_prod(torch.arange(len(states)), torch.arange(len(objects)))
        self._aim_at(everything)

    def _aim_at(self, pairs: Tensor) -> None:
        """Set the target pairs [T, 2]; ``place`` [S, O] is a pair's position among them, -1 outside."""
        place = torch.full(self.codebook.prototypes.shape[:2], -1)
        place[pairs[:, 0], pairs[:, 1]] = torch.arange(len(pairs))
        self.register_buffer("target", pairs, persistent=False)
        self.register_buffer("place", place, persistent=False)

    def prepare(self, prior: TrainingPrior) -> None:
        """Set the closed world's pairs as the target and the codebook's initial means, if the settings ask for them."""
        if self.settings.target == "closed":
            self._aim_at(prior.pairs)
        if self.settings.initial == "means":
            self.codebook.begin_at_means(prior.embeddings, prior.labels, self.settings.unseen_start)

    def encode_texts(self, blocks: Sequence[Tensor]) -> list[TextBlock]:
        """Return the texts of each block of pairs [pairs, 2], and of all states and objects, of unit length (Eqs. 1, 2,
        6 and 7), with each pair's prototype.
        """
        words = self.prompts.words()
        states, objects = self._encode_names(words)
        return [
            PrototypeBlock(pairs, self._encode_pairs(words, pairs), states, objects, self.codebook.lookup(pairs))
            for pairs in blocks
        ]

    def _encode_names(self, words: Iterable[Tensor]) -> list[Tensor]:
        """Return the texts of states [S, E] and of objects [O, E], of unit length."""
        return [self._encode(path, vectors) for path, vectors in zip(NAMES, words, strict=True)]

    def _encode_pairs(self, words: Iterable[Tensor], pairs: Tensor) -> Tensor:
        """Return the texts of pairs [pairs, E], of unit length; words are the vectors of states and of objects."""
        return self._encode("pair", *(vectors[names] for vectors, names in zip(words, pairs.T, strict=True)))

    def _encode(self, path: str, *words: Tensor) -> Tensor:
        """Return texts [texts, E] of a path, of unit length and in 32 bits, with these words [texts, D]."""
        return normalize(self.prompts.encode(self.backbone, path, *words).float(), dim=-1)

    def encode_images(self, inputs: Tensor) -> Views:
        """Return each path's embedding of images as bytes [images, 3, height, width] (Eqs. 3 and 5)."""
        with self.adapters.attach(self.backbone.image_blocks):
            embedding = self.backbone.encode_image(self.backbone.from_bytes(inputs))
        return Views(embedding, self.of_state(embedding), self.of_object(embedding), tokens=())

    def logits(self, path: str, images: Views, texts: Tensor) -> Tensor:
        """Return logits [images, texts] of a path by cosines with texts [texts, E]."""
        return cosine_logits(self.backbone.logit_scale, getattr(images, path), texts)

    def compare(self, images: Views, texts: list[TextBlock]) -> Iterator[Parts]:
        """Yield the parts of each block: the probabilities of states and objects (Eqs. 8 and 9), and the logits of
        pairs by text (Eq. 4) and by prototype (Eq. 19).
        """
        states = self.logits("state", images, texts[0].states).softmax(dim=-1)
        objects = self.logits("object", images, texts[0].objects).softmax(dim=-1)
        for block in texts:
            assert isinstance(block, PrototypeBlock)
            by_text = self.logits("pair", images, block.pairs)
            wholes = by_text, self.prototype_logits(images, block.prototypes)
            yield Parts(block.index, wholes, states, objects)

    def compose(self, states: Factors, objects: Factors) -> Compose:
        """Return phi for couples of images (Eq. 11); each image's features are projected once."""
        of_state, of_object = self.from_state(states.features), self.from_object(objects.features)
        return lambda first, second: normalize((of_state[first] + of_object[second]).relu().float(), dim=-1)

    def refine(
        self, images: Views, labels: Tensor, of_states: Tensor, of_objects: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
        """Return the prototypes [T, E] of the target after a batch refined its candidates (Algorithm 1), and those to
        write back, from the whole batch, of which each device has a part.

        Args:
            images: the views of this device's part.
            labels: [B, 2], its states and objects.
            of_states, of_objects: its posteriors [B, S] and [B, O].

        Returns:
            The prototypes, and the candidates [C, 2] with theirs [C, E]; None if nothing is refined.
        """
        prototypes, settings = self.codebook.lookup(self.target), self.settings
        if settings.momentum == 1 or settings.refinement == "none":
            return prototypes, None
        states, objects = gather_batch(labels).T
        pairs = candidates(states, objects, self.place >= 0)
        factors = (
            Factors(states, gather_batch(normalize(images.state.float(), dim=-1)), gather_batch(of_states)),
            Factors(objects, gather_batch(normalize(images.object.float(), dim=-1)), gather_batch(of_objects)),
        )
        if settings.refinement == "graph":
            aggregated = aggregate(pairs, *factors, self.compose(*factors), settings.edges)
        else:
            aggregated = compose_alone(pairs, *factors, self.compose(*factors))
        if not settings.differentiable:
            aggregated = aggregated.detach()
        blended = self.codebook.blend(pairs, aggregated, settings.momentum)
        refined = prototypes.index_put((self.place[pairs[:, 0], pairs[:, 1]],), blended)
        return refined, (pairs, blended.detach())

    def prototype_logits(self, images: Views, prototypes: Tensor) -> Tensor:
        """Return logits [images, P] by cosines with prototypes [P, E]."""
        return cosine_logits(self.backbone.logit_scale, images.pair, prototypes)

    def loss(self, inputs: Tensor, targets: Tensor, pairs: Tensor) -> Tensor:
        """Return the weighted losses of Eq. 20.

        In training the codebook is refined before images are compared with it, and keeps the refinement.
        """
        images, labels = self.encode_images(inputs), pairs[targets]
        by_text, by_state, by_object, prototype_logits = self.loss_weights
        words = self.prompts.words()
        names = self._encode_names(words)
        losses = [
            weight * cross_entropy(self.logits(path, images, texts), label)
            for weight, path, texts, label in zip((by_state, by_object), NAMES, names, labels.T, strict=True)
        ]
        place = self.place[labels[:, 0], labels[:, 1]]
        if by_text:
            competing, right = (pairs, targets) if self.settings.text_target == "seen" else (self.target, place)
            texts = self._encode_pairs(words, competing)
            losses.append(by_text * cross_entropy(self.logits("pair", images, texts), right))
        if prototype_logits:
            prototypes, written = self.refine(images, labels, *self._posteriors(images, names))
            if self.training and written is not None:
                if self.settings.writes_from == "evaluation":
                    written = self._refine_as_in_evaluation(inputs, labels)
                self.codebook.write(*written)
            losses.append(prototype_logits * cross_entropy(self.prototype_logits(images, prototypes), place))
        return torch.stack(losses).sum()

    def _posteriors(self, images: Views, names: Sequence[Tensor]) -> Iterator[Tensor]:
        """Return the posteriors of states [B, S] and of objects [B, O], without gradients to the texts, which are the
        graph's anchors.
        """
        for path, texts in zip(NAMES, names, strict=True):
            yield self.logits(path, images, texts.detach()).softmax(dim=-1)

    @torch.no_grad()
    def _refine_as_in_evaluation(self, inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Return candidates [C, 2] and their prototypes [C, E] from features of a batch without dropout and with
        running statistics.
        """
        self.eval()
        images = self.encode_images(inputs)
        _, written = self.refine(images, labels, *self._posteriors(images, self._encode_names(self.prompts.words())))
        self.train()
        assert written is not None
        return written

    def needs_totals(self, scoring: PathScoring) -> bool:
        """Return whether a score needs probabilities of pairs."""
        return scoring.fusion == "probabilities"

    def log_totals(self, compared: Iterable[Parts]) -> tuple[Tensor, ...]:
        """Return the logarithms [images] of the totals that divide the probabilities of pairs (Eqs. 4 and 19)."""
        of_blocks = ([logits.logsumexp(dim=-1) for logits in parts.wholes] for parts in compared)
        return tuple(torch.stack(sums).logsumexp(dim=0) for sums in zip(*of_blocks, strict=True))

    def score(self, parts: Parts, scoring: PathScoring, world: str, log_totals: tuple[Tensor, ...] = ()) -> Tensor:
        """Return scores [images, P]: the weighted sum of p(c t), p(c h) and p(s) p(o) (Eq. 21), or of logits in place
        of the first two.
        """
        by_text, by_prototype, apart = weights_of(scoring, world)
        wholes = parts.wholes
        if self.needs_totals(scoring):
            wholes = tuple((logits - total[:, None]).exp() for logits, total in zip(wholes, log_totals, strict=True))
        return apart * parts.apart + by_text * wholes[0] + by_prototype * wholes[1]

    def image_embeddings(self, inputs: Tensor) -> dict[str, Tensor]:
        """Return z c, and the vectors of states and objects for composed features (Eq. 11)."""
        images = self.encode_images(inputs)
        return {
            "images": normalize(images.pair, dim=-1),
            "from_states": self.from_state(normalize(images.state, dim=-1)),
            "from_objects": self.from_object(normalize(images.object, dim=-1)),
        }

    def pair_embeddings(self, pairs: Tensor) -> dict[str, Tensor]:
        """Return semantic and visual prototypes."""
        semantic = self._encode_pairs(self.prompts.words(), pairs)
        return {"semantic": semantic, "visual": normalize(self.codebook.lookup(pairs), dim=-1)}


def _identity(width: int) -> nn.Linear:
    layer = nn.Linear(width, width, bias=False)
    nn.init.eye_(layer.weight)
    return layer
