"""Simulated studies: how often they err, and whether they decide as often as promised.

``python -m benchmarks.studies`` takes some minutes and prints two tables. A study is one of correlated comparisons, run
as `recompose decide` does: it looks at declared numbers of replicates, stops what is decided or too dear, and gives the
replicates that its budget has left to the comparisons where they decide most. All of this is an implementation of its
own, over arrays of whole studies; tests/inference/test_sequential.py compares it with the package's.

In the first table differences are zero or at the margin, where verdicts err most. In the second one 30 % are zero and
the others normal, and each comparison gets the replicates that `recompose power` asks for.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import chdtri, ndtr, ndtri, stdtr, stdtrit

from recompose.inference.power import Question, decision_probability, look_probability, sample_size
from recompose.inference.sequential import Looks

ALPHA, LEAST = 0.05, 0.1
STUDIES, CHUNK = 10_000, 1_000
DESIGNS = ((8, 24, 40), (6, 12, 24), (8, 20, 30))  # those of the profile study
SINGLE = ((5,), (24,))  # for comparison: one look, that is Student's t
MOST, FIRST = 200, 6  # replicates of the second table: the dearest comparison, and one that is too dear
MARGIN = 0.8  # in standard deviations of a difference
BUDGET = 2 / 3  # of the last look, on average over comparisons
UNDECIDED, SUPPORTED, REVERSED, NEGLIGIBLE = range(4)
Noise = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
NOISES: dict[str, Noise] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "skewed": lambda rng, shape: (rng.chisquare(4, shape) - 4) / np.sqrt(8),
    "heavy-tailed": lambda rng, shape: rng.standard_t(4, shape) / np.sqrt(2),
}


def sample(rng: np.random.Generator, noise: Noise, truth: np.ndarray, studies: int, replicates: int) -> np.ndarray:
    """Differences [studies, comparisons, replicates] of variance one, correlated by a half over comparisons, as those
    of one method from several others are.
    """
    own, common = (noise(rng, (studies, count, replicates)) for count in (len(truth), 1))
    return truth[:, None] + np.sqrt(0.5) * (own + common)


def shares(sizes: tuple[int, ...]) -> np.ndarray:
    """The share of the error of each look."""
    spent = 2 * ndtr(ndtri(ALPHA / 2) / np.sqrt(np.array(sizes) / sizes[-1])) / ALPHA
    return np.diff(spent, prepend=0.0)


def holm(p: np.ndarray) -> np.ndarray:
    """Corrected p, each study for itself: [studies, comparisons]."""
    order = p.argsort(1)
    steps = np.take_along_axis(p, order, 1) * np.arange(p.shape[1], 0, -1)
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, np.minimum(np.maximum.accumulate(steps, 1), 1.0), 1)
    return adjusted


def decided(
    difference: np.ndarray,
    margin: np.ndarray,
    is_kept: np.ndarray,
    beyond: np.ndarray,
    within: np.ndarray,
    size: int,
    seen: np.ndarray,
    points: int,
) -> np.ndarray:
    """The probability that one look decides [studies, comparisons], given what was seen; 0 if the look is over.

    All are in units of the standard deviation.

    Args:
        difference: [studies, comparisons], the mean of the replicates seen.
        margin: [studies, comparisons].
        is_kept: [comparisons]
        beyond: [studies], the level of the test of a difference.
        within: [studies], the level of the test of the margin.
        size: replicates.
        seen: [studies, comparisons], replicates.
        points: of the distribution of the sample's standard deviation.
    """
    freedom = size - 1
    ratios = np.sqrt(chdtri(freedom, (np.arange(points) + 0.5) / points) / freedom)  # sampled over true ones
    total, levels, places = np.zeros_like(difference), *np.unique([beyond, within], return_inverse=True)
    quantiles = stdtrit(freedom, levels / 2)[places].reshape(2, -1, 1)
    is_over = seen >= size
    precision = 1 / np.sqrt(
        np.where(is_over, 1.0, 1 / seen - 1 / size)
    )  # of the mean of all, around that of those seen
    for ratio in ratios:
        error = ratio / np.sqrt(size)
        far = -quantiles[0] * error + is_kept * margin
        near = np.maximum(margin + quantiles[1] * error, 0.0)
        cuts = [ndtr((cut - difference) * precision) for cut in (-far, -near, near, far)]
        total += np.where(near > far, 1.0, cuts[0] + cuts[2] - cuts[1] + 1 - cuts[3])
    return np.where(is_over, 0.0, total / points)


@dataclass
class Studies:
    """Studies with all their replicates, of which each has seen some."""

    differences: np.ndarray  # [studies, comparisons, replicates]
    sizes: tuple[int, ...]
    margin: np.ndarray  # [comparisons]
    is_kept: np.ndarray  # [comparisons]
    points: int = 8

    def __post_init__(self) -> None:
        counts = np.array(self.sizes)
        assert counts[-1] <= self.differences.shape[-1], "a look needs replicates that were not simulated"
        parts = [self.differences[..., :size] for size in self.sizes]
        self.mean = np.stack([part.mean(-1) for part in parts], -1)  # [studies, comparisons, looks]
        self.spread = np.stack([part.std(-1, ddof=1) for part in parts], -1)
        self.error, self.freedom, self.shares = self.spread / np.sqrt(counts), counts - 1, shares(self.sizes)
        self.reached = np.zeros(self.mean.shape[:2], dtype=int)  # the last look of each comparison

    def _p(self, distance: np.ndarray) -> np.ndarray:
        """The p of each look, for its share of the error."""
        return np.minimum(1.0, 2 * stdtr(self.freedom, -distance / self.error) / self.shares)

    @cached_property
    def is_positive(self) -> np.ndarray:
        """The sign at the look with the smallest p of no difference, up to each look."""
        p = self._p(np.abs(self.mean))
        best = [p[..., : count + 1].argmin(-1) for count in range(len(self.sizes))]
        return np.stack([self.at(self.mean, look) > 0 for look in best], -1)

    @cached_property
    def beyond(self) -> np.ndarray:
        """The p of no difference, or of what is kept: of one that is not beyond the margin."""
        distance = np.abs(self.mean) - (self.is_kept * self.margin)[:, None]
        return np.minimum.accumulate(self._p(distance), -1)

    @cached_property
    def within(self) -> np.ndarray:
        """The p of a difference that is not within the margin."""
        return np.minimum.accumulate(self._p(self.margin[:, None] - np.abs(self.mean)), -1)

    def at(self, values: np.ndarray, look: np.ndarray) -> np.ndarray:
        """Values [studies, comparisons, looks] at a look of each comparison."""
        return np.take_along_axis(values, look[..., None], -1)[..., 0]

    def corrected(self) -> tuple[np.ndarray, np.ndarray]:
        """Both corrected p at what was reached."""
        return holm(self.at(self.beyond, self.reached)), holm(self.at(self.within, self.reached))

    def verdicts(self) -> np.ndarray:
        """A verdict for each comparison: [studies, comparisons]."""
        beyond, within = self.corrected()
        is_supported = self.at(self.is_positive, self.reached) & ~self.is_kept
        outside = np.where(beyond < ALPHA, np.where(is_supported, SUPPORTED, REVERSED), UNDECIDED)
        return np.where(within < ALPHA, np.where(self.is_kept, SUPPORTED, NEGLIGIBLE), outside)

    def probabilities(self) -> np.ndarray:
        """The probability that each look decides, given what was seen: [studies, comparisons, looks]."""
        spread, mean = self.at(self.spread, self.reached), self.at(self.mean, self.reached)
        levels = [ALPHA / np.maximum(1, (p >= ALPHA).sum(1)) for p in self.corrected()]
        return np.stack(
            [
                decided(
                    mean / spread,
                    self.margin / spread,
                    self.is_kept,
                    *(level * share for level in levels),
                    size,
                    np.array(self.sizes)[self.reached],
                    self.points,
                )
                for size, share in zip(self.sizes, self.shares, strict=True)
            ],
            -1,
        )

    def run(self, budget: float) -> "Studies":
        """Run all stages with a budget of replicates, and return the studies."""
        left = np.full(len(self.reached), budget - self.sizes[0] * self.reached.shape[1])
        sizes, last = np.array(self.sizes), len(self.sizes) - 1
        while True:
            probability = self.probabilities()
            more = sizes - sizes[self.reached][..., None]
            worth = np.where(more > 0, probability / np.maximum(more, 1), -1.0).max(-1)
            is_waiting = (self.verdicts() == UNDECIDED) & (self.reached < last) & (probability[..., -1] >= LEAST)
            has_grown = False
            rows = np.arange(len(left))
            for place in np.where(is_waiting, -worth, np.inf).argsort(1).T:  # the best comparison of each study first
                cost = sizes[np.minimum(self.reached[rows, place] + 1, last)] - sizes[self.reached[rows, place]]
                is_raised = is_waiting[rows, place] & (cost <= left)
                self.reached[rows, place] += is_raised
                left = left - cost * is_raised
                has_grown |= bool(is_raised.any())
            if not has_grown:
                return self


def errors(
    noise: Noise, sizes: tuple[int, ...], nulls: float, studies: int, rng: np.random.Generator, comparisons: int = 20
) -> tuple[np.ndarray, float]:
    """The shares of studies with a wrong verdict on a difference and on a margin: [2]; the mean replicates.

    Every fifth claim is that something is kept. Differences are zero, or at the margin, on the side where skewness does
    harm: there none is negligible, kept or beyond.
    """
    margin, is_kept = np.full(comparisons, MARGIN), np.arange(comparisons) % 5 == 0
    is_zero = np.arange(comparisons) * 7 % comparisons < nulls * comparisons
    truth = np.where(is_zero, 0.0, MARGIN)
    count, seen = np.zeros(2), 0.0
    for _ in range(studies // CHUNK):
        study = Studies(sample(rng, noise, truth, CHUNK, sizes[-1]), sizes, margin, is_kept)
        study.run(round(BUDGET * sizes[-1]) * comparisons)
        verdicts = study.verdicts()
        is_wrong_sign = (verdicts == REVERSED) | ((verdicts == SUPPORTED) & is_zero & ~is_kept)
        is_wrong_margin = (verdicts == np.where(is_kept, SUPPORTED, NEGLIGIBLE)) & ~is_zero
        count += is_wrong_sign.any(1).sum(), is_wrong_margin.any(1).sum()
        seen += np.array(sizes)[study.reached].mean() * CHUNK
    return count / studies, seen / studies


def error_rows(studies: int) -> Iterator[str]:
    """The rows of the first table."""
    yield "| replicates | looks | zero | wrong difference | wrong margin | replicates of a comparison |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for name, noise in NOISES.items():
        for sizes in (*DESIGNS, *SINGLE):
            for nulls in (0.0, 0.3, 1.0):
                (difference, margin), mean = errors(noise, sizes, nulls, studies, np.random.default_rng(1))
                looks = ", ".join(map(str, sizes))
                margins = "-" if nulls == 1 else f"{margin:.1%}"
                yield f"| {name} | {looks} | {nulls:.0%} | {difference:.1%} | {margins} | {mean:.1f} |"


def promises(
    noise: Noise, comparisons: int, sizes: tuple[int, ...] | None, studies: int, families: int = 25
) -> np.ndarray:
    """How often comparisons are decided that have a price: [4]

    Returns:
        The probability that was promised at the price, the share that is decided there if no other comparison is, and
        with all of the family at their prices, and the share that `decide` decides without a bound on replicates (nan
        without looks), in a tenth of the studies.
    """
    rng, level, total, weight = np.random.default_rng(2), ALPHA / comparisons, np.zeros(4), 0
    margin, is_kept = np.full(comparisons, MARGIN), np.zeros(comparisons, dtype=bool)
    question, looks = Question(1.0, MARGIN, level, level), Looks(sizes) if sizes else None
    for _ in range(families):
        truth = np.where(rng.random(comparisons) < 0.3, 0.0, rng.normal(0, 1.5, comparisons))
        needed = [sample_size(question, difference, looks) for difference in truth]
        counts = [0 if size.is_new else size.replicates or 0 for size in needed]
        prices = np.array([count if count <= MOST else 0 for count in counts])
        first, last = (sizes[0], sizes[-1]) if sizes else (FIRST, max(FIRST, *prices))
        differences = sample(rng, noise, truth, studies // families, last)
        beyond, within = p_values(differences, np.maximum(prices, first), sizes)
        in_stages = np.full(comparisons, np.nan)
        if sizes:
            study = Studies(differences[: studies // families // 10], sizes, margin, is_kept).run(np.inf)
            in_stages = (study.verdicts() != UNDECIDED).mean(0)
        for price, difference, *shares_decided in zip(
            prices,
            truth,
            (np.minimum(beyond, within) < level).mean(0),
            (np.minimum(holm(beyond), holm(within)) < ALPHA).mean(0),
            in_stages,
            strict=True,
        ):
            if price:
                promised = (
                    look_probability(question, difference, looks, price)
                    if looks
                    else decision_probability(question, difference, price)
                )
                total += promised, *shares_decided
                weight += 1
    return total / weight


def p_values(
    differences: np.ndarray, replicates: np.ndarray, sizes: tuple[int, ...] | None
) -> tuple[np.ndarray, np.ndarray]:
    """The p of a difference and of the margin, each comparison tested once, or at looks, up to its replicates."""
    beyond, within = [], []
    for place, count in enumerate(replicates):
        looks = sizes or (int(count),)
        test = Studies(differences[:, [place]], looks, np.array([MARGIN]), np.array([False]))
        beyond.append(test.beyond[..., looks.index(count)])
        within.append(test.within[..., looks.index(count)])
    return np.concatenate(beyond, 1), np.concatenate(within, 1)


def promise_rows(studies: int) -> Iterator[str]:
    """The rows of the second table."""
    yield "| replicates | comparisons | looks | promised | decided alone | with all others | by `decide` |"
    yield "| --- | ---: | --- | ---: | ---: | ---: | ---: |"
    for name, noise in NOISES.items():
        for comparisons in (8, 20, 40):
            for sizes in (None, *DESIGNS):
                percents = ["-" if np.isnan(p) else f"{p:.1%}" for p in promises(noise, comparisons, sizes, studies)]
                looks = ", ".join(map(str, sizes)) if sizes else "one, at the price"
                yield f"| {name} | {comparisons} | {looks} | {' | '.join(percents)} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=STUDIES)
    studies = parser.parse_args().studies
    for rows in (error_rows, promise_rows):
        for row in rows(studies):
            print(row, flush=True)
        print()


if __name__ == "__main__":
    main()
