"""CREST: grounding in both directions, each a view with evidence, and their fusion.

The paper's equations in their order, and the released code that details follow which the paper leaves open:

| equation | here | released code |
|---|---|---|
| 1, 2 | ``grounding.Attention`` and ``grounding.Decoder``, of both transformers | TransZero++ at c045f73 |
| 3, 4 | ``visual_contrast`` | DUET at 1166027 |
| 5 | ``PatternMemory.forward`` | MegaCRN at 5158190 |
| 6, 7 | ``nearest_patterns``, ``triplet``, ``compactness`` | MegaCRN at 5158190 |
| above 8 | ``fuse`` | RCML at c9c5ab4 |
| 8 to 10 | ``uncertainty``, ``conflict`` | RCML at c9c5ab4 |
| 11 to 15 | ``expected_cross_entropy``, ``kl_to_uniform``, ``annealed_loss``, ``evidential_loss`` | RCML at c9c5ab4 |
| 16 | ``calibrated.cross_entropy``, ``calibrated.self_calibration`` | TransZero at 7c10cdb |
| 17 | ``CREST.loss`` | |
| 18 | ``CREST.predict``; the bias is the evaluation's | TransZero at 7c10cdb |

Evidence e >= 0 [images, classes] gives a Dirichlet distribution: parameters alpha = e + 1, strength S = sum alpha,
a probability p = alpha / S for each class, and an opinion of beliefs b = e / S and uncertainty u = K / S, which
together are 1, with K classes. It is computed in single precision at least, since differences of digamma and lgamma at
S, which is as large as K, have no digits left in half precision.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss, normalize, softplus, triplet_margin_loss

from recompose.tracks.gzsl.methods.base import ClassSpace, Prediction
from recompose.tracks.gzsl.methods.calibrated import self_calibration, unit_regions
from recompose.tracks.gzsl.methods.grounding import AttributeGrounding, GroundedMethod, VisualGrounding
from recompose.tracks.gzsl.methods.settings import CrestSettings, Memory, PatternDistance


def visual_contrast(features: Tensor, targets: Tensor, temperature: float = 0.05, threshold: float = 0.0) -> Tensor:
    """Return the contrast of images in a batch, VICL (CREST, Eqs. 3 and 4): -log of the share of an image's positive
    among the exponentials of cosine similarities over temperature, of its positive and of its negatives.

    The positive is the most similar other image of the same class if its similarity reaches the threshold (an image of
    the class resembles it), else the most similar other image of any class. Negatives are the images of other classes,
    without the positive. An image without negatives, or alone, adds nothing. The choice among equal similarities is
    undefined.

    CREST leaves the temperature, the threshold and the pooling open. The temperature is that of DUET (1166027), whose
    term otherwise differs: its positive is a second image of the class, sampled at random, and other images of the
    class stay in the sum with a similarity of 0.

    Args:
        features: [images, width], one vector for each, of any length.
        targets: [images], their classes.
        temperature: tau.
        threshold: delta, the cosine similarity from which images resemble each other.

    Example:
        >>> features = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> visual_contrast(features[:2], torch.tensor([0, 0])).abs()
        tensor(0.)
        >>> visual_contrast(features, torch.tensor([0, 0, 1]), temperature=1.0)
        tensor(0.4399)
    """
    directions = normalize(features, dim=1)
    similarities = directions @ directions.T
    same = targets[:, None] == targets[None]
    itself = torch.eye(len(targets), dtype=torch.bool, device=targets.device)
    other_images = similarities.detach().masked_fill(itself, -torch.inf)
    resemblance, kin = other_images.masked_fill(~same, -torch.inf).max(dim=1)
    resembles = (resemblance >= threshold) & resemblance.isfinite()
    positive = torch.where(resembles, kin, other_images.argmax(dim=1))[:, None]
    logits = similarities / temperature
    compared = (~same).scatter(1, positive, torch.ones_like(positive, dtype=torch.bool))
    return (logits.masked_fill(~compared, -torch.inf).logsumexp(dim=1) - logits.gather(1, positive)[:, 0]).mean()


class Recalled(NamedTuple):
    """The memory's addition to features, and the queries."""

    values: Tensor  # [B, R, h], or [B, 1, h] for queries of images
    queries: Tensor  # [B, R, d], or [B, 1, d]


