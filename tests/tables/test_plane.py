"""Maps of vectors in the plane."""

import numpy as np

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


def test_the_same_vectors_give_the_same_map_to_the_bit_and_leave_random_numbers_alone() -> None:
    vectors = clusters(15, 15)
    np.random.seed(1)
    state = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]
    first = flatten(vectors)
    assert np.random.get_state()[1].tolist() == state  # type: ignore[index, union-attr]
    np.random.seed(2)
    assert np.array_equal(flatten(vectors.copy()), first)
    assert not np.array_equal(flatten(clusters(15, 15, noise=0.06)), first)
