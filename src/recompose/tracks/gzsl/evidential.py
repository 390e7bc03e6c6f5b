"""Evidential deep learning for classes: the losses of Dirichlet distributions, and the uncertainty, conflict and fusion
of two views of an image (CREST, Eqs. 8 to 15, after RCML, released at c9c5ab4).

Evidence e >= 0 [images, classes] gives a Dirichlet distribution: parameters alpha = e + 1, strength S = sum alpha,
a probability p = alpha / S for each class, and an opinion of beliefs b = e / S and uncertainty u = K / S, which
together are 1, with K classes. Everything is computed in single precision at least, since differences of digamma and
lgamma at S, which is as large as K, have no digits left in half precision.
"""

import torch
from torch import Tensor

from recompose.errors import ArgumentError
from recompose.tracks.gzsl.losses import check_targets


def expected_cross_entropy(alpha: Tensor, targets: Tensor) -> Tensor:
    """Return the cross-entropy [images] that is expected under a Dirichlet distribution (Eq. 11): psi(S) - psi(alpha)
    of the true class.

    Args:
        alpha: [images, classes], above 0.
        targets: [images], indices of classes.

    Raises:
        ArgumentError: shapes do not fit, a target is not a class, or an alpha is not above 0.

    Example:
        >>> expected_cross_entropy(torch.tensor([[1.0, 1.0], [3.0, 1.0]]), torch.tensor([0, 0]))
        tensor([1.0000, 0.3333])
    """
    alpha, targets = _check_arguments(alpha, targets)
    return _expected_cross_entropy(alpha, targets)


def dirichlet_kl(alpha: Tensor) -> Tensor:
    """Return the Kullback-Leibler divergence [images] of a Dirichlet distribution from the uniform one.

    Args:
        alpha: [images, classes], above 0; as one of them goes to 0 it grows without bound.

    Raises:
        ArgumentError: alpha is not a matrix, or not above 0.

    Example:
        >>> dirichlet_kl(torch.tensor([[1.0, 1.0], [2.0, 1.0]]))
        tensor([0.0000, 0.1931])
    """
    _check_positive(alpha)
    return _dirichlet_kl(_widen(alpha))


def kl_to_uniform(alpha: Tensor, targets: Tensor) -> Tensor:
    """Return the misleading evidence (Eq. 12): the divergence [images] of D(alpha~) from the uniform distribution,
    where alpha~ is alpha without the evidence of the true class, y + (1 - y) alpha.

    This is the form of RCML and of Sensoy et al. (2018). CREST prints y + (1 - y) e, which does not work: for a class
    with little evidence, as is desirable, alpha~ is near 0, where the divergence has a pole, and its gradient demands
    misleading evidence.

    Args:
        alpha: [images, classes], above 0.
        targets: [images], indices of classes.

    Raises:
        ArgumentError: shapes do not fit, a target is not a class, or an alpha is not above 0.

    Example:
        >>> kl_to_uniform(torch.tensor([[9.0, 1.0], [1.0, 2.0]]), torch.tensor([0, 0]))
        tensor([0.0000, 0.1931])
    """
    alpha, targets = _check_arguments(alpha, targets)
    return _kl_to_uniform(alpha, targets)


def annealed_loss(alpha: Tensor, targets: Tensor, epoch: int, annealing: int = 50) -> Tensor:
    """Return the loss [images] of one Dirichlet distribution (Eq. 13): the expected cross-entropy, plus the divergence
    with a weight that grows to 1 over the first epochs, min(1, epoch / annealing).

    Args:
        alpha: [images, classes], above 0.
        targets: [images], indices of classes.
        epoch: t, from 0; RCML's first epoch is 1, which includes the divergence.
        annealing: xi, the epoch from which the weight is 1; CREST does not state it, RCML's is 50.

    Raises:
        ArgumentError: shapes do not fit, a target is not a class, an alpha is not above 0, the epoch is negative, or
            annealing is not positive.

    Example:
        >>> annealed_loss(torch.tensor([[1.0, 2.0]]), torch.tensor([0]), epoch=25)
        tensor([1.5966])
    """
    weight = _weight(epoch, annealing)
    alpha, targets = _check_arguments(alpha, targets)
    return _annealed_loss(alpha, targets, weight)


def uncertainty(evidence: Tensor) -> Tensor:
    """Return the uncertainty u = K / S [images], from above 0 to 1, of evidence [images, classes].

    Raises:
        ArgumentError: evidence is not a matrix, or negative.

    Example:
        >>> uncertainty(torch.tensor([[0.0, 0.0], [5.0, 1.0]]))
        tensor([1.0000, 0.2500])
    """
    _check_evidence(evidence)
    return _uncertainty(_widen(evidence))


def conflict(evidence_a: Tensor, evidence_b: Tensor) -> Tensor:
    """Return the conflict [images] of two views, from 0 to 1 (Eqs. 8 to 10): half the sum of the differences of their
    probabilities, times the certainty that both have, (1 - u^A)(1 - u^B).

    Args:
        evidence_a: [images, classes], not negative.
        evidence_b: as many.

    Raises:
        ArgumentError: shapes do not fit, or evidence is negative.

    Example:
        >>> conflict(torch.tensor([[6.0, 0.0]]), torch.tensor([[0.0, 6.0]]))
        tensor([0.4219])
    """
    _check_evidence(evidence_a, evidence_b)
    return _conflict(_widen(evidence_a), _widen(evidence_b))