class PatternMemory(nn.Module):
    """A bank of patterns, to which queries from features attend with a softmax.

    Args:
        hidden: width of features.
        settings: the number and width of patterns, the queries, and the losses.
    """

    def __init__(self, hidden: int, settings: Memory) -> None:
        super().__init__()
        width = settings.width
        self.patterns = nn.Parameter(nn.init.xavier_normal_(torch.empty(settings.patterns, width)))
        self.ask, self.answer = nn.Linear(hidden, width), nn.Linear(width, hidden, bias=False)
        for layer in (self.ask, self.answer):
            nn.init.xavier_normal_(layer.weight)
        nn.init.zeros_(self.ask.bias)
        self.settings = settings
        self.weights = {"separation": settings.separation_weight, "compactness": settings.compactness_weight}

    def forward(self, features: Tensor) -> Recalled:
        """Return the recalled values for features [B, R, h] (Eq. 5)."""
        queries = self.ask(features if self.settings.queries == "regions" else features.mean(dim=1, keepdim=True))
        attended = (queries @ self.patterns.T).softmax(dim=-1) @ self.patterns
        return Recalled(self.answer(attended), queries)

    def losses(self, recalled: Recalled) -> dict[str, Tensor]:
        """Return ``separation`` (Eq. 6) and ``compactness`` (Eq. 7), without their weights."""
        patterns = self.patterns if self.settings.trained else self.patterns.detach()
        nearest, second = nearest_patterns(recalled.queries, patterns)
        margin, distance = self.settings.margin, self.settings.distance
        return {
            "separation": triplet(recalled.queries, nearest, second, margin, distance),
            "compactness": compactness(recalled.queries, nearest, distance),
        }


def nearest_patterns(queries: Tensor, patterns: Tensor) -> tuple[Tensor, Tensor]:
    """Return the most and the second most similar pattern of each query, by the dot product of the memory's attention
    (CREST, Eq. 5; released with MegaCRN at 5158190): p and n of Eqs. 6 and 7.

    The losses of MegaCRN train only queries: ``triplet`` and ``compactness`` get these patterns detached.

    Args:
        queries: [..., width].
        patterns: [patterns, width], the memory.

    Returns:
        Two tensors of the shape of the queries.

    Example:
        >>> positive, negative = nearest_patterns(torch.tensor([[2.0, 1.0]]), torch.eye(2))
        >>> positive.tolist(), negative.tolist()
        ([[1.0, 0.0]], [[0.0, 1.0]])
    """
    best = (queries @ patterns.T).topk(2, dim=-1).indices
    return patterns[best[..., 0]], patterns[best[..., 1]]


def triplet(
    queries: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, distance: PatternDistance = "released"
) -> Tensor:
    """Return the hinge of the distances of queries to their pattern and to the second one (CREST, Eq. 6): max(D(q, p) -
    D(q, n) + margin, 0).

    Args:
        queries: [..., width].
        positive: as many, their most similar patterns.
        negative: as many, the second most similar ones.
        margin: lambda; 1.0 as released with MegaCRN.
        distance: ``released``, the mean over queries with D the distance (MegaCRN at 5158190, whose 1e-6 on each
            component is kept); ``mean``, the mean with D its square; ``sum``, the sum of that, as printed, which
            grows with the number of regions times images.

    Example:
        >>> query, near, far = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.5]]), torch.tensor([[1.0, 1.0]])
        >>> triplet(query, near, far), triplet(query, near, far, distance="sum")
        (tensor(0.5000), tensor(0.2500))
    """
    if distance == "released":
        return triplet_margin_loss(queries, positive, negative, margin=margin)
    nearer = (queries - positive).square().sum(dim=-1) - (queries - negative).square().sum(dim=-1)
    losses = (nearer + margin).relu()
    return losses.mean() if distance == "mean" else losses.sum()


def compactness(queries: Tensor, positive: Tensor, distance: PatternDistance = "released") -> Tensor:
    """Return the squared distance of queries to their pattern (CREST, Eq. 7).

    Args:
        queries: [..., width].
        positive: as many, their most similar patterns.
        distance: ``released``, the mean over queries and components (MegaCRN at 5158190), which is the next one over
            the width; ``mean``, the mean over queries; ``sum``, the sum, as printed.

    Example:
        >>> query, near = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.5]])
        >>> compactness(query, near), compactness(query, near, distance="mean")
        (tensor(0.1250), tensor(0.2500))
    """
    if distance == "released":
        return mse_loss(queries, positive)
    squares = (queries - positive).square().sum(dim=-1)
    return squares.mean() if distance == "mean" else squares.sum()


