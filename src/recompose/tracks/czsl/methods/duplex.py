"""Duplex: semantic prototypes as anchors, visual prototypes refined on graphs of mini-batches (Peng et al., 2025).

It is built from its paper alone; papers/duplex/notes.md names the interpretations of what that leaves open.

| equation | here |
|---|---|
| 1, 2, 6, 7 | ``paths.PathPrompts`` |
| 3, 5 | ``ThreePath.encode_images`` |
| 4 | ``ThreePath.wholes``, ``ThreePath.log_totals`` |
| 8, 9 | ``ThreePath.compare`` |
| 10 | ``Codebook`` |
| 11 | ``Duplex.compose`` |
| 12, 13 | ``candidates`` |
| 14 to 16 | ``aggregate`` |
| 17, 18 | ``Codebook.blend``, ``Duplex.refine`` (Algorithm 1) |
| 19 | ``Duplex.prototype_logits`` |
| 20 | ``Duplex.loss`` |
| 21 | ``ThreePath.score``, of ``Duplex.wholes`` |
| 22, 23 | ``metrics.best.Evaluator``, ``seen_unseen.harmonic_means`` |

The graph of a mini-batch is sparse by construction. Messages to the prototype of (m, n) come from three kinds of nodes.
Those of the first two kinds are the same for all prototypes of a state, or an object: they are computed once for each
state and object of the batch and then distributed. So the cost is that of the candidates and of the couples of images
that compose one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize, one_hot

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.base import TrainingPrior, cosine_logits
from recompose.tracks.czsl.methods.paths import TextBlock, Views
from recompose.tracks.czsl.methods.settings import DuplexSettings, Edges, UnseenStart
from recompose.tracks.czsl.methods.three_path import ThreePath
from recompose.training.gathering import gather_batch

# from the positions [K] of images that give the state and [K] that give the object to counterfactual features [K, E]
# (Eq. 11)
Compose = Callable[[Tensor, Tensor], Tensor]
NAMES = ("state", "object")  # the paths of a pair's names


@dataclass(frozen=True)
class PrototypeBlock(TextBlock):
    """A block of a world with the visual prototypes [P, E] of its pairs."""

    prototypes: Tensor


class Codebook(nn.Module):
    """Prototypes [S, O, E] of unit length, updated in training and stored in checkpoints: a buffer, or a parameter that
    the optimiser changes, too.
    """

    prototypes: Tensor

    def __init__(self, states: int, objects: int, width: int, *, trained: bool = False) -> None:
        super().__init__()
        prototypes = normalize(torch.randn(states, objects, width), dim=-1)
        if trained:
            self.prototypes = nn.Parameter(prototypes)
        else:
            self.register_buffer("prototypes", prototypes)

    @torch.no_grad()
    def begin_at_means(self, embeddings: Tensor, labels: Tensor, unseen: UnseenStart = "sum") -> None:
        """Set the prototypes of seen pairs to the means of their embeddings [images, E]; labels [images, 2].

        A pair without images gets a prediction from the means of its state and its object; if neither has images, it
        stays.

        Args:
            unseen: ``sum``, the sum of the state's and the object's mean, both of unit length; ``centred``, the sum of
                these means less the grand mean, which both contain; ``least-squares``, the prediction of an additive
                model state + object, of the least norm, fitted to the means of seen pairs.
        """
        counts = self.prototypes.shape[:2]
        embeddings = normalize(embeddings.float(), dim=-1)
        pairs = labels[:, 0] * counts[1] + labels[:, 1]
        of_pair = normalize(_sums(embeddings, pairs, counts.numel()), dim=-1).view(self.prototypes.shape)
        has_images = (torch.bincount(pairs, minlength=counts.numel()) > 0).view(counts)
        if unseen == "sum":
            of_state, of_object = _directions(embeddings, labels, counts)
        elif unseen == "centred":
            of_state, of_object = _deviations(embeddings, labels, counts)
        else:
            of_state, of_object = _least_squares(of_pair, has_images)
        means = torch.where(has_images[:, :, None], of_pair, of_state[:, None] + of_object[None])
        is_predicted = (has_images.any(dim=1)[:, None] | has_images.any(dim=0)[None])[:, :, None]
        self.prototypes.copy_(torch.where(is_predicted, normalize(means, dim=-1), self.prototypes))

    def lookup(self, pairs: Tensor) -> Tensor:
        """Return the prototypes [pairs, E] of pairs [pairs, 2]."""
        return self.prototypes[pairs[:, 0], pairs[:, 1]]

    def blend(self, pairs: Tensor, refined: Tensor, momentum: float) -> Tensor:
        """Return prototypes [pairs, E] of these pairs, of unit length, moved towards refined ones (Eqs. 17 and 18)."""
        return normalize(momentum * self.lookup(pairs) + (1 - momentum) * refined, dim=-1)

    @torch.no_grad()
    def write(self, pairs: Tensor, prototypes: Tensor) -> None:
        """Store prototypes [pairs, E] of these pairs; the others stay."""
        self.prototypes[pairs[:, 0], pairs[:, 1]] = prototypes.to(self.prototypes.dtype)


def _directions(embeddings: Tensor, labels: Tensor, counts: torch.Size) -> tuple[Tensor, Tensor]:
    """Return the means of states [S, E] and of objects [O, E] at unit length; zero for names without images."""
    states, objects = (
        normalize(_sums(embeddings, names, count), dim=-1) for names, count in zip(labels.T, counts, strict=True)
    )
    return states, objects


def _deviations(embeddings: Tensor, labels: Tensor, counts: torch.Size) -> tuple[Tensor, Tensor]:
    """Return the deviations of the means of states [S, E] and objects [O, E] from the grand mean, which is added to the
    states' part; names without images have zero deviations.
    """
    grand = embeddings.mean(dim=0)
    parts = []
    for names, count in zip(labels.T, counts, strict=True):
        images = torch.bincount(names, minlength=count)[:, None]
        deviations = _sums(embeddings, names, count) / images.clamp(min=1) - grand
        parts.append(torch.where(images > 0, deviations, torch.zeros_like(deviations)))
    return parts[0] + grand, parts[1]


def _least_squares(of_pair: Tensor, has_images: Tensor) -> tuple[Tensor, Tensor]:
    """Return the parts of states [S, E] and of objects [O, E] whose sums are nearest to the means of seen pairs
    [S, O, E].
    """
    states, objects = has_images.nonzero(as_tuple=True)
    state_count, object_count = has_images.shape
    design = torch.cat([one_hot(states, state_count), one_hot(objects, object_count)], dim=1).double()
    parts = (torch.linalg.pinv(design) @ of_pair[has_images].double()).float()
    return parts[:state_count], parts[state_count:]


def _sums(rows: Tensor, groups: Tensor, count: int) -> Tensor:
    """Return the sum [count, E] of the rows [rows, E] of each group; groups are [rows]."""
    return torch.zeros(count, rows.shape[1], device=rows.device).index_add(0, groups, rows)


@dataclass(frozen=True)
class Factors:
    """The states, or the objects, of a batch: labels [B], features [B, E] of unit length, and posteriors [B, names],
    both in 32 bits.
    """

    labels: Tensor
    features: Tensor
    posteriors: Tensor

    @property
    def own_posterior(self) -> Tensor:
        """The posterior [B] of each image's own label."""
        return self.posteriors.gather(1, self.labels[:, None]).squeeze(1)


