"""Maps of vectors in the plane."""

import numpy as np
import pytest

from recompose.tables.plane import flatten


def clusters(*counts: int, width: int = 16, noise: float = 0.05) -> np.ndarray:
    """Vectors of any length around orthogonal directions."""
    rng = np.random.default_rng(0)
    rows = [
        rng.uniform(0.1, 10) * (np.eye(width)[cluster] + noise * rng.normal(size=width))
        for cluster, count in enumerate(counts)
        for _ in range(count)
    ]
    return np.array(rows, dtype=np.float32)


@pytest.mark.parametrize("counts", [(20, 20), (45, 55), (4, 5)])
def test_a_map_keeps_separate_clusters_apart(counts: tuple[int, int]) -> None:
    """Each point's nearest neighbour is of its own cluster, and so is the nearer mean."""
    flat = flatten(clusters(*counts))
    assert flat.shape == (sum(counts), 2)
    cluster = np.repeat([0, 1], counts)
    distance = np.linalg.norm(flat[:, None] - flat[None], axis=2) + np.diag(np.full(len(flat), np.inf))
    assert (cluster[distance.argmin(axis=1)] == cluster).all()
    means = np.stack([flat[cluster == number].mean(axis=0) for number in (0, 1)])
    assert (np.linalg.norm(flat[:, None] - means[None], axis=2).argmin(axis=1) == cluster).all()


def test_the_same_vectors_give_the_same_map_to_the_bit_and_leave_random_numbers_alone() -> None:
    vectors = clusters(15, 15)
    np.random.seed(1)
    state = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]
    first = flatten(vectors)
    assert np.random.get_state()[1].tolist() == state  # type: ignore[index, union-attr]
    np.random.seed(2)
    assert np.array_equal(flatten(vectors.copy()), first)
    assert not np.array_equal(flatten(clusters(15, 15, noise=0.06)), first)
