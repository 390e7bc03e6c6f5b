"""Duplex: semantic prototypes as anchors, visual prototypes refined on graphs of mini-batches (Peng et al., 2025),
from its paper alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from recompose.backbones.clip import Backbone
from recompose.nn.gathering import gather_batch
from recompose.tracks.czsl.methods.duplex.codebook import Codebook
from recompose.tracks.czsl.methods.duplex.local_graph import Compose, Factors, aggregate, candidates, compose_alone
from recompose.tracks.czsl.methods.duplex.settings import DuplexSettings
from recompose.tracks.czsl.methods.parts.pair_method import TrainingPrior, cosine_logits
from recompose.tracks.czsl.methods.parts.three_path import TextBlock, ThreePath, Views

NAMES = ("state", "object")  # the paths of a pair's names


@dataclass(frozen=True)
class PrototypeBlock(TextBlock):
    """A block of a world with the visual prototypes [P, E] of its pairs."""

    prototypes: Tensor


class Duplex(ThreePath):
    """Three paths, and a codebook of visual prototypes that score pairs.

    The paper leaves much open; papers/duplex/notes.md names the default interpretation and the reasons.

    A score's weights are those of p(c t), p(c h) and p(s) p(o) (Eq. 21).
    """

    settings_class = DuplexSettings
    settings: DuplexSettings
    target: Tensor
    place: Tensor

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: DuplexSettings) -> None:
        super().__init__(backbone, states, objects, settings)
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

    def encode_world(self, blocks: Sequence[Tensor], world: str) -> list[TextBlock]:
        """Return the texts of the plain three paths, with each pair's prototype."""
        encoded = super().encode_world(blocks, world)
        return [PrototypeBlock(**vars(block), prototypes=self.codebook.lookup(block.index)) for block in encoded]

    def wholes(self, images: Views, block: TextBlock) -> tuple[Tensor, ...]:
        """Return logits [images, P] by text (Eq. 4) and by prototype (Eq. 19)."""
        assert isinstance(block, PrototypeBlock)
        return *super().wholes(images, block), self.prototype_logits(images, block.prototypes)

    def prototype_logits(self, images: Views, prototypes: Tensor) -> Tensor:
        """Return logits [images, P] by cosines with prototypes [P, E]."""
        return cosine_logits(self.backbone.logit_scale, images.pair, prototypes)

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
        (block,) = super().encode_world([pairs], "closed")
        return {"semantic": normalize(block.pairs, dim=-1), "visual": normalize(self.codebook.lookup(pairs), dim=-1)}

    def loss(self, inputs: Tensor, targets: Tensor, pairs: Tensor) -> Tensor:
        """Return the weighted losses of Eq. 20.

        In training the codebook is refined before images are compared with it, and keeps the refinement.
        """
        images, labels = self.encode_images(inputs), pairs[targets]
        by_text, by_state, by_object, prototype_logits = self.loss_weights
        words = self.prompts.words()
        names = [self._encode(path, vectors) for path, vectors in zip(NAMES, words, strict=True)]
        losses = [
            weight * cross_entropy(self.logits(path, images, texts), label)
            for weight, path, texts, label in zip((by_state, by_object), NAMES, names, labels.T, strict=True)
        ]
        place = self.place[labels[:, 0], labels[:, 1]]
        if by_text:
            competing, right = (pairs, targets) if self.settings.text_target == "seen" else (self.target, place)
            texts = self._encode("pair", *(vectors[index] for vectors, index in zip(words, competing.T, strict=True)))
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
        names = [self._encode(path, words) for path, words in zip(NAMES, self.prompts.words(), strict=True)]
        _, written = self.refine(images, labels, *self._posteriors(images, names))
        self.train()
        assert written is not None
        return written

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
            aggregated = aggregate(pairs, *factors, self._couples(*factors), settings.edges)
        else:
            aggregated = compose_alone(pairs, *factors, self._couples(*factors))
        if not settings.differentiable:
            aggregated = aggregated.detach()
        blended = self.codebook.blend(pairs, aggregated, settings.momentum)
        refined = prototypes.index_put((self.place[pairs[:, 0], pairs[:, 1]],), blended)
        return refined, (pairs, blended.detach())

    def _couples(self, states: Factors, objects: Factors) -> Compose:
        """Return phi of Eq. 11 for couples of images; each image's features are projected once."""
        of_state, of_object = self.from_state(states.features), self.from_object(objects.features)
        return lambda first, second: normalize((of_state[first] + of_object[second]).relu().float(), dim=-1)


def _identity(width: int) -> nn.Linear:
    layer = nn.Linear(width, width, bias=False)
    nn.init.eye_(layer.weight)
    return layer
