"""The relative positions of regions."""

import torch

from recompose.tracks.gzsl.methods.grounding import relations
from tests.tracks.gzsl.methods.derivations import (
    relation,
)


def test_relations_are_those_of_all_pairs_of_regions() -> None:
    expected = torch.tensor([[relation(i, j, 3) for j in range(9)] for i in range(9)], dtype=torch.float64)
    torch.testing.assert_close(relations(3), expected)