def candidates(states: Tensor, objects: Tensor, allowed: Tensor) -> Tensor:
    """Return the pairs [C, 2] of states and objects of a batch that are among the target pairs (Eqs. 12 and 13).

    Labels are [B] each, the target pairs [S, O].
    """
    rows, columns = states.unique(), objects.unique()
    row, column = allowed[rows][:, columns].nonzero(as_tuple=True)
    return torch.stack([rows[row], columns[column]], dim=1)


def aggregate(pairs: Tensor, states: Factors, objects: Factors, compose: Compose, edges: Edges) -> Tensor:
    """Return refined prototypes [C, E] of the candidates: the degree-normalised sum of their messages (Eqs. 14 to 16).

    Args:
        pairs: [C, 2], from ``candidates``.
        states, objects: the batch's factors.
        compose: the features of couples of images.
        edges: ``posteriors`` as Eq. 15 prints it, every image sends its state to the prototypes of every candidate
            state, weighted by its posterior; ``labels``, only to those of its own state.
    """
    first, second, place = _couples(pairs, states.labels, objects.labels)
    composed = compose(first, second).float()
    with torch.autocast(pairs.device.type, enabled=False):  # sums over thousands of couples lose precision in 16 bits
        message, degree = _distribute(pairs[:, 0], states, edges)
        of_objects, by_objects = _distribute(pairs[:, 1], objects, edges)
        weight = states.own_posterior[first] * objects.own_posterior[second]
        message = (message + of_objects).index_add(0, place, weight[:, None] * composed)
        degree = (degree + by_objects).index_add(0, place, weight)
        return message / degree.clamp_min(torch.finfo(degree.dtype).tiny)[:, None]


