"""Evidential losses, uncertainty, conflict and fusion against plain loops, integrals and finite differences."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.special import digamma, gammaln
from scipy.stats import beta

from recompose.errors import ArgumentError
from recompose.tracks.gzsl.evidential import (
    annealed_loss,
    conflict,
    dirichlet_kl,
    evidential_loss,
    expected_cross_entropy,
    fuse,
    kl_to_uniform,
    uncertainty,
)
from tests.errors import raises
from tests.tracks.gzsl.gradients import Rows, assert_value_and_gradients

IMAGES, CLASSES = 3, 4
TARGETS = [2, 0, 3]
targets_of_three = torch.tensor(TARGETS)


def evidences(seed: int, views: int = 1) -> list[np.ndarray]:
    """Evidence [images, classes] of each view, little and much of it."""
    generator = np.random.default_rng(seed)
    return [generator.gamma(0.8, 3, size=(IMAGES, CLASSES)) + 1e-3 for _ in range(views)]


def views_of_evidence(count: int = 2) -> st.SearchStrategy[list[np.ndarray]]:
    """Evidence [2 images, 3 classes] of views, none of it included."""
    some = st.floats(0, 1000, allow_subnormal=False)
    return st.lists(arrays(np.float64, (2, 3), elements=some), min_size=count, max_size=count)


# what the equations say, in loops over lists of rows


def cross_entropy_by_loop(alpha: list[float], target: int) -> float:
    return sum((float(j == target)) * (digamma(sum(alpha)) - digamma(alpha[j])) for j in range(len(alpha)))


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


def loss_by_loop(
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
    return lambda *rows: sum(function(*row, target) for *row, target in zip(*rows, TARGETS, strict=True))


# losses


@pytest.mark.parametrize("seed", range(3))
def test_the_expected_cross_entropy_and_its_gradient_are_the_loop_s(seed: int) -> None:
    (evidence,) = evidences(seed)
    assert_value_and_gradients(
        lambda alpha: expected_cross_entropy(alpha, targets_of_three).sum(),
        summed(cross_entropy_by_loop),
        [evidence + 1],
    )


@pytest.mark.parametrize(("epoch", "annealing"), [(0, 50), (7, 50), (50, 50), (400, 50), (3, 10)])
def test_the_annealed_loss_and_its_gradient_are_the_loop_s(epoch: int, annealing: int) -> None:
    (evidence,) = evidences(epoch)
    assert_value_and_gradients(
        lambda alpha: annealed_loss(alpha, targets_of_three, epoch, annealing).sum(),
        summed(lambda row, target: annealed_by_loop(row, target, epoch, annealing)),
        [evidence + 1],
    )


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize(("gamma", "epoch"), [(1.0, 1), (0.3, 80)])
def test_the_loss_of_two_views_and_its_gradients_are_the_loop_s(average: bool, gamma: float, epoch: int) -> None:
    assert_value_and_gradients(
        lambda a, b: evidential_loss(a, b, targets_of_three, epoch, gamma=gamma, average=average).sum(),
        summed(lambda a, b, target: loss_by_loop([a, b], target, epoch, gamma, 50, average)),
        evidences(epoch, views=2),
    )


def test_losses_have_a_value_for_each_image() -> None:
    (first, second), epoch = (torch.tensor(one) for one in evidences(0, views=2)), 20
    rows = list(zip(first.tolist(), second.tolist(), TARGETS, strict=True))
    assert evidential_loss(first, second, targets_of_three, epoch).tolist() == pytest.approx(
        [loss_by_loop([a, b], target, epoch, 1.0, 50, True) for a, b, target in rows]
    )
    assert kl_to_uniform(first + 1, targets_of_three).shape == (IMAGES,)


@pytest.mark.parametrize("alpha", [(1.0, 1.0), (2.5, 1.0), (1.3, 7.0), (0.6, 0.9)])
def test_of_two_classes_both_terms_are_the_integrals_that_they_stand_for(alpha: tuple[float, float]) -> None:
    density = beta(*alpha).pdf
    entropy = quad(lambda p: -math.log(p) * density(p), 0, 1)[0]
    divergence = quad(lambda p: density(p) * math.log(density(p)), 0, 1)[0]  # the uniform density is 1
    matrix = torch.tensor([alpha], dtype=torch.float64)
    assert expected_cross_entropy(matrix, torch.tensor([0])).item() == pytest.approx(entropy, rel=1e-6)
    assert dirichlet_kl(matrix).item() == pytest.approx(divergence, rel=1e-6, abs=1e-8)


def test_the_divergence_is_that_of_torch_s_distributions() -> None:
    alpha = torch.tensor(evidences(5)[0] + 1)
    one, uniform = (torch.distributions.Dirichlet(a) for a in (alpha, torch.ones_like(alpha)))
    torch.testing.assert_close(dirichlet_kl(alpha), torch.distributions.kl_divergence(one, uniform))


def test_the_divergence_as_printed_cannot_be_trained() -> None:
    """alpha~ = y + (1 - y) e has the pole where misleading evidence is none, and its gradient asks for some."""

    def as_printed(misleading: float) -> tuple[float, float]:
        evidence = torch.tensor([[5.0, misleading, misleading]], dtype=torch.float64, requires_grad=True)
        true = torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64)
        alpha = true + (1 - true) * evidence
        strength = alpha.sum(dim=1, keepdim=True)
        normaliser = strength[:, 0].lgamma() - math.lgamma(3) - alpha.lgamma().sum(dim=1)
        value = normaliser + ((alpha - 1) * (alpha.digamma() - strength.digamma())).sum(dim=1)
        (gradient,) = torch.autograd.grad(value.sum(), evidence)
        return value.item(), gradient[0, 1].item()

    values, gradients = zip(*(as_printed(misleading) for misleading in (1e-1, 1e-3, 1e-6, 0.0)), strict=True)
    assert 0 < values[0] < values[1] < values[2] and values[2] > 1e5 and not math.isfinite(values[3])
    assert 0 > gradients[0] > gradients[1] > gradients[2]  # descent adds evidence for wrong classes
    without = torch.tensor([[6.0, 1.0, 1.0]], dtype=torch.float64, requires_grad=True)
    value = kl_to_uniform(without, torch.tensor([0]))
    value.sum().backward()
    assert value.item() == pytest.approx(0, abs=1e-12) and without.grad is not None and (without.grad >= 0).all()
    with raises(ArgumentError, place="alpha"):
        dirichlet_kl(torch.tensor([[1.0, 0.0, 0.0]]))


# opinions


@given(views_of_evidence())
def test_fusing_is_averaging_and_is_what_beliefs_say(views: list[np.ndarray]) -> None:
    first, second = map(torch.tensor, views)
    expected = [fused_by_beliefs(a, b) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    np.testing.assert_allclose(fuse(first, second).numpy(), expected, rtol=1e-9, atol=1e-9)
    assert torch.equal(fuse(first, second), fuse(second, first))
    assert torch.equal(fuse(first, first), first)


@given(views_of_evidence(1), st.integers(0, 2), st.floats(0.01, 100))
def test_uncertainty_falls_with_evidence_of_any_class(views: list[np.ndarray], which: int, more: float) -> None:
    evidence = torch.tensor(views[0])
    expected = [opinion(row)[1] for row in evidence.tolist()]
    assert uncertainty(evidence).tolist() == pytest.approx(expected)
    richer = evidence.clone()
    richer[:, which] += more
    assert (uncertainty(richer) < uncertainty(evidence)).all()
    assert (uncertainty(evidence) > 0).all() and (uncertainty(evidence) <= 1).all()


@given(views_of_evidence())
def test_conflict_is_the_loop_s_symmetric_and_a_fraction(views: list[np.ndarray]) -> None:
    first, second = map(torch.tensor, views)
    expected = [conflict_by_loop(a, b) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    assert conflict(first, second).tolist() == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert torch.equal(conflict(first, second), conflict(second, first))
    assert (conflict(first, second) >= 0).all() and (conflict(first, second) < 1).all()
    assert (conflict(first, first) == 0).all()


def test_the_gradients_of_conflict_and_fusion_are_those_of_finite_differences() -> None:
    weights = torch.tensor(evidences(9)[0])
    first, second = evidences(3, views=2)
    apart = np.abs((first + 1) / (first + 1).sum(1)[:, None] - (second + 1) / (second + 1).sum(1)[:, None])
    assert apart.min() > 1e-4  # a difference of probabilities has no derivative at 0
    assert_value_and_gradients(
        lambda a, b: conflict(a, b).sum(), summed(lambda a, b, _: conflict_by_loop(a, b)), [first, second]
    )

    def weighted(a: Rows, b: Rows) -> float:
        rows = [fused_by_beliefs(*pair) for pair in zip(a, b, strict=True)]
        return float((np.array(rows) * weights.numpy()).sum())

    assert_value_and_gradients(lambda a, b: (fuse(a, b) * weights).sum(), weighted, [first, second])


# widths of numbers, and bad input


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_single(dtype: torch.dtype) -> None:
    evidence = torch.rand(8, 200, generator=torch.Generator().manual_seed(0)).to(dtype)
    targets = torch.arange(8)
    given_loss = evidential_loss(evidence, evidence.flip(1), targets, epoch=80)
    wide = evidential_loss(evidence.double(), evidence.flip(1).double(), targets, epoch=80)
    assert given_loss.dtype == torch.float32
    torch.testing.assert_close(given_loss.double(), wide, rtol=1e-3, atol=1e-3)
    assert fuse(evidence, evidence).dtype == torch.float32


ALPHA = torch.ones(2, 3)
WRONG: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: expected_cross_entropy(ALPHA, torch.tensor([0])), "wrong-shape", "targets"),
    (lambda: expected_cross_entropy(ALPHA, torch.tensor([0, 3])), "unknown-class", "targets"),
    (lambda: kl_to_uniform(ALPHA, torch.tensor([-1, 0])), "unknown-class", "targets"),
    (lambda: kl_to_uniform(ALPHA, torch.tensor([0.0, 1.0])), "wrong-type", "targets"),
    (lambda: annealed_loss(ALPHA[0], torch.tensor([0]), 1), "wrong-shape", "alpha"),
    (lambda: annealed_loss(ALPHA - 1, torch.tensor([0, 0]), 1), "argument", "alpha"),
    (lambda: annealed_loss(ALPHA, torch.tensor([0, 0]), -1), "argument", "epoch"),
    (lambda: annealed_loss(ALPHA, torch.tensor([0, 0]), 1, annealing=0), "argument", "annealing"),
    (lambda: uncertainty(-ALPHA), "argument", "evidence"),
    (lambda: uncertainty(torch.empty(2, 0)), "wrong-shape", "evidence"),
    (lambda: conflict(ALPHA, ALPHA[:1]), "wrong-shape", "evidence"),
    (lambda: fuse(ALPHA, ALPHA[:, :2]), "wrong-shape", "evidence"),
    (lambda: evidential_loss(ALPHA, ALPHA, torch.tensor([0, 5]), 1), "unknown-class", "targets"),
    (lambda: evidential_loss(ALPHA, -ALPHA, torch.tensor([0, 1]), 1), "argument", "evidence"),
]


@pytest.mark.parametrize(("call", "code", "argument"), WRONG)
def test_bad_input_is_named(call: Callable[[], Any], code: str, argument: str) -> None:
    with raises(ArgumentError, code, place=argument):
        call()
