"""Count how often a study has a wrong verdict: ``python -m benchmarks.familywise``.

It simulates studies whose true differences are known, tests them as ``recompose.claims`` does, and counts those in
which any test of a true zero is significant.
"""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from scipy.special import stdtr

ALPHAS = (0.05, 0.04, 0.035)  # of a family
COMPARISONS, REPLICATES, STUDIES = 40, (3, 5, 10, 20, 32), 10_000
BATCH = 1_000  # studies at a time
SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {  # with mean 0 and variance 1
    "normal": lambda rng, shape: rng.standard_normal(shape),
    # of each comparison its own, as the quartiles of an earlier study's have it without those of normal samples
    "skewness 0.2 ± 0.4": lambda rng, shape: _skewed(rng, shape, rng.normal(0.2, 0.4, (*shape[:-1], 1))),
    "skewness 0.5": lambda rng, shape: _skewed(rng, shape, np.array(0.5)),
    "skewness 1": lambda rng, shape: _skewed(rng, shape, np.array(1.0)),
    "heavy tails": lambda rng, shape: rng.standard_t(5, shape) / np.sqrt(5 / 3),
}


def _skewed(rng: np.random.Generator, shape: tuple[int, ...], skewness: np.ndarray) -> np.ndarray:
    """Return values of shifted gamma distributions."""
    order = 4 / np.maximum(skewness**2, 1e-4)
    return np.sign(skewness) * (rng.gamma(order, size=shape) - order) / np.sqrt(order)


def smallest_adjusted(p: np.ndarray, is_null: np.ndarray) -> np.ndarray:
    """Return the smallest p of a true zero in each study, corrected by Holm for the others of its study.

    Args:
        p: [studies, comparisons]
        is_null: [comparisons]
    """
    order = np.argsort(p, axis=1)
    ranked = np.take_along_axis(p, order, axis=1) * np.arange(p.shape[1], 0, -1)
    adjusted = np.minimum(1, np.maximum.accumulate(ranked, axis=1))
    return np.where(is_null[order], adjusted, 1).min(axis=1)


def smallest_of_studies(shape: str, nulls: float, replicates: int) -> np.ndarray:
    """Return the smallest adjusted p of a true zero in each study; other true differences are one standard deviation.

    Args:
        shape: of the differences.
        nulls: the share of comparisons whose true difference is zero.
        replicates: of a study.
    """
    rng = np.random.default_rng(0)
    is_null = np.arange(COMPARISONS) < round(nulls * COMPARISONS)
    smallest = []
    for _ in range(0, STUDIES, BATCH):
        values = SHAPES[shape](rng, (BATCH, COMPARISONS, replicates)) + np.where(is_null, 0.0, 1.0)[None, :, None]
        t = values.mean(axis=2) / (values.std(axis=2, ddof=1) / np.sqrt(replicates))
        smallest.append(smallest_adjusted(2 * stdtr(replicates - 1, -np.abs(t)), is_null))
    return np.concatenate(smallest)


def rows() -> Iterator[str]:
    """Yield the table of familywise errors."""
    yield "| differences | true zeros | replicates | " + " | ".join(f"tested at {alpha:.1%}" for alpha in ALPHAS) + " |"
    yield "| --- | ---: | ---: |" + " ---: |" * len(ALPHAS)
    for shape, nulls, replicates in product(SHAPES, (0.3, 1.0), REPLICATES):
        smallest = smallest_of_studies(shape, nulls, replicates)
        wrong = " | ".join(f"{(smallest < alpha).mean():.1%}" for alpha in ALPHAS)
        yield f"| {shape} | {nulls:.0%} | {replicates} | {wrong} |"


if __name__ == "__main__":
    print(*rows(), sep="\n")
