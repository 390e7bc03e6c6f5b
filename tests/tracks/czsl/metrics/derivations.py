"""What the definitions say, in plain loops and exact arithmetic: the tests of the metrics are held against this
alone.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

Number = int | float | Fraction
NUMBERS = ("seen", "unseen", "harmonic_mean", "auc")


class Problem(NamedTuple):
    """Scores [images][pairs] with everything that an evaluation asks for beside them."""

    scores: list[list[Number]]
    targets: list[int]
    seen: list[bool]
    candidates: list[bool]

    @property
    def kinds(self) -> list[bool]:
        """Whether each image's true pair is a seen one."""
        return [self.seen[target] for target in self.targets]

    def with_exact(self, scores: Any) -> "Problem":
        """The same with exactly the values that a matrix of floating-point numbers holds."""
        rows = scores.double().tolist() if hasattr(scores, "double") else scores.astype(np.float64).tolist()
        return self._replace(scores=[[Fraction(value) for value in row] for row in rows])


class Calibrated(NamedTuple):
    """A problem of the open world with the feasibility of each pair."""

    problem: Problem
    feasibility: list[float]

    @property
    def thresholds(self) -> list[float]:
        """The distinct feasibilities of unseen pairs, rising."""
        return sorted({f for f, seen in zip(self.feasibility, self.problem.seen, strict=True) if not seen})

    def at(self, threshold: float) -> Problem:
        """The problem in which unseen pairs below the threshold are no candidates."""
        pairs = zip(self.feasibility, self.problem.seen, strict=True)
        return self.problem._replace(candidates=[seen or f >= threshold for f, seen in pairs])

    def multiplied(self, threshold: float) -> Problem:
        """The problem with scores multiplied by (feasibility >= threshold) + seen, the feasibility of seen pairs
        being 0.
        """
        pairs = list(zip(self.feasibility, self.problem.seen, strict=True))
        factors = [int((0.0 if seen else f) >= threshold) + int(seen) for f, seen in pairs]
        rows = [[score * by for score, by in zip(row, factors, strict=True)] for row in self.problem.scores]
        return self.problem._replace(scores=rows)


class Sweep(NamedTuple):
    """Points of a curve, and the numbers that follow from them."""

    biases: list[float]
    seen: list[float]
    unseen: list[float]
    numbers: dict[str, float]


def first_best(row: list[Number], allowed: Iterable[int]) -> int | None:
    """The first of the allowed pairs that no other exceeds."""
    best = None
    for pair in allowed:
        if best is None or row[pair] > row[best]:
            best = pair
    return best


def top_pairs(row: list[Any], candidates: list[bool], count: int) -> list[int]:
    """A row's candidates, the highest score first and of equal ones the lowest index; -1 where there are no more."""
    ranked = sorted((-score, pair) for pair, score in enumerate(row) if candidates[pair])
    return ([pair for _, pair in ranked] + [-1] * count)[:count]


def bests(problem: Problem) -> list[tuple[int | None, int | None]]:
    """Each image's best seen and best unseen pair."""
    allowed = [pair for pair, candidate in enumerate(problem.candidates) if candidate]
    seen = [pair for pair in allowed if problem.seen[pair]]
    unseen = [pair for pair in allowed if not problem.seen[pair]]
    return [(first_best(row, seen), first_best(row, unseen)) for row in problem.scores]


def answers(problem: Problem, bias: Number) -> list[int | None]:
    """The pair that is answered for each image when the bias is added to unseen pairs; a seen one wins a tie."""
    answered = []
    for row, (seen, unseen) in zip(problem.scores, bests(problem), strict=True):
        if seen is None or unseen is None:
            answered.append(unseen if seen is None else seen)
        else:
            answered.append(unseen if row[unseen] + bias > row[seen] else seen)
    return answered


def probes(problem: Problem) -> list[Number]:
    """Every bias at which an answer could change, and one between any two, below and above all of them."""
    allowed = [pair for pair, candidate in enumerate(problem.candidates) if candidate]
    seen = [pair for pair in allowed if problem.seen[pair]]
    unseen = [pair for pair in allowed if not problem.seen[pair]]
    turns = sorted({row[s] - row[u] for row in problem.scores for s in seen for u in unseen})
    if not turns:
        return [0]
    between = [Fraction(a + b) / 2 for a, b in pairwise(turns)]
    return sorted([turns[0] - 1, *turns, *between, turns[-1] + 1])