def fuse(evidence_a: Tensor, evidence_b: Tensor) -> Tensor:
    """Return the combined evidence [images, classes] of two views: its opinion has the beliefs (b^A u^B + b^B u^A) /
    (u^A + u^B) and the uncertainty 2 u^A u^B / (u^A + u^B) (above Eq. 8).

    With b = e / S and u = K / S these are (e^A + e^B) / (S^A + S^B) and 2 K / (S^A + S^B), with the mean of both
    strengths K / u and of both evidences, which is how it is computed. A view with more evidence has more weight.

    Args:
        evidence_a: [images, classes], not negative.
        evidence_b: as many.

    Raises:
        ArgumentError: shapes do not fit, or evidence is negative.

    Example:
        >>> fuse(torch.tensor([[6.0, 0.0]]), torch.tensor([[0.0, 2.0]]))
        tensor([[3., 1.]])
    """
    _check_evidence(evidence_a, evidence_b)
    return _fuse(_widen(evidence_a), _widen(evidence_b))


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

    Raises:
        ArgumentError: shapes do not fit, a target is not a class, evidence is negative, the epoch is negative, or
            annealing is not positive.

    Example:
        >>> evidence, targets = torch.tensor([[2.0, 0.0]]), torch.tensor([0])
        >>> evidential_loss(evidence, evidence, targets, epoch=1), expected_cross_entropy(evidence + 1, targets)
        (tensor([0.3333]), tensor([0.3333]))
    """
    weight = _weight(epoch, annealing)
    _check_evidence(evidence_a, evidence_b)
    targets = check_targets(targets, evidence_a)
    first, second = _widen(evidence_a), _widen(evidence_b)
    losses = [_annealed_loss(evidence + 1, targets, weight) for evidence in (_fuse(first, second), first, second)]
    total = torch.stack(losses).sum(dim=0)
    return (total / len(losses) if average else total) + gamma * 2 * _conflict(first, second)


def _expected_cross_entropy(alpha: Tensor, targets: Tensor) -> Tensor:
    true = alpha.gather(1, targets[:, None])[:, 0]
    return alpha.sum(dim=1).digamma() - true.digamma()


def _dirichlet_kl(alpha: Tensor) -> Tensor:
    strength = alpha.sum(dim=1, keepdim=True)
    uniform = torch.lgamma(alpha.new_tensor(alpha.shape[1]))
    normaliser = strength[:, 0].lgamma() - alpha.lgamma().sum(dim=1) - uniform
    return normaliser + ((alpha - 1) * (alpha.digamma() - strength.digamma())).sum(dim=1)


def _kl_to_uniform(alpha: Tensor, targets: Tensor) -> Tensor:
    return _dirichlet_kl(alpha.scatter(1, targets[:, None], 1.0))


def _annealed_loss(alpha: Tensor, targets: Tensor, weight: float) -> Tensor:
    return _expected_cross_entropy(alpha, targets) + weight * _kl_to_uniform(alpha, targets)


def _uncertainty(evidence: Tensor) -> Tensor:
    classes = evidence.shape[1]
    return classes / (evidence.sum(dim=1) + classes)


def _conflict(evidence_a: Tensor, evidence_b: Tensor) -> Tensor:
    first, second = evidence_a + 1, evidence_b + 1
    probabilities = first / first.sum(dim=1, keepdim=True), second / second.sum(dim=1, keepdim=True)
    distance = (probabilities[0] - probabilities[1]).abs().sum(dim=1) / 2
    certainty = (1 - _uncertainty(evidence_a)) * (1 - _uncertainty(evidence_b))
    return distance * certainty


def _fuse(evidence_a: Tensor, evidence_b: Tensor) -> Tensor:
    return (evidence_a + evidence_b) / 2


def _weight(epoch: int, annealing: int) -> float:
    """Return the weight of the divergence at an epoch."""
    if epoch < 0:
        raise ArgumentError("epoch", f"is {epoch}, not at least 0")
    if annealing <= 0:
        raise ArgumentError("annealing", f"is {annealing}, not at least 1")
    return min(1.0, epoch / annealing)


def _widen(values: Tensor) -> Tensor:
    """Return values in single precision at least."""
    return values if values.dtype == torch.float64 else values.float()


def _check_arguments(alpha: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return parameters in single precision at least, and targets as int64."""
    _check_positive(alpha)
    return _widen(alpha), check_targets(targets, alpha)


def _check_positive(alpha: Tensor) -> None:
    _check_matrices("alpha", alpha)
    if (alpha <= 0).any():
        raise ArgumentError("alpha", f"must be above 0, not {float(alpha.min())}; it is evidence plus 1")


def _check_evidence(*evidences: Tensor) -> None:
    _check_matrices("evidence", *evidences)
    for evidence in evidences:
        if (evidence < 0).any():
            raise ArgumentError("evidence", f"must not be negative, but its minimum is {float(evidence.min())}")


def _check_matrices(name: str, *matrices: Tensor) -> None:
    if any(matrix.ndim != 2 or not matrix.shape[1] or matrix.shape != matrices[0].shape for matrix in matrices):
        shapes = " and ".join(str(tuple(matrix.shape)) for matrix in matrices)
        fault = f"is [images, classes], the same for both views, not {shapes}"
        raise ArgumentError(name, fault, code="wrong-shape")
