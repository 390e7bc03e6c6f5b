"""The contrast of images with captions and with hard negatives, global and local, against plain loops, and their
gradients against finite differences of these loops.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import cosine_similarity

from recompose.errors import ArgumentError
from recompose.tracks.vlc import losses
from recompose.tracks.vlc.losses import Missing
from recompose.tracks.vlc.methods import clip_cae, fsc_clip, negclip
from recompose.tracks.vlc.methods.fsc_clip import Weights
from recompose.tracks.vlc.methods.negclip import Target
from tests.errors import raises
from tests.precision import assert_close
from tests.tracks.loops import Rows, assert_value_and_gradients, cosine, dot, normal, softmax

VALID = [[True, True, False], [False, False, False], [False, True, True], [True, True, True]]
valid_negatives = torch.tensor(VALID)
MISSING: Sequence[Missing] = get_args(Missing)
WEIGHTS: Sequence[Weights] = get_args(Weights)
SCALE = np.array([3.0])


def tensor(seed: int, *shape: int) -> Tensor:
    return torch.tensor(normal(seed, *shape))


# the contrast of images with captions


def contrast_by_loop(images: Rows, texts: Rows, others: Rows, zeros: int, scale: list[float]) -> float:
    """Others are further captions of images, and so are as many as zeros that have a logit of 0."""
    total = 0.0
    for pair in range(len(images)):
        captions = [scale[0] * cosine(images[pair], text) for text in [*texts, *others]] + zeros * [0.0]
        pictures = [scale[0] * cosine(image, texts[pair]) for image in images]
        total -= math.log(softmax(captions)[pair]) / 2 + math.log(softmax(pictures)[pair]) / 2
    return total / len(images)


def test_the_contrast_and_its_gradients_are_the_loop_s() -> None:
    assert_value_and_gradients(
        losses.contrastive_loss,
        lambda images, texts, scale: contrast_by_loop(images, texts, [], 0, scale),
        [normal(0, 4, 3), normal(1, 4, 3), SCALE],
    )


@pytest.mark.parametrize("missing", MISSING)
def test_the_contrast_with_negatives_and_its_gradients_are_the_loop_s(missing: Missing) -> None:
    zeros = sum(not exists for row in VALID for exists in row) if missing == "zero" else 0
    assert_value_and_gradients(
        lambda images, texts, negatives, scale: losses.contrastive_loss_with_negatives(
            images, texts, negatives, valid_negatives, scale, missing=missing
        ),
        lambda images, texts, negatives, scale: contrast_by_loop(images, texts, negatives, zeros, scale),
        [normal(2, 4, 3), normal(3, 4, 3), normal(4, 7, 3), SCALE],
    )


# the contrast of a caption with its hard negatives


def selective_by_loop(
    captions: list[float], negatives: list[float], valid: list[list[bool]], gamma: float, beta: float, missing: str
) -> float:
    """The loss of logits of captions and of their negatives."""
    rows, ahead = [], list(negatives)
    for caption, mask in zip(captions, valid, strict=True):
        logits = {0: caption}
        for kind, exists in enumerate(mask, start=1):
            if exists:
                logits[kind] = ahead.pop(0)
            elif missing == "zero":
                logits[kind] = 0.0
        if not any(mask):
            continue
        probabilities = dict(zip(logits, softmax(list(logits.values())), strict=True))
        counted = [0] + [kind for kind, exists in enumerate(mask, start=1) if exists]
        loss = 0.0
        for kind in counted:
            label = beta / len(counted) + (1 - beta if kind == 0 else 0)
            loss -= label * (1 - probabilities[kind]) ** gamma * math.log(probabilities[kind])
        rows.append(loss)
    assert not ahead
    return sum(rows) / len(rows) if rows else 0.0


def images_of(valid: list[list[bool]]) -> list[int]:
    return [image for image, row in enumerate(valid) for exists in row if exists]


def hard_negatives_by_loop(
    images: Rows, texts: Rows, negatives: Rows, scale: list[float], valid: list[list[bool]], *options: Any
) -> float:
    captions = [scale[0] * cosine(image, text) for image, text in zip(images, texts, strict=True)]
    others = [
        scale[0] * cosine(images[image], negative) for image, negative in zip(images_of(valid), negatives, strict=True)
    ]
    return selective_by_loop(captions, others, valid, *options)


@settings(max_examples=30, derandomize=True)  # differences are coarse where vectors are short
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.lists(st.booleans(), min_size=2, max_size=2), min_size=1, max_size=4),
    st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]),
    st.sampled_from([0.0, 0.02, 0.3, 1.0]),
    st.sampled_from(MISSING),
)
def test_the_loss_of_hard_negatives_and_its_gradients_are_the_loop_s(
    seed: int, valid: list[list[bool]], gamma: float, beta: float, missing: Missing
) -> None:
    mask = torch.tensor(valid)
    assert_value_and_gradients(
        lambda *features: fsc_clip.hard_negative_loss(*features[:3], mask, features[3], gamma, beta, missing=missing),
        lambda *rows: hard_negatives_by_loop(*rows, valid, gamma, beta, missing),
        [normal(seed, len(valid), 3), normal(seed + 1, len(valid), 3), normal(seed + 2, int(mask.sum()), 3), SCALE],
    )


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("kinds", [0, 2])
def test_a_batch_without_negatives_has_a_loss_and_gradients_of_0(kinds: int, missing: Missing) -> None:
    images, texts, scale = (
        one.requires_grad_() for one in (tensor(17, 2, 4, 3), tensor(18, 2, 5, 3), torch.tensor(3.0))
    )
    valid = torch.zeros(2, kinds, dtype=torch.bool)
    mask = torch.ones(2, 5, dtype=torch.bool)
    features = images[:, 0], texts[:, 0], texts[:0, 0], valid, scale
    total = fsc_clip.hard_negative_loss(*features, 2.0, 0.02, missing=missing)
    total = total + negclip.cross_modal_rank_loss(*features, torch.ones(kinds))
    total = total + sum(negclip.intra_modal_loss(*features, target) for target in get_args(Target))
    local = images, texts, mask, texts[:0], mask[:0], valid, scale
    total = total + fsc_clip.local_hard_negative_loss(*local, 2.0, 0.02, missing=missing)
    total.backward()
    assert total.item() == 0
    for one in (images, texts, scale):
        assert one.grad is not None and (one.grad == 0).all()


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0])
def test_losses_and_gradients_are_finite_where_probabilities_are_0_and_1(gamma: float, missing: Missing) -> None:
    images = torch.eye(4, requires_grad=True)
    texts = torch.eye(4) * torch.tensor([1.0, 1.0, -1.0, 1.0])
    negatives = torch.eye(4)[images_of(VALID)] * torch.tensor([-1.0, -1, 1, 1, -1, 1, -1])[:, None]
    loss = fsc_clip.hard_negative_loss(images, texts, negatives, valid_negatives, 100.0, gamma, 0.02, missing=missing)
    loss.backward()
    assert loss.isfinite() and loss > 0
    assert images.grad is not None and images.grad.isfinite().all()


# patches and tokens

KINDS = [[True, True], [False, True], [False, False]]
valid_texts = torch.tensor(KINDS)
MASK = [[False, True, True, False, False], [False, True, True, True, True], [False, True, False, False, False]]
NEGATIVE_MASK = [[False, True, True, True, False], [False, True, False, False, False], [False, False, True, True, True]]
text_mask, negative_mask = torch.tensor(MASK), torch.tensor(NEGATIVE_MASK)
Tokens = list[Rows]  # [texts or images, tokens or patches, width]


def weights_by_loop(patches: Rows, token: list[float], weights: str) -> list[float]:
    similarities = [dot(patch, token) for patch in patches]
    if weights == "softmax":
        return softmax(similarities)
    low, high = min(similarities), max(similarities)
    shares = [(one - low) / (high - low) for one in similarities]
    if weights == "sparse":
        shares = [share if share >= 1 / len(patches) else 0.0 for share in shares]
    return [share / sum(shares) for share in shares]


def all_weights_by_loop(images: Tokens, texts: Tokens, weights: str) -> list[Rows]:
    return [
        [weights_by_loop(patches, token, weights) for token in tokens]
        for patches, tokens in zip(images, texts, strict=True)
    ]


def scores_by_loop(
    images: Tokens, texts: Tokens, mask: list[list[bool]], scale: float, all_weights: list[Rows]
) -> list[float]:
    scores = []
    for patches, tokens, counted, weights in zip(images, texts, mask, all_weights, strict=True):
        total = 0.0
        for token, counts, shares in zip(tokens, counted, weights, strict=True):
            if counts:
                aligned = [
                    sum(share * patch[d] for share, patch in zip(shares, patches, strict=True))
                    for d in range(len(token))
                ]
                total += math.exp(scale * cosine(aligned, token))
        scores.append(math.log(total))
    return scores


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("gamma", "beta"), [(0.0, 0.0), (2.0, 0.02)])
def test_the_local_loss_and_its_gradients_are_the_loop_s_with_weights_that_stay(
    gamma: float, beta: float, weights: Weights, missing: Missing
) -> None:
    images, texts, negatives = normal(19, 3, 4, 3), normal(20, 3, 5, 3), normal(21, 3, 5, 3)
    places = images_of(KINDS)
    of_texts = all_weights_by_loop(images.tolist(), texts.tolist(), weights)
    of_negatives = all_weights_by_loop(images[places].tolist(), negatives.tolist(), weights)

    def loop(images: Tokens, texts: Tokens, negatives: Tokens, scale: list[float]) -> float:
        captions = scores_by_loop(images, texts, MASK, scale[0], of_texts)
        pictures = [images[place] for place in places]
        others = scores_by_loop(pictures, negatives, NEGATIVE_MASK, scale[0], of_negatives)
        return selective_by_loop(captions, others, KINDS, gamma, beta, missing)

    def loss(images: Tensor, texts: Tensor, negatives: Tensor, scale: Tensor) -> Tensor:
        features = images, texts, text_mask, negatives, negative_mask, valid_texts
        return fsc_clip.local_hard_negative_loss(*features, scale, gamma, beta, weights, missing=missing)

    assert_value_and_gradients(loss, loop, [images, texts, negatives, SCALE])


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 4), st.sampled_from(WEIGHTS))
def test_weights_of_patches_and_scores_are_the_loops_whatever_the_sizes(
    seed: int, patches: int, tokens: int, weights: Weights
) -> None:
    images, texts = normal(seed, 2, patches, 3), normal(seed + 1, 2, tokens, 3)
    mask = np.random.default_rng(seed).random((2, tokens)) < 0.5
    mask[:, 0] = True
    expected = all_weights_by_loop(images.tolist(), texts.tolist(), weights)
    np.testing.assert_allclose(
        fsc_clip.patch_weights(torch.tensor(images), torch.tensor(texts), weights), expected, atol=1e-12
    )
    scores = fsc_clip.local_scores(torch.tensor(images), torch.tensor(texts), torch.tensor(mask), 2.0, weights)
    by_loop = scores_by_loop(images.tolist(), texts.tolist(), mask.tolist(), 2.0, expected)
    np.testing.assert_allclose(scores, by_loop, rtol=1e-9)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_patches_that_a_token_does_not_tell_apart_weigh_alike(weights: Weights) -> None:
    same = tensor(22, 1, 1, 3).expand(1, 4, 3)
    np.testing.assert_allclose(fsc_clip.patch_weights(same, tensor(23, 1, 2, 3), weights), np.full((1, 2, 4), 0.25))
    for images, texts in [(same[:, :1], tensor(24, 1, 2, 3)), (tensor(25, 1, 4, 3), torch.zeros(1, 2, 3).double())]:
        images = images.clone().requires_grad_()
        score = fsc_clip.local_scores(images, texts, torch.ones(1, 2, dtype=torch.bool), 3.0, weights)
        score.backward()
        assert score.isfinite().all() and images.grad is not None and images.grad.isfinite().all()


def local_loss(
    images: Tensor, texts: Tensor, mask: Tensor, negatives: Tensor, others: Tensor, weights: Weights = "minmax"
) -> Tensor:
    return fsc_clip.local_hard_negative_loss(
        images, texts, mask, negatives, others, valid_texts, 3.0, 2.0, 0.02, weights
    )


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3), st.sampled_from(WEIGHTS))
def test_tokens_that_are_padding_change_nothing(seed: int, more: int, weights: Weights) -> None:
    images, texts, negatives = tensor(seed, 3, 4, 3), tensor(seed + 1, 3, 5, 3), tensor(seed + 2, 3, 5, 3)
    loss = local_loss(images, texts, text_mask, negatives, negative_mask, weights)
    padded = []
    for tokens, mask in ((texts, text_mask), (negatives, negative_mask)):
        others = torch.where(mask[..., None], tokens, 100 * tensor(seed + 3, 3, 5, 3))
        padded.append(torch.cat([others, tensor(seed + 4, 3, more, 3)], dim=1).requires_grad_())
        padded.append(torch.cat([mask, torch.zeros(3, more, dtype=torch.bool)], dim=1))
    with_padding = local_loss(images, padded[0], padded[1], padded[2], padded[3], weights)
    assert with_padding.item() == pytest.approx(loss.item(), rel=1e-12)
    with_padding.backward()
    for tokens, mask in (padded[:2], padded[2:]):
        assert tokens.grad is not None and (tokens.grad[~mask] == 0).all()
    assert padded[2].grad is not None and (padded[2].grad[padded[3]] != 0).any()


# CE-CLIP's contrast of captions with negatives, and ranks


def matching(rows: Rows) -> dict[tuple[int, int], list[float]]:
    """Negatives by caption and kind."""
    left = iter(rows)
    return {(i, k): next(left) for i, row in enumerate(VALID) for k, exists in enumerate(row) if exists}


def intra_modal_loop(images: Rows, texts: Rows, negatives: Rows, scale: Rows, target: Target) -> float:
    (tau,) = scale[0]
    total = 0.0
    for image, text in zip(images, texts, strict=True):
        logits = [tau * cosine(text, negative) for negative in negatives]
        if target == "own":
            logits.insert(0, tau * cosine(image, text))
        total -= math.log(softmax(logits)[0])
    return total / len(texts)


@pytest.mark.parametrize("target", get_args(Target))
def test_captions_are_contrasted_with_all_negatives(target: Target) -> None:
    def loss(*features: Tensor) -> Tensor:
        own = negclip.intra_modal_loss(*features[:3], valid_negatives, features[3].squeeze(), target)
        return own + 0 * features[0].sum()  # images, which take no part in that of the first negative

    matrices = [normal(1, 4, 3), normal(2, 4, 3), normal(3, 7, 3), SCALE[None]]
    assert_value_and_gradients(loss, lambda *rows: intra_modal_loop(*rows, target), matrices)


def rank_loop(images: Rows, texts: Rows, negatives: Rows, scale: Rows, thresholds: list[float]) -> float:
    (tau,) = scale[0]
    total = 0.0
    for (i, k), negative in matching(negatives).items():
        lead = tau * cosine(images[i], texts[i]) - tau * cosine(images[i], negative)
        total += max(0.0, thresholds[k] - lead)
    return total / (len(VALID) * len(VALID[0]))


@pytest.mark.parametrize("thresholds", [[0.0, 0.0, 0.0], [2.0, 0.5, 4.0]])
def test_captions_are_ranked_above_their_negatives(thresholds: list[float]) -> None:
    assert_value_and_gradients(
        lambda images, texts, negatives, scale: negclip.cross_modal_rank_loss(
            images, texts, negatives, valid_negatives, scale.squeeze(), torch.tensor(thresholds).double()
        ),
        lambda images, texts, negatives, scale: rank_loop(images, texts, negatives, scale, thresholds),
        [normal(4, 4, 3), normal(5, 4, 3), normal(6, 7, 3), SCALE[None]],
    )


@pytest.mark.parametrize("highest", [0.5, 100.0])
def test_thresholds_are_mean_leads_within_limits(highest: float) -> None:
    images, texts, negatives = (normal(seed, rows, 3).tolist() for seed, rows in ((7, 4), (8, 4), (9, 7)))
    positives = [5.0 * cosine(image, text) for image, text in zip(images, texts, strict=True)]
    expected = []
    for kind in range(3):
        logits = [5.0 * cosine(images[i], one) for (i, k), one in matching(negatives).items() if k == kind]
        expected.append(min(max(sum(positives) / 4 - sum(logits) / len(logits), 0.0), highest))
    features = [torch.tensor(each, dtype=torch.float64) for each in (images, texts, negatives)]
    before = torch.full((3,), 7.0, dtype=torch.float64)
    result = negclip.rank_thresholds(*features, valid_negatives, 5.0, before, highest)
    assert_close(result, torch.tensor(expected, dtype=torch.float64))


def test_the_threshold_of_a_kind_without_negatives_stays_and_one_negative_is_a_mean() -> None:
    one = torch.tensor([[True, False], [False, False]])
    images, texts, negatives = tensor(1, 2, 3), tensor(2, 2, 3), tensor(3, 1, 3)
    before = torch.tensor([9.0, 7.0], dtype=torch.float64)
    lead = (cosine_similarity(images, texts).mean() - cosine_similarity(images[:1], negatives)).item()
    assert lead > 0
    assert negclip.rank_thresholds(images, texts, negatives, one, 1.0, before, 10.0).tolist() == pytest.approx(
        [lead, 7.0]
    )


# CLIP-CAE's attribution


def attribution_by_loop(scores: Rows, objects: list[list[bool]], composition: list[list[bool]], margin: float) -> float:
    terms = []
    for row, *masks in zip(scores, objects, composition, strict=True):
        ones, others = ([score for score, counts in zip(row, mask, strict=True) if counts] for mask in masks)
        if ones and others:
            terms.append(max(sum(ones) / len(ones) - sum(others) / len(others) + margin, 0.0))
    return sum(terms) / len(terms) if terms else 0.0


@pytest.mark.parametrize(
    ("margin", "first", "complete"), [(0.0, 0, 8), (0.3, 0, 8), (-0.2, 7, 2), (0.3, 8, 1), (0.3, 9, 0)]
)
def test_the_loss_of_attribution_and_its_gradient_are_the_loop_s(margin: float, first: int, complete: int) -> None:
    objects, composition = (np.random.default_rng(seed).random((9, 6)) < 0.3 for seed in (3, 4))
    order = [*range(first, 9), 2]  # the third caption has no token of one kind
    objects, composition = objects[order], composition[order]
    assert (objects.any(axis=1) & composition.any(axis=1)).sum() == complete
    assert_value_and_gradients(
        lambda scores: clip_cae.attribution_loss(scores, torch.tensor(objects), torch.tensor(composition), margin),
        lambda scores: attribution_by_loop(scores, objects.tolist(), composition.tolist(), margin),
        [normal(10, len(order), 6)],
    )


# bad input

FEATURES, TOKENS, ALL = torch.eye(2), torch.ones(2, 4, 3), torch.ones(2, 1, dtype=torch.bool)
TOKEN_MASK = torch.ones(2, 4, dtype=torch.bool)
LAST_EMPTY = torch.tensor([[True] * 4, [False] * 4])
WRONG: list[tuple[str, Callable[[], Any]]] = [  # the argument that is at fault
    ("text_features", lambda: losses.contrastive_loss(FEATURES, FEATURES[:1], 1.0)),
    ("negative_features", lambda: losses.contrastive_loss_with_negatives(FEATURES, FEATURES, FEATURES[:1], ALL, 1.0)),
    ("valid", lambda: fsc_clip.hard_negative_loss(FEATURES, FEATURES, FEATURES, ALL.int(), 1.0)),
    ("text_mask", lambda: fsc_clip.local_scores(TOKENS, TOKENS, LAST_EMPTY, 1.0)),
    ("text_mask", lambda: fsc_clip.local_scores(TOKENS, TOKENS, TOKEN_MASK.int(), 1.0)),
    ("text_tokens", lambda: fsc_clip.local_scores(TOKENS, TOKENS[:1], TOKEN_MASK, 1.0)),
    ("text_tokens", lambda: fsc_clip.local_scores(TOKENS, TOKENS[..., :2], TOKEN_MASK, 1.0)),
    ("mask", lambda: clip_cae.attribution_loss(TOKENS[..., 0], TOKEN_MASK.int(), TOKEN_MASK)),
]


@pytest.mark.parametrize(("place", "call"), WRONG)
def test_bad_input_is_named(place: str, call: Callable[[], Any]) -> None:
    with raises(ArgumentError, place=place):
        call()
