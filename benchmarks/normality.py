"""The shape of the differences that Student's t takes as normal: python -m benchmarks.normality [--profile study]

Each comparison of a claim in the committed reports has a difference in each replicate. Their skewness is shown beside
that of normal samples of the same sizes, and the share of comparisons that the test of Shapiro and Wilk (1965) tells
from normal ones at 5 %, which is 5 % of normal ones.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.stats import shapiro, skew

from recompose.papers.declaration import all_papers
from recompose.tables.published import read_lineages

LEAST = 8  # differences; fewer say little about their shape
DRAWS = 500  # normal samples for each comparison
LEVEL = 0.05


def samples(folder: Path) -> Iterator[tuple[str, np.ndarray]]:
    """The track and the differences of each comparison in the reports of a profile, each comparison once."""
    papers = {paper.name: paper for paper in all_papers()}
    lineages, seen = read_lineages(folder, papers.values()), set()
    for name, lineage in lineages.items():
        for cell in lineage.cells:
            for comparison in cell.evidence.comparisons if cell.evidence else ():
                assert cell.evidence is not None
                values = np.array(list(cell.evidence.differences(comparison).values()))
                key = (name, tuple(values))
                if len(values) >= LEAST and values.std() > 0 and key not in seen:
                    seen.add(key)
                    yield papers[name.partition("/")[0]].track, values


def row(track: str, differences: list[np.ndarray]) -> str:
    """A row of the table."""
    rng = np.random.default_rng(0)
    measured = np.array([skew(values, bias=False) for values in differences])
    normal = np.concatenate([skew(rng.standard_normal((DRAWS, len(v))), axis=1, bias=False) for v in differences])
    told = np.mean([shapiro(values).pvalue < LEVEL for values in differences])
    sizes = sorted({len(values) for values in differences})
    quartiles = [", ".join(f"{share:+.2f}" for share in np.quantile(v, (0.25, 0.5, 0.75))) for v in (measured, normal)]
    return f"| {track} | {len(differences)} | {sizes[0]} to {sizes[-1]} | {' | '.join(quartiles)} | {told:.0%} |"


def main() -> None:
    """Print a row for each track."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="study", help="the profile whose reports are read")
    by_track: dict[str, list[np.ndarray]] = {}
    for track, values in samples(Path("reports") / parser.parse_args().profile):
        by_track.setdefault(track, []).append(values)
    print("| track | comparisons | replicates | skewness: quartiles | of normal samples | told from normal |")
    print("| --- | ---: | --- | --- | --- | ---: |")
    for track, differences in by_track.items():
        print(row(track, differences))


if __name__ == "__main__":
    main()
