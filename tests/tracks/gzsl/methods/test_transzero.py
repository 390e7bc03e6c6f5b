"""TransZero's treatment of the classes' attributes; its scores and losses are tested with those of CREST."""

import torch

from recompose.tracks.gzsl.methods.parts.grid_method import ClassSpace
from recompose.tracks.gzsl.methods.transzero.model import TransZero
from tests.tracks.gzsl.methods.tiny import TRANSZERO, build, changed


def test_negative_attributes_become_zero_before_classes_have_unit_length() -> None:
    signatures = torch.tensor([[0.6, -0.8], [-0.6, 0.8], [1.0, 0.0]])
    space = ClassSpace(signatures, torch.eye(2), torch.tensor([True, True, False]))
    zeroed = build(TransZero, space, 8, changed(TRANSZERO, negative_attributes="zero"))
    assert zeroed.signatures.tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    assert torch.equal(build(TransZero, space, 8, TRANSZERO).signatures, signatures)
