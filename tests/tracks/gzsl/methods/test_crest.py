"""CREST: what its components leave, its evidence, and readings of the paper that cannot work."""

from typing import Any

import pytest
import torch

from recompose.errors import ArgumentError
from recompose.tracks.gzsl.evidential import fuse, uncertainty
from recompose.tracks.gzsl.methods.crest.model import CREST
from tests.errors import raises
from tests.tracks.gzsl.methods.tiny import (
    ATTRIBUTES,
    CHANNELS,
    CLASSES,
    CREST_SETTINGS,
    IMAGES,
    REGIONS,
    SEEN,
    TARGETS,
    build,
    changed,
    crest,
    grids,
    space,
    transzero,
)

INPUTS, LABELS = grids().double(), torch.tensor(TARGETS)
ALL_PARTS = {"loss", "cross_entropy", "calibration", "evidence", "contrast", "separation", "compactness"}


@pytest.mark.parametrize(
    ("changes", "left_out"),
    [
        ({}, set()),
        ({"components": {"agt": False}}, {"separation", "compactness"}),
        ({"components": {"vgt": False}}, {"contrast"}),
        ({"components": {"evidence": False}}, {"evidence"}),
        ({"components": {"contrast": False}}, {"contrast"}),
        ({"components": {"memory": False}}, {"separation", "compactness"}),
        ({"calibration": {"weight": 0.0}}, {"calibration"}),
    ],
)
def test_each_ablation_of_table_2_leaves_out_its_part_alone(changes: dict[str, Any], left_out: set[str]) -> None:
    method = crest(**changes)
    parts = method.loss(INPUTS, LABELS, 0)
    assert parts.keys() == ALL_PARTS - left_out
    parts["loss"].backward()
    assert all(parameter.grad is not None for parameter in method.parameters())  # nothing stands there unused
    prediction = method.predict(INPUTS)
    views = {view for view in ("vgt", "agt") if changes.get("components", {}).get(view, True)}
    assert prediction.paths.keys() == prediction.uncertainties.keys() == views | {"fused"}
    assert prediction.scores.shape == (IMAGES, CLASSES)


def test_with_one_transformer_its_attributes_are_those_of_the_image() -> None:
    for left, other in (("vgt", "agt"), ("agt", "vgt")):
        prediction = crest(components={other: False}).predict(INPUTS)
        torch.testing.assert_close(prediction.scores, prediction.paths[left])
        torch.testing.assert_close(prediction.uncertainties[left], prediction.uncertainties["fused"])


def test_without_agt_evidence_contrast_and_memory_it_is_transzero_without_regression() -> None:
    components = dict.fromkeys(("agt", "evidence", "contrast", "memory"), False)
    calibration = {"weight": 0.3, "mask": "signed"}
    ours, released = crest(components=components, calibration=calibration), transzero(regression_weight=0.0)
    released.load_state_dict(ours.state_dict())
    torch.testing.assert_close(ours.predict(INPUTS).scores, released.predict(INPUTS).scores)
    torch.testing.assert_close(ours.loss(INPUTS, LABELS, 0)["loss"], released.loss(INPUTS, LABELS, 0)["loss"])


def test_mu_weighs_agt_and_the_fusion_of_evidence_is_its_own_path() -> None:
    for mu in (0.0, 0.25, 1.0):
        method = crest(agt_weight=mu)
        prediction = method.predict(INPUTS)
        paths = prediction.paths
        torch.testing.assert_close(prediction.scores, mu * paths["agt"] + (1 - mu) * paths["vgt"])
        evidence = [torch.nn.functional.softplus(paths[view]) for view in ("vgt", "agt")]
        torch.testing.assert_close(paths["fused"], fuse(*evidence))
        torch.testing.assert_close(prediction.uncertainties["fused"], uncertainty(fuse(*evidence)))
        embeddings = method.embeddings(INPUTS)
        torch.testing.assert_close(embeddings["fused"], mu * embeddings["agt"] + (1 - mu) * embeddings["vgt"])


