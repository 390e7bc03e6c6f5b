"""The number of replicates of a study, chosen before it is run: ``python -m benchmarks.study_design``.

An earlier study is the pilot: its ``figure-claims.csv`` have the difference of each comparison and its interval. Each
simulated study draws true differences and spreads as the pilot leaves them open (Student's t and chi-square), then
samples of the differences, and tests them as ``recompose.claims`` does. The first table has the claims that a number of
replicates decides, and what it costs; the best numbers for a budget follow.

``--errors`` simulates studies whose true differences are known, and counts those in which any verdict is wrong.
"""

import argparse
import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import stdtr, stdtrit

from recompose.papers.declaration import Paper, all_papers
from recompose.plan import Plan
from recompose.workspace import PROFILE, Workspace

ALPHA = 0.05
CONSTANT = ("chance", "clip")  # that no training seed changes
NUMBERS = (4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48)  # of replicates
SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {  # with mean 0 and variance 1
    "normal": lambda rng, shape: rng.standard_normal(shape),
    # of each comparison its own, as the quartiles of the pilot's have it without those of normal samples
    "skewness 0.2 ± 0.4": lambda rng, shape: _skewed(rng, shape, rng.normal(0.2, 0.4, (*shape[:-1], 1))),
    "skewness 0.5": lambda rng, shape: _skewed(rng, shape, np.array(0.5)),
    "skewness 1": lambda rng, shape: _skewed(rng, shape, np.array(1.0)),
    "heavy tails": lambda rng, shape: rng.standard_t(5, shape) / np.sqrt(5 / 3),
}


def _skewed(rng: np.random.Generator, shape: tuple[int, ...], skewness: np.ndarray) -> np.ndarray:
    """Return values of shifted gamma distributions."""
    order = 4 / np.maximum(skewness**2, 1e-4)
    return np.sign(skewness) * (rng.gamma(order, size=shape) - order) / np.sqrt(order)


@dataclass(frozen=True)
class Pilot:
    """The comparisons of a paper in an earlier study."""

    paper: str
    track: str
    difference: np.ndarray  # [comparisons]
    error: np.ndarray  # [comparisons], of the difference
    spread: np.ndarray  # [comparisons], the standard deviation over replicates
    freedom: np.ndarray  # [comparisons]
    margin: np.ndarray  # [comparisons]
    is_kept: np.ndarray  # [comparisons], the claim is that the difference is within the margin
    claims: Mapping[str, list[int]]  # name -> the comparisons that it rests on

    @classmethod
    def read(cls, paper: Paper, path: Path, plan: Plan) -> "Pilot":
        """Return the comparisons of a paper that were tested, without those that the planned study does not repeat."""
        with path.open(encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["low"] and row["low"] != row["high"]]
        evaluations = plan.tracks[paper.track].evaluations
        once = {name for (name, _), recipes in evaluations.items() if len(recipes) < 2 and name not in CONSTANT}
        rows = [row for row in rows if once.isdisjoint(re.findall(r"[\w.-]+", row["comparison"]))]
        n = np.array([int(row["n"].split()[0].rstrip(",")) for row in rows])
        half = np.array([(float(row["high"]) - float(row["low"])) / 2 for row in rows])
        error = half / -stdtrit(n - 1, ALPHA / 2)
        claims: dict[str, list[int]] = {}
        for place, row in enumerate(rows):
            for claim in row["claims"].split():
                claims.setdefault(claim, []).append(place)
        return cls(
            paper.name,
            paper.track,
            np.array([float(row["difference"]) for row in rows]),
            error,
            error * np.sqrt(n),
            n - 1,
            np.array([float(row["margin"]) for row in rows]),
            np.array(["within" in row["comparison"] for row in rows]),
            claims,
        )


def holm(p: np.ndarray) -> np.ndarray:
    """Return each p [studies, tests] corrected for the others of its study."""
    order = np.argsort(p, axis=1)
    ranked = np.take_along_axis(p, order, axis=1) * np.arange(p.shape[1], 0, -1)
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, np.minimum(1, np.maximum.accumulate(ranked, axis=1)), axis=1)
    return adjusted


