"""CREST: each equation and its gradients against plain loops and finite differences of them; the whole against the same
written out for single images; what its components leave; and readings of the paper that cannot work.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import digamma, gammaln
from scipy.stats import beta
from torch import Tensor
from torch.nn.functional import softplus

from recompose.errors import ArgumentError
from recompose.tracks.gzsl.methods.calibrated import cross_entropy, self_calibration
from recompose.tracks.gzsl.methods.crest import (
    annealed_loss,
    compactness,
    dirichlet_kl,
    evidential_loss,
    expected_cross_entropy,
    fuse,
    nearest_patterns,
    triplet,
    uncertainty,
    visual_contrast,
)
from recompose.tracks.gzsl.methods.settings import PatternDistance
from tests.errors import raises
from tests.precision import assert_close, default_dtype
from tests.tracks.gzsl.methods import tiny
from tests.tracks.gzsl.methods.derivations import plain_agt, plain_sum, plain_vgt, unit
from tests.tracks.gzsl.methods.tiny import CLASSES, IMAGES, SEEN, TARGETS, crest
from tests.tracks.loops import Rows, assert_value_and_gradients, cosine, dot, normal

pytestmark = pytest.mark.usefixtures("in_64_bits")

# the contrast of images


def positive_of(anchor: int, rows: Rows, targets: list[int], threshold: float) -> int | None:
    others = [image for image in range(len(rows)) if image != anchor]
    kin = [image for image in others if targets[image] == targets[anchor]]
    similarity = {image: cosine(rows[anchor], rows[image]) for image in others}
    nearest_kin = max(kin, key=lambda image: similarity[image], default=None)
    if nearest_kin is not None and similarity[nearest_kin] >= threshold:
        return nearest_kin
    return max(others, key=lambda image: similarity[image], default=None)


def contrast_by_loop(rows: Rows, targets: list[int], temperature: float, threshold: float) -> float:
    total = 0.0
    for anchor in range(len(rows)):
        positive = positive_of(anchor, rows, targets, threshold)
        if positive is None:
            continue
        near = math.exp(cosine(rows[anchor], rows[positive]) / temperature)
        far = 0.0
        for image in range(len(rows)):
            if targets[image] != targets[anchor] and image != positive:
                far += math.exp(cosine(rows[anchor], rows[image]) / temperature)
        total -= math.log(near / (near + far))
    return total / len(rows)


@settings(max_examples=30, derandomize=True)  # differences are coarse where vectors are short
@given(
    st.integers(0, 10**6), st.lists(st.integers(0, 3), min_size=1, max_size=6), st.sampled_from([-1.0, 0.0, 0.5, 2.0])
)
def test_the_contrast_and_its_gradient_are_the_loop_s(seed: int, targets: list[int], threshold: float) -> None:
    assert_value_and_gradients(
        lambda features: visual_contrast(features, torch.tensor(targets), 0.3, threshold),
        lambda rows: contrast_by_loop(rows, targets, 0.3, threshold),
        [normal(seed, len(targets), 3)],
    )


# patterns of the memory


def nearest_by_loop(query: list[float], patterns: Rows) -> list[list[float]]:
    """The patterns of the highest and of the second highest dot product."""
    return sorted(patterns, key=lambda pattern: -dot(query, pattern))[:2]


def square(a: list[float], b: list[float], each: float = 0.0) -> float:
    return sum((x - y + each) ** 2 for x, y in zip(a, b, strict=True))


def triplet_by_loop(queries: Rows, patterns: Rows, margin: float, distance: str) -> float:
    total = 0.0
    for query in queries:
        near, far = nearest_by_loop(query, patterns)
        if distance == "released":  # adds 1e-6 to each component
            total += max(math.sqrt(square(query, near, 1e-6)) - math.sqrt(square(query, far, 1e-6)) + margin, 0)
        else:
            total += max(square(query, near) - square(query, far) + margin, 0)
    return total if distance == "sum" else total / len(queries)


def compactness_by_loop(queries: Rows, patterns: Rows, distance: str) -> float:
    total = sum(square(query, nearest_by_loop(query, patterns)[0]) for query in queries)
    count = {"released": len(queries) * len(queries[0]), "mean": len(queries), "sum": 1}[distance]
    return total / count


@pytest.mark.parametrize("distance", ["released", "mean", "sum"])
def test_the_losses_of_patterns_and_their_gradients_are_the_loops(distance: PatternDistance) -> None:
    margin = 0.7
    matrices = [normal(6, 6, 3), normal(7, 4, 3)]

    def triplet_of(queries: Tensor, patterns: Tensor) -> Tensor:
        regions = queries.view(2, 3, 3)  # of two images
        return triplet(regions, *nearest_patterns(regions, patterns), margin, distance)

    def compactness_of(queries: Tensor, patterns: Tensor) -> Tensor:
        regions = queries.view(2, 3, 3)
        return compactness(regions, nearest_patterns(regions, patterns)[0], distance)

    for loss, loop in (
        (triplet_of, lambda queries, patterns: triplet_by_loop(queries, patterns, margin, distance)),
        (compactness_of, lambda queries, patterns: compactness_by_loop(queries, patterns, distance)),
    ):
        assert_value_and_gradients(loss, loop, matrices)


ROWS, COLUMNS = 3, 4
ANSWERS = [2, 0, 3]
answers = torch.tensor(ANSWERS)


def evidences(seed: int, views: int = 1) -> list[np.ndarray]:
    """Evidence [images, classes] of each view, little and much of it."""
    generator = np.random.default_rng(seed)
    return [generator.gamma(0.8, 3, size=(ROWS, COLUMNS)) + 1e-3 for _ in range(views)]


# what the equations say, in loops over lists of rows


def cross_entropy_by_loop(alpha: list[float], target: int) -> float:
    return float(digamma(sum(alpha)) - digamma(alpha[target]))


def divergence_by_loop(alpha: list[float]) -> float:
    total = gammaln(sum(alpha)) - gammaln(len(alpha))
    for one in alpha:
        total += -gammaln(one) + (one - 1) * (digamma(one) - digamma(sum(alpha)))
    return float(total)


def annealed_by_loop(alpha: list[float], target: int, epoch: int, annealing: int) -> float:
    misleading = [1.0 if j == target else one for j, one in enumerate(alpha)]
    weight = min(1.0, epoch / annealing)
    return cross_entropy_by_loop(alpha, target) + weight * divergence_by_loop(misleading)


def opinion(evidence: list[float]) -> tuple[list[float], float]:
    """Beliefs and uncertainty."""
    strength = sum(one + 1 for one in evidence)
    return [one / strength for one in evidence], len(evidence) / strength


def conflict_by_loop(first: list[float], second: list[float]) -> float:
    (b_a, u_a), (b_b, u_b) = opinion(first), opinion(second)
    count = len(first)
    distance = sum(abs((b_a[k] + u_a / count) - (b_b[k] + u_b / count)) for k in range(count)) / 2
    return distance * (1 - u_a) * (1 - u_b)


def fused_by_beliefs(first: list[float], second: list[float]) -> list[float]:
    """The evidence of the opinion that two opinions make, from its beliefs and its uncertainty."""
    (b_a, u_a), (b_b, u_b) = opinion(first), opinion(second)
    uncertain = 2 * u_a * u_b / (u_a + u_b)
    strength = len(first) / uncertain
    return [strength * (b_a[k] * u_b + b_b[k] * u_a) / (u_a + u_b) for k in range(len(first))]


def evidential_by_loop(
    views: Sequence[list[float]], target: int, epoch: int, gamma: float, annealing: int, average: bool
) -> float:
    """Eq. 15 with the double sum of Eq. 14 over ordered pairs of views."""
    first, second = views
    parts = [fused_by_beliefs(first, second), first, second]
    total = sum(annealed_by_loop([one + 1 for one in part], target, epoch, annealing) for part in parts)
    consistency = 0.0
    for p in range(len(views)):
        for q in range(len(views)):
            if q != p:
                consistency += conflict_by_loop(views[p], views[q]) / (len(views) - 1)
    return (total / (len(views) + 1) if average else total) + gamma * consistency


def summed(function: Callable[..., float]) -> Callable[..., float]:
    """A loop over images, each with its target, as the sum over images."""
    return lambda *rows: sum(function(*row, target) for *row, target in zip(*rows, ANSWERS, strict=True))


# losses


@pytest.mark.parametrize(("epoch", "annealing"), [(0, 50), (400, 50), (3, 10)])
def test_the_annealed_loss_and_its_gradient_are_the_loop_s(epoch: int, annealing: int) -> None:
    (evidence,) = evidences(epoch)
    assert_value_and_gradients(
        lambda alpha: annealed_loss(alpha, answers, epoch, annealing).sum(),
        summed(lambda row, target: annealed_by_loop(row, target, epoch, annealing)),
        [evidence + 1],
    )


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize(("gamma", "epoch"), [(1.0, 1), (0.3, 80)])
def test_the_loss_of_two_views_and_its_gradients_are_the_loop_s(average: bool, gamma: float, epoch: int) -> None:
    assert_value_and_gradients(
        lambda a, b: evidential_loss(a, b, answers, epoch, gamma=gamma, average=average).sum(),
        summed(lambda a, b, target: evidential_by_loop([a, b], target, epoch, gamma, 50, average)),
        evidences(epoch, views=2),
    )


@pytest.mark.parametrize("alpha", [(1.0, 1.0), (2.5, 1.0), (1.3, 7.0), (0.6, 0.9)])
def test_of_two_classes_both_terms_are_the_integrals_that_they_stand_for(alpha: tuple[float, float]) -> None:
    density = beta(*alpha).pdf
    entropy = quad(lambda p: -math.log(p) * density(p), 0, 1)[0]
    divergence = quad(lambda p: density(p) * math.log(density(p)), 0, 1)[0]  # the uniform density is 1
    matrix = torch.tensor([alpha], dtype=torch.float64)
    assert expected_cross_entropy(matrix, torch.tensor([0])).item() == pytest.approx(entropy)
    assert dirichlet_kl(matrix).item() == pytest.approx(divergence, abs=1e-9)


# opinions


def test_uncertainty_is_what_beliefs_leave() -> None:
    (evidence,) = evidences(0)
    expected = [opinion(row)[1] for row in evidence.tolist()]
    assert uncertainty(torch.tensor(evidence)).tolist() == pytest.approx(expected)


# widths of numbers


@default_dtype(torch.float32)
def test_half_precision_is_computed_in_single() -> None:
    evidence = torch.rand(8, 200, generator=torch.Generator().manual_seed(0)).bfloat16()
    targets = torch.arange(8)
    given_loss = evidential_loss(evidence, evidence.flip(1), targets, epoch=80)
    single = evidential_loss(evidence.float(), evidence.flip(1).float(), targets, epoch=80)
    assert given_loss.dtype == torch.float32
    assert torch.equal(given_loss, single)
    assert fuse(evidence, evidence).dtype == torch.float32


INPUTS, LABELS = tiny.grids(), torch.tensor(TARGETS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"grounding": {"region_attributes": "full"}, "memory": {"queries": "images"}, "evidence": {"classes": "seen"}},
        {"cross_entropy": "seen", "contrast": {"threshold": 1.0}, "calibration": {"mask": "signed"}},
        {"evidence": {"reduction": "sum", "conflict_weight": 5.0}, "memory": {"distance": "mean"}},
        {"grounding": {"self_attention": False, "normalise_words": True}, "calibration": {"form": "crest"}},
    ],
)
def test_crest_is_what_its_loops_are(changes: dict[str, Any]) -> None:
    method = crest(**changes)
    p, own = tiny.parameters_of(method), method.settings
    words = [unit(word) if own.grounding.normalise_words else word for word in p["words.vectors"]]
    visual = [plain_vgt(p, image, words) for image in INPUTS]
    semantic = [plain_agt(p, image, words, own.memory.queries) for image in INPUTS]
    by_vgt, by_agt = (tiny.class_scores([attributes for attributes, _ in view]) for view in (visual, semantic))
    scores = 0.3 * by_agt + 0.7 * by_vgt
    prediction = method.predict(INPUTS)
    assert_close(prediction.scores, scores)
    assert_close(prediction.paths["vgt"], by_vgt)
    assert_close(prediction.paths["agt"], by_agt)

    counted = [k for k in range(CLASSES) if own.evidence.classes == "all" or SEEN[k]]
    evidence = [softplus(view[:, counted]) for view in (by_vgt, by_agt)]
    places = torch.tensor([counted.index(target) for target in TARGETS])
    pooled = torch.stack([plain_sum(features) / len(features) for _, features in visual])
    asked = torch.stack([query for _, queries_of_image in semantic for query in queries_of_image])
    nearest, second = nearest_patterns(asked, p["memory.patterns"].detach())
    expected = {
        "cross_entropy": cross_entropy(scores, LABELS, method.seen, own.cross_entropy),
        "calibration": self_calibration(scores, method.seen, own.calibration.mask, own.calibration.form),
        "evidence": evidential_loss(
            *evidence,
            places,
            epoch=3,
            gamma=own.evidence.conflict_weight,
            annealing=10,
            average=own.evidence.reduction == "mean",
        ).mean(),
        "contrast": visual_contrast(pooled, LABELS, 0.5, own.contrast.threshold),
        "separation": triplet(asked, nearest, second, distance=own.memory.distance),
        "compactness": compactness(asked, nearest, own.memory.distance),
    }
    parts = method.loss(INPUTS, LABELS, 2)
    for name, value in expected.items():
        assert_close(parts[name], value, msg=name)
    weights = {"cross_entropy": 1, "calibration": 0.2, "evidence": 0.1, "contrast": 0.05, "separation": 0.4}
    plain_loss = sum((weights | {"compactness": 0.3})[name] * value for name, value in expected.items())
    tiny.same_gradients(method, parts["loss"], p, plain_loss)


ALL_PARTS = {"loss", "cross_entropy", "calibration", "evidence", "contrast", "separation", "compactness"}


@pytest.mark.parametrize(
    ("changes", "left_out"),
    [
        ({}, set()),
        ({"components": {"agt": False}}, {"separation", "compactness"}),
        ({"components": {"vgt": False}}, {"contrast"}),
        ({"components": {"evidence": False}}, {"evidence"}),
        ({"components": {"contrast": False}}, {"contrast"}),
        ({"components": {"memory": False}}, {"separation", "compactness"}),
        ({"calibration": {"weight": 0.0}}, {"calibration"}),
    ],
)
def test_each_ablation_of_table_2_leaves_out_its_part_alone(changes: dict[str, Any], left_out: set[str]) -> None:
    method = crest(**changes)
    parts = method.loss(INPUTS, LABELS, 0)
    assert parts.keys() == ALL_PARTS - left_out
    parts["loss"].backward()
    assert all(parameter.grad is not None for parameter in method.parameters())  # nothing stands there unused
    prediction = method.predict(INPUTS)
    views = {view for view in ("vgt", "agt") if changes.get("components", {}).get(view, True)}
    assert prediction.paths.keys() == prediction.uncertainties.keys() == views | {"fused"}
    assert prediction.scores.shape == (IMAGES, CLASSES)


def test_mu_weighs_agt_and_the_fusion_of_evidence_is_its_own_path() -> None:
    method = crest(agt_weight=0.25)
    prediction, embeddings = method.predict(INPUTS), method.embeddings(INPUTS)
    evidence = fuse(*(softplus(prediction.paths[view]) for view in ("vgt", "agt")))
    assert_close(prediction.paths["fused"], evidence)
    assert_close(prediction.uncertainties["fused"], uncertainty(evidence))
    assert_close(embeddings["fused"], 0.25 * embeddings["agt"] + 0.75 * embeddings["vgt"])


def test_an_image_of_an_unseen_class_is_refused() -> None:
    with raises(ArgumentError, "unseen-class"):
        crest().loss(INPUTS, torch.tensor([0, SEEN.index(False), 0, 5]), 0)


def test_a_grid_that_is_no_square_is_refused_where_geometry_matters() -> None:
    with raises(ArgumentError, place="regions"):
        crest().predict(INPUTS[:, :3])
    assert crest(grounding={"geometry": False}).predict(INPUTS[:, :3]).scores.shape == (IMAGES, CLASSES)


def test_dropout_differs_from_image_to_image_though_they_share_attributes() -> None:
    torch.manual_seed(0)
    method = crest(grounding={"dropout": 0.5}).train()
    same = INPUTS[:1].expand(2, -1, -1)
    assert method.vgt is not None
    first, second = method.vgt.decoder.attend_to_self(method.vgt.attributes(method.words()), 2).detach()
    assert not torch.equal(first, second)
    for view, attributes in method.views(same)[0].items():
        assert not torch.equal(attributes[0], attributes[1]), view
    for view, attributes in method.eval().views(same)[0].items():
        assert_close(attributes[0], attributes[1], msg=view)


def test_the_memorys_losses_move_no_pattern_as_released() -> None:
    for trained in (False, True):
        method = crest(memory={"trained": trained})
        assert method.agt is not None
        assert method.memory is not None
        recalled = method.views(INPUTS)[2]
        assert recalled is not None
        sum(method.memory.losses(recalled).values()).backward()  # type: ignore[union-attr]
        assert (method.memory.patterns.grad is not None) == trained