def fuse(evidence_a: Tensor, evidence_b: Tensor) -> Tensor:
    """Return the combined evidence [images, classes] of two views: its opinion has the beliefs (b^A u^B + b^B u^A) /
    (u^A + u^B) and the uncertainty 2 u^A u^B / (u^A + u^B) (above Eq. 8).

    With b = e / S and u = K / S these are (e^A + e^B) / (S^A + S^B) and 2 K / (S^A + S^B), with the mean of both
    strengths K / u and of both evidences, which is how it is computed. A view with more evidence has more weight.

    Args:
        evidence_a: [images, classes], not negative.
        evidence_b: as many.

    Example:
        >>> fuse(torch.tensor([[6.0, 0.0]]), torch.tensor([[0.0, 2.0]]))
        tensor([[3., 1.]])
    """
    return (_widen(evidence_a) + _widen(evidence_b)) / 2


def uncertainty(evidence: Tensor) -> Tensor:
    """Return the uncertainty u = K / S [images], from above 0 to 1, of evidence [images, classes].

    Example:
        >>> uncertainty(torch.tensor([[0.0, 0.0], [5.0, 1.0]]))
        tensor([1.0000, 0.2500])
    """
    evidence = _widen(evidence)
    classes = evidence.shape[1]
    return classes / (evidence.sum(dim=1) + classes)


def conflict(evidence_a: Tensor, evidence_b: Tensor) -> Tensor:
    """Return the conflict [images] of two views, from 0 to 1 (Eqs. 8 to 10): half the sum of the differences of their
    probabilities, times the certainty that both have, (1 - u^A)(1 - u^B).

    Args:
        evidence_a: [images, classes], not negative.
        evidence_b: as many.

    Example:
        >>> conflict(torch.tensor([[6.0, 0.0]]), torch.tensor([[0.0, 6.0]]))
        tensor([0.4219])
    """
    first, second = _widen(evidence_a) + 1, _widen(evidence_b) + 1
    probabilities = first / first.sum(dim=1, keepdim=True), second / second.sum(dim=1, keepdim=True)
    distance = (probabilities[0] - probabilities[1]).abs().sum(dim=1) / 2
    certainty = (1 - uncertainty(evidence_a)) * (1 - uncertainty(evidence_b))
    return distance * certainty


def expected_cross_entropy(alpha: Tensor, targets: Tensor) -> Tensor:
    """Return the cross-entropy [images] that is expected under a Dirichlet distribution (Eq. 11): psi(S) - psi(alpha)
    of the true class.

    Args:
        alpha: [images, classes], above 0.
        targets: [images], indices of classes.

    Example:
        >>> expected_cross_entropy(torch.tensor([[1.0, 1.0], [3.0, 1.0]]), torch.tensor([0, 0]))
        tensor([1.0000, 0.3333])
    """
    alpha = _widen(alpha)
    true = alpha.gather(1, targets[:, None])[:, 0]
    return alpha.sum(dim=1).digamma() - true.digamma()


def dirichlet_kl(alpha: Tensor) -> Tensor:
    """Return the Kullback-Leibler divergence [images] of a Dirichlet distribution from the uniform one.

    Args:
        alpha: [images, classes], above 0; as one of them goes to 0 it grows without bound.

    Example:
        >>> dirichlet_kl(torch.tensor([[1.0, 1.0], [2.0, 1.0]]))
        tensor([0.0000, 0.1931])
    """
    alpha = _widen(alpha)
    strength = alpha.sum(dim=1, keepdim=True)
    uniform = torch.lgamma(alpha.new_tensor(alpha.shape[1]))
    normaliser = strength[:, 0].lgamma() - alpha.lgamma().sum(dim=1) - uniform
    return normaliser + ((alpha - 1) * (alpha.digamma() - strength.digamma())).sum(dim=1)