def rejections(
    mean: np.ndarray, error: np.ndarray, freedom: float, margin: np.ndarray, is_kept: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return which comparisons [studies, comparisons] are significantly beyond zero, or beyond the margin where the
    claim is that they are kept; and which are within their margins.
    """

    def p(distance: np.ndarray) -> np.ndarray:
        return np.minimum(1, 2 * stdtr(freedom, -distance / error))

    beyond = holm(p(np.abs(mean) - np.where(is_kept, margin, 0)))
    within = holm(p(margin - np.abs(mean)))
    return beyond < alpha, within < alpha


def decided(pilot: Pilot, n: int, studies: int, alpha: float) -> float:
    """Return the mean number of a paper's claims that studies of n replicates decide."""
    rng = np.random.default_rng(n)
    shape = (studies, len(pilot.difference))
    truth = pilot.difference + pilot.error * rng.standard_t(pilot.freedom, shape)
    spread = pilot.spread * np.sqrt(pilot.freedom / rng.chisquare(pilot.freedom, shape))
    mean = truth + spread / np.sqrt(n) * rng.standard_normal(shape)
    error = spread / np.sqrt(n) * np.sqrt(rng.chisquare(n - 1, shape) / (n - 1))
    beyond, within = rejections(mean, error, n - 1, pilot.margin, pilot.is_kept, alpha)
    supported = np.where(pilot.is_kept, within, beyond & (mean > 0) & ~within)
    other = np.where(pilot.is_kept, beyond, within | (beyond & (mean < 0)))  # reversed, or negligible
    count = 0.0
    for places in pilot.claims.values():
        count += float((supported[:, places].all(axis=1) | other[:, places].any(axis=1)).mean())
    return count


def table(pilots: Iterable[Pilot], studies: int, alpha: float) -> dict[str, dict[int, float]]:
    """Return the claims that are decided, by track and number of replicates."""
    by_track: dict[str, dict[int, float]] = {}
    for pilot in pilots:
        counts = by_track.setdefault(pilot.track, dict.fromkeys(NUMBERS, 0.0))
        for n in NUMBERS:
            counts[n] += decided(pilot, n, studies, alpha)
    return by_track


def best(
    by_track: Mapping[str, Mapping[int, float]], seconds: Mapping[str, float], budget: float
) -> tuple[dict[str, int], float]:
    """Return the numbers of replicates that decide most within a budget of core-seconds, and how many claims."""
    tracks = list(by_track)
    affordable = (
        dict(zip(tracks, numbers, strict=True))
        for numbers in product(NUMBERS, repeat=len(tracks))
        if sum(n * seconds[track] for n, track in zip(numbers, tracks, strict=True)) <= budget
    )
    chosen = max(affordable, key=lambda numbers: sum(by_track[track][n] for track, n in numbers.items()))
    return chosen, sum(by_track[track][n] for track, n in chosen.items())


def familywise_error(shape: str, nulls: float, n: int, comparisons: int, studies: int, alpha: float) -> float:
    """Return the share of studies in which a test of a true zero is significant; the other true differences are one
    standard deviation.
    """
    rng = np.random.default_rng(0)
    is_null = np.arange(comparisons) < round(nulls * comparisons)
    wrong = 0
    for _ in range(0, studies, 1_000):
        values = SHAPES[shape](rng, (1_000, comparisons, n)) + np.where(is_null, 0.0, 1.0)[None, :, None]
        error = values.std(axis=2, ddof=1) / np.sqrt(n)
        no_margin, plain = np.zeros(comparisons), np.zeros(comparisons, dtype=bool)
        beyond, _within = rejections(values.mean(axis=2), error, n - 1, no_margin, plain, alpha)
        wrong += int((beyond & is_null).any(axis=1).sum())
    return wrong / studies


def errors(numbers: Iterable[int], comparisons: int, studies: int, alphas: Iterable[float]) -> Iterator[str]:
    """Yield a table of familywise errors."""
    alphas = list(alphas)
    yield "| differences | true zeros | replicates | " + " | ".join(f"tested at {alpha:.1%}" for alpha in alphas) + " |"
    yield "| --- | ---: | ---: |" + " ---: |" * len(alphas)
    for shape, nulls, n in product(SHAPES, (0.3, 1.0), numbers):
        found = [familywise_error(shape, nulls, n, comparisons, studies, alpha) for alpha in alphas]
        yield f"| {shape} | {nulls:.0%} | {n} | " + " | ".join(f"{share:.1%}" for share in found) + " |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pilot", type=Path, default=Path("reports/study"))
    parser.add_argument("--seconds", nargs=3, type=float, default=[61, 205, 457], metavar=("CZSL", "GZSL", "VLC"))
    parser.add_argument("--fixed", type=float, default=1_244, help="core-seconds of what is not repeated (%(default)g)")
    parser.add_argument("--hours", type=float, default=2.0, help="on two cores (%(default)s)")
    parser.add_argument("--studies", type=int, default=2_000)
    parser.add_argument("--alpha", type=float, default=ALPHA, help="of each family (%(default)s)")
    parser.add_argument("--errors", action="store_true")
    arguments = parser.parse_args()
    if arguments.errors:
        print(*errors((10, 20, 32), 40, 10_000, (0.05, 0.04, 0.035)), sep="\n")
        return
    os.environ[PROFILE] = "study"
    plan = Workspace(Path()).plan
    pilots = [Pilot.read(paper, arguments.pilot / paper.name / "figure-claims.csv", plan) for paper in all_papers()]
    by_track = table(pilots, arguments.studies, arguments.alpha)
    seconds = dict(zip(("czsl", "gzsl", "vlc"), arguments.seconds, strict=True))
    print("| track | claims | core-s of a replicate | " + " | ".join(f"n = {n}" for n in NUMBERS) + " |")
    print("| --- | ---: | ---: |" + " ---: |" * len(NUMBERS))
    for track, counts in by_track.items():
        total = sum(len(pilot.claims) for pilot in pilots if pilot.track == track)
        row = " | ".join(f"{counts[n]:.1f}" for n in NUMBERS)
        print(f"| {track} | {total} | {seconds[track]:.0f} | {row} |")
    for hours in (arguments.hours, 1.5 * arguments.hours):
        numbers, count = best(by_track, seconds, 2 * 3600 * hours - arguments.fixed)
        print(f"{hours:g} hours on two cores: {numbers}, {count:.1f} claims decided")


if __name__ == "__main__":
    main()