def test_attention_is_over_regions() -> None:
    attention = crest().attention(INPUTS)
    assert attention.shape == (IMAGES, ATTRIBUTES, REGIONS)
    torch.testing.assert_close(attention.sum(dim=-1), torch.ones(IMAGES, ATTRIBUTES, dtype=attention.dtype))
    with pytest.raises(NotImplementedError):
        crest(components={"vgt": False}).attention(INPUTS)


@pytest.mark.parametrize(
    "changes",
    [
        {"cross_entropy": "seen"},
        {"calibration": {"mask": "signed"}},
        {"calibration": {"form": "crest"}},
        {"evidence": {"classes": "seen"}},
        {"evidence": {"reduction": "sum"}},
        {"evidence": {"conflict_weight": 5.0}},
        {"contrast": {"threshold": 1.0}},
        {"memory": {"distance": "mean"}},
        {"memory": {"trained": True}},
        {"memory": {"queries": "images"}},
        {"grounding": {"geometry": False}},
        {"grounding": {"self_attention": False}},
        {"grounding": {"normalise_words": True}},
    ],
)
def test_each_open_point_moves_the_loss_or_its_gradient(changes: dict[str, Any]) -> None:
    def reached(**changes: Any) -> list[float]:
        method = crest(**changes)
        loss = method.loss(INPUTS, LABELS, 3)["loss"]
        loss.backward()
        sizes = [parameter.grad.norm() for parameter in method.parameters() if parameter.grad is not None]
        return [float(loss.detach()), *map(float, sizes)]

    assert reached(**changes) != pytest.approx(reached(), rel=1e-9)


def test_an_image_of_an_unseen_class_is_refused() -> None:
    with raises(ArgumentError, "unseen-class"):
        crest().loss(INPUTS, torch.tensor([0, SEEN.index(False), 0, 5]), 0)


def test_a_grid_that_is_no_square_is_refused_where_geometry_matters() -> None:
    with raises(ArgumentError, place="regions"):
        crest().predict(INPUTS[:, :3])
    assert crest(grounding={"geometry": False}).predict(INPUTS[:, :3]).scores.shape == (IMAGES, CLASSES)


@pytest.mark.slow
def test_training_lowers_the_loss_and_the_class_of_images_is_learnt() -> None:
    torch.manual_seed(0)
    settings = changed(CREST_SETTINGS, grounding={"hidden": 16, "dropout": 0.1, "region_scores": "zeros"})
    method = build(CREST, space(attributes=12), CHANNELS, settings).train()
    optimizer = torch.optim.Adam(method.parameters(), lr=1e-2)
    inputs, losses = grids() + 3 * torch.nn.functional.one_hot(LABELS, CHANNELS)[:, None], []
    for epoch in range(40):
        optimizer.zero_grad()
        loss = method.loss(inputs, LABELS, epoch)["loss"]
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.8 * losses[0]
    scores = method.eval().predict(inputs).scores
    assert (scores[:, method.seen].argmax(dim=1) == (method.seen.cumsum(0) - 1)[LABELS]).all()


def test_dropout_differs_from_image_to_image_though_they_share_attributes() -> None:
    torch.manual_seed(0)
    method = crest(grounding={"dropout": 0.5}).train()
    same = INPUTS[:1].expand(2, -1, -1)
    assert method.vgt is not None
    first, second = method.vgt.decoder.attend_to_self(method.vgt.attributes(method.words()), 2).detach()
    assert not torch.equal(first, second)
    for view, attributes in method.views(same)[0].items():
        assert not torch.equal(attributes[0], attributes[1]), view
    for view, attributes in method.eval().views(same)[0].items():
        torch.testing.assert_close(attributes[0], attributes[1], msg=view)


def test_the_memorys_losses_move_no_pattern_as_released() -> None:
    for trained in (False, True):
        method = crest(memory={"trained": trained})
        assert method.agt is not None
        assert method.agt.memory is not None
        recalled = method.views(INPUTS)[2]
        assert recalled is not None
        sum(method.agt.memory.losses(recalled).values()).backward()  # type: ignore[union-attr]
        assert (method.agt.memory.patterns.grad is not None) == trained