def kl_to_uniform(alpha: Tensor, targets: Tensor) -> Tensor:
    """Return the misleading evidence (Eq. 12): the divergence [images] of D(alpha~) from the uniform distribution,
    where alpha~ is alpha without the evidence of the true class, y + (1 - y) alpha.

    This is the form of RCML and of Sensoy et al. (2018). CREST prints y + (1 - y) e, which does not work: for a class
    with little evidence, as is desirable, alpha~ is near 0, where the divergence has a pole, and its gradient demands
    misleading evidence.

    Args:
        alpha: [images, classes], above 0.
        targets: [images], indices of classes.

    Example:
        >>> kl_to_uniform(torch.tensor([[9.0, 1.0], [1.0, 2.0]]), torch.tensor([0, 0]))
        tensor([0.0000, 0.1931])
    """
    return dirichlet_kl(_widen(alpha).scatter(1, targets[:, None], 1.0))


def annealed_loss(alpha: Tensor, targets: Tensor, epoch: int, annealing: int = 50) -> Tensor:
    """Return the loss [images] of one Dirichlet distribution (Eq. 13): the expected cross-entropy, plus the divergence
    with a weight that grows to 1 over the first epochs, min(1, epoch / annealing).

    Args:
        alpha: [images, classes], above 0.
        targets: [images], indices of classes.
        epoch: t, from 0; RCML's first epoch is 1, which includes the divergence.
        annealing: xi, the epoch from which the weight is 1; CREST does not state it, RCML's is 50.

    Example:
        >>> annealed_loss(torch.tensor([[1.0, 2.0]]), torch.tensor([0]), epoch=25)
        tensor([1.5966])
    """
    weight = min(1.0, epoch / annealing)
    return expected_cross_entropy(alpha, targets) + weight * kl_to_uniform(alpha, targets)


def evidential_loss(
    evidence_a: Tensor,
    evidence_b: Tensor,
    targets: Tensor,
    epoch: int,
    *,
    gamma: float = 1.0,
    annealing: int = 50,
    average: bool = True,
) -> Tensor:
    """Return the loss [images] of two views (Eq. 15): the annealed losses of both and of their fusion, and gamma times
    the consistency loss of Eq. 14, which for two views is twice their conflict.

    Args:
        evidence_a: [images, classes], not negative.
        evidence_b: as many.
        targets: [images], indices of classes.
        epoch: t, from 0; see ``annealed_loss``.
        gamma: the weight of conflict.
        annealing: xi.
        average: whether the three annealed losses are averaged, as RCML's code does, or summed, as printed.

    Example:
        >>> evidence, targets = torch.tensor([[2.0, 0.0]]), torch.tensor([0])
        >>> evidential_loss(evidence, evidence, targets, epoch=1), expected_cross_entropy(evidence + 1, targets)
        (tensor([0.3333]), tensor([0.3333]))
    """
    first, second = _widen(evidence_a), _widen(evidence_b)
    losses = [
        annealed_loss(evidence + 1, targets, epoch, annealing) for evidence in (fuse(first, second), first, second)
    ]
    total = torch.stack(losses).sum(dim=0)
    return (total / len(losses) if average else total) + gamma * 2 * conflict(first, second)


def _widen(values: Tensor) -> Tensor:
    """Return values in single precision at least."""
    return values if values.dtype == torch.float64 else values.float()