def compose_alone(pairs: Tensor, states: Factors, objects: Factors, compose: Compose) -> Tensor:
    """Return the candidates [C, E] without a graph: the mean of the features that couples of images compose for each
    candidate (Eq. 11), with equal weights.

    Args:
        pairs: [C, 2], from ``candidates``.
        states, objects: the batch's factors; posteriors are not used.
        compose: the features of couples of images.
    """
    first, second, place = _couples(pairs, states.labels, objects.labels)
    composed = compose(first, second).float()
    sums = composed.new_zeros(len(pairs), composed.shape[1]).index_add(0, place, composed)
    return sums / torch.bincount(place, minlength=len(pairs))[:, None]


def _distribute(names: Tensor, factors: Factors, edges: Edges) -> tuple[Tensor, Tensor]:
    """Return the messages [C, E] that candidates get through their state, or object, and their weight [C]: equal parts
    of the batch's messages to that name.
    """
    present, place, shares = names.unique(return_inverse=True, return_counts=True)
    weights = factors.posteriors[:, present]
    if edges == "labels":
        weights = weights * one_hot(factors.labels, factors.posteriors.shape[1])[:, present]
    weights = weights / shares
    return (weights.T @ factors.features)[place], weights.sum(dim=0)[place]


def _couples(pairs: Tensor, states: Tensor, objects: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the positions [K] of images that give a state, [K] that give an object, and [K] of the candidate that they
    compose.
    """
    table = torch.full((int(states.max()) + 1, int(objects.max()) + 1), -1, device=pairs.device)
    table[pairs[:, 0], pairs[:, 1]] = torch.arange(len(pairs), device=pairs.device)
    made = table[states[:, None], objects[None, :]]
    first, second = (made >= 0).nonzero(as_tuple=True)
    return first, second, made[first, second]


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

    def encode_texts(self, blocks: Sequence[Tensor]) -> list[TextBlock]:
        """Return the texts of the plain three paths, with each pair's prototype."""
        encoded = super().encode_texts(blocks)
        return [PrototypeBlock(**vars(block), prototypes=self.codebook.lookup(block.index)) for block in encoded]

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

    def wholes(self, images: Views, block: TextBlock) -> tuple[Tensor, ...]:
        """Return logits [images, P] by text (Eq. 4) and by prototype (Eq. 19)."""
        assert isinstance(block, PrototypeBlock)
        return *super().wholes(images, block), self.prototype_logits(images, block.prototypes)

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
        (block,) = super().encode_texts([pairs])
        return {"semantic": normalize(block.pairs, dim=-1), "visual": normalize(self.codebook.lookup(pairs), dim=-1)}


def _identity(width: int) -> nn.Linear:
    layer = nn.Linear(width, width, bias=False)
    nn.init.eye_(layer.weight)
    return layer