def accuracy(problem: Problem, answered: list[int | None], kind: bool) -> Fraction | None:
    """The share of right answers among images of seen (or of unseen) pairs; none where there is no such image."""
    images = [image for image, seen in enumerate(problem.kinds) if seen == kind]
    right = sum(answered[image] == problem.targets[image] for image in images)
    return Fraction(right, len(images)) if images else None


def points(problem: Problem) -> list[tuple[Fraction | None, Fraction | None]]:
    """(unseen, seen) accuracies at every probe."""
    answered = [answers(problem, bias) for bias in probes(problem)]
    return [(accuracy(problem, pairs, False), accuracy(problem, pairs, True)) for pairs in answered]


def harmonic(one: Fraction, other: Fraction) -> Fraction:
    """The harmonic mean, 0 where both are."""
    return 2 * one * other / (one + other) if one + other else Fraction(0)


def area(curve: list[tuple[Fraction, Fraction]]) -> Fraction:
    """The area below (x, y), by trapezoids."""
    return sum(((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(curve)), Fraction(0))


def dense_numbers(problem: Problem) -> dict[str, float]:
    """The dense sweep's numbers. Without images of seen or of unseen pairs what depends on them is NaN."""
    curve = points(problem)
    numbers = dict.fromkeys(NUMBERS, math.nan)
    if True in problem.kinds:
        numbers["seen"] = float(max(s for _, s in curve))
    if False in problem.kinds:
        numbers["unseen"] = float(max(u for u, _ in curve))
    if len(set(problem.kinds)) == 2:
        numbers["harmonic_mean"] = float(max(harmonic(u, s) for u, s in curve))
        numbers["auc"] = float(area(curve))
    return numbers


def couples_auc(problem: Problem) -> Fraction:
    """The dense AUC in closed form: the chance that a seen and an unseen image are both right at one bias, as Mann
    and Whitney count.
    """
    lost, won = [], []
    for row, target, kind, (seen, unseen) in zip(
        problem.scores, problem.targets, problem.kinds, bests(problem), strict=True
    ):
        if kind and seen == target:
            lost.append(math.inf if unseen is None else row[seen] - row[unseen])
        if not kind and unseen == target and seen is not None:
            won.append(row[seen] - row[unseen])
    both = sum(Fraction(1) if w < at else Fraction(1, 2) if w == at else Fraction(0) for at in lost for w in won)
    return both / (problem.kinds.count(True) * problem.kinds.count(False))


def field_sweep(problem: Problem) -> Sweep:
    """The evaluator that the field shares, on the whole matrix in double precision.

    It predicts at a bias of 1e3; of the unseen images that are then right it takes the best seen score less the true
    one less 1e-4, sorted, every max(n // 20, 1)-th, and lastly 1e3. It needs seen pairs, all of them candidates. Among
    equal scores it is undefined: here seen pairs come first, then lower indices.
    """
    scores, seen, candidates = np.array(problem.scores, dtype=np.float64), np.array(problem.seen), problem.candidates
    order = [*np.flatnonzero(seen).tolist(), *np.flatnonzero(~seen).tolist()]

    def right_at(bias: float) -> list[bool]:
        biased = scores.copy()
        biased[:, ~seen] += bias
        biased[:, ~np.array(candidates)] = -1e10
        rows = biased.tolist()
        return [max(order, key=row.__getitem__) == t for row, t in zip(rows, problem.targets, strict=True)]

    def share(right: list[bool], kind: bool) -> float:
        counted = [one for one, seen in zip(right, problem.kinds, strict=True) if seen == kind]
        return sum(counted) / len(counted)

    largest = right_at(1e3)
    differences = sorted(
        float(max(scores[image, seen]) - scores[image, target] - 1e-4)
        for image, target in enumerate(problem.targets)
        if not seen[target] and largest[image]
    )
    biases = [*differences[:: max(len(differences) // 20, 1)], 1e3]
    seen_accuracies = [share(right_at(bias), True) for bias in biases]
    unseen_accuracies = [share(right_at(bias), False) for bias in biases]
    means = [2 * s * u / (s + u) if s + u else 0.0 for s, u in zip(seen_accuracies, unseen_accuracies, strict=True)]
    numbers = {
        "seen": max(seen_accuracies),
        "unseen": max(unseen_accuracies),
        "harmonic_mean": max(means),
        "auc": float(np.trapezoid(seen_accuracies, unseen_accuracies)),
    }
    return Sweep(biases, seen_accuracies, unseen_accuracies, numbers)


def part_accuracies(problem: Problem, primitives: list[tuple[int, int]]) -> tuple[float, float]:
    """The shares of images whose state and whose object is answered right at bias 0."""
    answered = answers(problem, 0)
    shares = []
    for part in (0, 1):
        right = sum(primitives[g][part] == primitives[t][part] for g, t in zip(answered, problem.targets, strict=True))
        shares.append(right / len(answered))
    return shares[0], shares[1]


def group_names(shown: list[int], seen: list[bool]) -> list[str]:
    """Of seen pairs the most frequent fifth is head, the next three tenths are medium, the rest is tail."""
    ranked = sorted((pair for pair, one in enumerate(seen) if one), key=lambda pair: (-shown[pair], pair))
    head, half = round(Fraction(len(ranked), 5)), round(Fraction(len(ranked), 2))
    names = ["unseen"] * len(seen)
    for rank, pair in enumerate(ranked):
        names[pair] = "head" if rank < head else "medium" if rank < half else "tail"
    return names


def group_shares(answered: list[int], targets: list[int], names: list[str]) -> dict[str, float]:
    """The share of right answers among the images of each group that has any."""
    shares = {}
    for group in ("head", "medium", "tail", "unseen"):
        images = [image for image, target in enumerate(targets) if names[target] == group]
        if images:
            shares[group] = sum(answered[image] == targets[image] for image in images) / len(images)
    seen = [image for image, target in enumerate(targets) if names[target] != "unseen"]
    if seen:
        shares["seen"] = sum(answered[image] == targets[image] for image in seen) / len(seen)
    return shares


def sweep_numbers(problem: Problem, sweep: str) -> dict[str, float]:
    """The field's four numbers of a dense sweep of the bias, or of the field's own."""
    return dense_numbers(problem) if sweep == "dense" else field_sweep(problem).numbers


def world_numbers(problem: Problem, pairs: list[tuple[str, str]], shown: list[int]) -> dict[str, Any]:
    """All numbers of a world, nested, with the number of training images of each pair."""
    state, name = part_accuracies(problem, pairs)
    names = group_names(shown, problem.seen)
    means: dict[Any, Fraction] = {}
    for bias in probes(problem):
        answered = answers(problem, bias)
        means[bias] = harmonic(accuracy(problem, answered, True), accuracy(problem, answered, False))
    balanced = max(means, key=lambda bias: (means[bias], -bias))  # the lowest of the best
    return {
        **{sweep: sweep_numbers(problem, sweep) for sweep in ("dense", "field")},
        "state": state,
        "object": name,
        "groups": {
            "unbiased": group_shares(answers(problem, 0), problem.targets, names),
            "balanced": group_shares(answers(problem, balanced), problem.targets, names),
        },
    }


def pieces(rng: np.random.Generator, positions: Any) -> list[np.ndarray]:
    """Positions cut at random, some pieces possibly empty."""
    cuts = np.sort(rng.integers(0, len(positions) + 1, rng.integers(0, 4)))
    return np.split(np.array(positions, dtype=np.int64), cuts)


def numbers_of(report: Any) -> dict[str, float]:
    """The field's four numbers of a report."""
    return {name: getattr(report, name) for name in NUMBERS}


def close(numbers: Any) -> Any:
    """The same but for rounding."""
    return pytest.approx(numbers, rel=0, abs=1e-12, nan_ok=True)


def assert_best(best: Any, problem: Problem) -> None:
    """The best pairs, their scores and what depends on the true pair are those of plain loops, exactly."""
    expected: dict[str, list[Any]] = {"seen": [], "unseen": []}
    for row, pairs in zip(problem.scores, bests(problem), strict=True):
        for kind, pair in zip(("seen", "unseen"), pairs, strict=True):
            expected[kind].append((-math.inf, -1) if pair is None else (row[pair], pair))
    for kind, entries in expected.items():
        assert getattr(best, f"{kind}_score").dtype == np.float64
        assert getattr(best, f"{kind}_pair").dtype == np.int64
        assert getattr(best, f"{kind}_score").tolist() == [score for score, _ in entries]
        assert getattr(best, f"{kind}_pair").tolist() == [pair for _, pair in entries]
        right = [pair == target for (_, pair), target in zip(entries, problem.targets, strict=True)]
        assert getattr(best, f"{kind}_right").tolist() == right
    assert best.target.tolist() == problem.targets
    assert best.is_seen.tolist() == problem.kinds