class CREST(GroundedMethod):
    """A visual grounding transformer (VGT), in which attributes attend to regions, and an attribute grounding
    transformer (AGT), in which regions attend to attributes. An image's attribute scores are f = mu a^A + (1 - mu) a^V,
    or those of the only transformer.
    """

    settings_class = CrestSettings
    settings: CrestSettings

    def __init__(self, space: ClassSpace, channels: int, settings: CrestSettings) -> None:
        super().__init__(space, settings.grounding.normalise_words, settings)
        words, components = space.words.shape[1], settings.components
        self.vgt = VisualGrounding(channels, words, settings.grounding) if components.vgt else None
        remembers = components.agt and components.memory
        memory = PatternMemory(settings.grounding.hidden, settings.memory) if remembers else None
        self.agt = AttributeGrounding(channels, words, settings.grounding) if components.agt else None
        self.memory = memory
        self.weights |= memory.weights if memory else {}
        self.weights |= {"evidence": settings.evidence.weight, "contrast": settings.contrast.weight}

    def views(self, grids: Tensor) -> tuple[dict[str, Tensor], Tensor | None, Recalled | None]:
        """Return images' attribute scores [B, A] by ``vgt`` and ``agt``, VGT's features [B, A, h], and the memory's
        recall.
        """
        regions, words = unit_regions(grids), self.words()
        views, features, recalled = {}, None, None
        if self.vgt is not None:
            views["vgt"], features = self.vgt(regions, words)
        if self.agt is not None:
            embedded = self.agt.embed(regions, words)
            region_features = self.agt.features(embedded)
            if self.memory is not None:
                recalled = self.memory(region_features)
                region_features = region_features + recalled.values
            views["agt"] = self.agt.attribute_scores(embedded, region_features)
        return views, features, recalled

    def fuse_views(self, views: Mapping[str, Tensor]) -> Tensor:
        """Return the fused attribute scores f [B, A]."""
        if len(views) == 1:
            return next(iter(views.values()))
        # no torch.lerp: with mixed precision the views may differ in type
        return (1 - self.settings.agt_weight) * views["vgt"] + self.settings.agt_weight * views["agt"]

    def loss(self, grids: Tensor, targets: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return ``loss`` (Eq. 17), and its parts: ``cross_entropy`` and ``calibration`` (Eq. 16), ``evidence`` (Eq.
        15), ``contrast`` (Eqs. 3, 4), ``separation`` and ``compactness`` (Eqs. 6, 7).
        """
        components, contrast = self.settings.components, self.settings.contrast
        views, features, recalled = self.views(grids)
        parts = self.classification(self.class_scores(self.fuse_views(views)), targets)
        if components.evidence:
            parts["evidence"] = self._evidential(views, targets, epoch + 1)
        if components.contrast and features is not None:
            pooled = features.mean(dim=1)
            parts["contrast"] = visual_contrast(pooled, targets, contrast.temperature, contrast.threshold)
        if self.memory is not None and recalled is not None:
            parts |= self.memory.losses(recalled)
        return self.add_total(parts)

    def calibration(self, scores: Tensor) -> Tensor:
        """Return the loss of self-calibration in the form that is set, without its weight."""
        return self_calibration(scores, self.seen, self.settings.calibration.mask, self.settings.calibration.form)

    def _evidential(self, views: Mapping[str, Tensor], targets: Tensor, epoch: int) -> Tensor:
        """Return the mean evidential loss of images; a single view has neither fusion nor conflict."""
        settings = self.settings.evidence
        evidence = [softplus(self.class_scores(attributes)) for attributes in views.values()]
        if settings.classes == "seen":
            evidence = [view[:, self.seen] for view in evidence]
            targets = self.seen.cumsum(0)[targets] - 1
        if len(evidence) == 1:
            return annealed_loss(evidence[0] + 1, targets, epoch, settings.annealing).mean()
        return evidential_loss(
            evidence[0],
            evidence[1],
            targets,
            epoch,
            gamma=settings.conflict_weight,
            annealing=settings.annealing,
            average=settings.reduction == "mean",
        ).mean()

    def opinions(self, views: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the evidence of each view for all classes [B, classes], softplus(a . z^c), and of their fusion,
        ``fused``.
        """
        evidence = {view: softplus(self.class_scores(attributes)) for view, attributes in views.items()}
        return evidence | {"fused": fuse(*evidence.values()) if len(evidence) == 2 else next(iter(evidence.values()))}

    def predict(self, grids: Tensor) -> Prediction:
        """Return scores f . z^c (Eq. 18); the paths are those of each view, and the evidence of their fusion."""
        views, _, _ = self.views(grids)
        opinions = self.opinions(views)
        paths = {view: self.class_scores(attributes) for view, attributes in views.items()}
        return Prediction(
            self.class_scores(self.fuse_views(views)),
            paths | {"fused": opinions["fused"]},
            {view: uncertainty(evidence) for view, evidence in opinions.items()},
        )

    def embeddings(self, grids: Tensor) -> dict[str, Tensor]:
        """Return images' attribute scores [images, attributes] by ``vgt``, ``agt`` and both, ``fused``."""
        views, _, _ = self.views(grids)
        return views | {"fused": self.fuse_views(views)}
