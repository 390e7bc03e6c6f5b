"""Losses of first epochs: a training is told from the same training elsewhere, and from another one."""

from pathlib import Path

import numpy as np
import pytest

from recompose.errors import LineageError
from recompose.report.losses import EPOCHS, FILE, MOVED, EpochLoss, EpochLosses, first_losses
from tests.errors import raises

RNG = np.random.default_rng(0)
SEEDS = 8
# measured on methods of the demo: between AVX2 with oneDNN and AVX-512 with torch's kernel, the relative difference of
# the losses of an epoch, as mean and deviation of its logarithm to base 10; and the change of the first epoch's loss at
# a learning rate that is 20 % higher, of the methods that it moves by more than the limit
DRIFTS = ((-6.9, 0.3), (-6.9, 0.4), (-6.4, 0.6))
EFFECTS = {
    "csp": 0.0189,
    "coop": 0.0076,
    "dfsp": 0.0231,
    "c-s-o": 0.0189,
    "troika": 0.0357,
    "msci": 0.0357,
    "duplex": 0.016,
    "crest": 0.0238,
    "transzero": 0.0283,
    "fsc-clip": 0.0121,
    "negclip": 0.0136,
    "clip-ft": 0.0094,
    "clip-cae": 0.0079,
}
LOG = """\
18:58:58  data are read
18:59:00  sje, seed 1, selection: epoch 1/5, 4.25/s, 0:00:03 left, loss 4.409, cross_entropy 4.1, accuracy 0.2
18:59:01  sje, seed 1, selection: epoch 2/5, 4.27/s, 0:00:02 left, val_loss 9.1, loss 4.221e-01
18:59:02  sje, seed 1: resuming from the last whole epoch
18:59:03  sje, seed 1, selection: epoch 2/5, 4.27/s, 0:00:02 left, hinge_loss 9.2, loss -0.3999, accuracy 0.3
18:59:04  sje, seed 1, selection: epoch 3/5, 3.95/s, 0:00:02 left, loss nan
18:59:05  sje, seed 1, selection: epoch 4/5, 3.95/s, 0:00:02 left, loss 1.5
18:59:06  sje, seed 1, final: epoch 1/5, 3.95/s, 0:00:02 left, loss 7.7
18:59:06  sje, seed 12, selection: epoch 3/5, 3.95/s, 0:00:02 left, loss 8.8
"""


def epoch_losses(losses: dict[tuple[str, int], list[float]]) -> EpochLosses:
    """The losses of methods by name and seed, as a file would give them."""
    lines = [
        EpochLoss(track="czsl", dataset="pairs", name=name, seed=seed, epoch=epoch, loss=float(f"{loss:.4g}"))
        for (name, seed), values in losses.items()
        for epoch, loss in enumerate(values, start=1)
    ]
    return EpochLosses.parse(EpochLosses(tuple(lines)).text, FILE)


def test_a_log_gives_the_first_epochs_of_the_first_training_once() -> None:
    assert first_losses("sje, seed 1", LOG) == {1: 4.409, 2: -0.3999}
    assert first_losses("sje, seed 2", LOG) == {}


def test_what_is_written_is_read_and_a_broken_line_is_named(tmp_path: Path) -> None:
    assert EpochLosses.read(tmp_path) == EpochLosses()
    losses = epoch_losses({("csp", 0): [4.4, -1.2], ("msci", 1): [3.0]})
    (tmp_path / FILE).write_text(losses.text)
    assert EpochLosses.read(tmp_path) == losses
    (tmp_path / FILE).write_text(losses.text + "czsl,pairs,csp,0,0,1.0\n")
    with raises(LineageError, "no-losses") as error:
        EpochLosses.read(tmp_path)
    assert error.value.place == f"{tmp_path / FILE}:5"


def test_trainings_of_both_sides_are_compared_by_method() -> None:
    then = {("csp", 0): [4.0, 2.0], ("csp", 1): [4.0, 2.0], ("msci", 0): [1.0], ("then", 0): [9.0]}
    now = then | {
        ("csp", 1): [5.0, 2.0, 1.0],
        ("csp", 0): [4.0, 3.0],
        ("msci", 0): [1.0 + MOVED / 2],
        ("now", 0): [1.0],
    }
    del now["then", 0]
    (difference,) = epoch_losses(then).differences(epoch_losses(now))
    assert (difference.name, difference.dataset) == ("csp", "pairs")
    assert (difference.runs, difference.differing, difference.largest) == (2, 1, 0.2)
    assert epoch_losses(then).differences(epoch_losses(then)) == []


def drifted(losses: list[float]) -> list[float]:
    """The losses on another processor, which is ten times further off than those that were measured."""
    signs = RNG.choice([-1, 1], len(losses))
    drifts = (
        sign * 10 ** RNG.normal(mean + 1, deviation) for sign, (mean, deviation) in zip(signs, DRIFTS, strict=True)
    )
    return [loss * (1 + drift) for loss, drift in zip(losses, drifts, strict=True)]


@pytest.mark.slow
def test_another_processor_raises_no_alarm_in_1000_methods() -> None:
    losses = {
        (f"m{number}", seed): list(RNG.uniform(0.1, 10, EPOCHS)) for number in range(1000) for seed in range(SEEDS)
    }
    elsewhere = {training: drifted(values) for training, values in losses.items()}
    assert epoch_losses(losses).differences(epoch_losses(elsewhere)) == []


def test_a_rate_that_is_a_fifth_higher_is_found_of_these_methods_also_elsewhere() -> None:
    then = {(name, 0): list(RNG.uniform(0.1, 10, EPOCHS)) for name in EFFECTS}
    now = {(name, 0): drifted([then[name, 0][0] * (1 + EFFECTS[name]), 9.9, 9.9]) for name in EFFECTS}
    found = epoch_losses(then).differences(epoch_losses(now))
    assert {difference.name for difference in found} == EFFECTS.keys()


def trained(rate: float, order: np.ndarray, epochs: int = EPOCHS) -> list[float]:
    """The mean loss of each epoch of a softmax regression in 32 bits, whose sums are taken in an order."""
    draw = np.random.default_rng(1)
    inputs = draw.normal(size=(512, 64)).astype(np.float32)
    labels = (inputs @ draw.normal(size=(64, 10))).argmax(axis=1)
    inputs, weights, losses = inputs[:, order], np.zeros((64, 10), np.float32), []
    for _ in range(epochs):
        total = 0.0
        for rows in np.split(np.arange(512), 8):
            logits = inputs[rows] @ weights
            scores = np.exp(logits - logits.max(axis=1, keepdims=True))
            chances = scores / scores.sum(axis=1, keepdims=True)
            total += float(-np.log(chances[np.arange(64), labels[rows]]).mean())
            chances[np.arange(64), labels[rows]] -= 1
            weights -= np.float32(rate) * inputs[rows].T @ chances / 64
        losses.append(total / 8)
    return losses


@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_a_real_training_in_another_order_of_sums_is_the_same_and_another_rate_is_not(factor: float) -> None:
    order = np.arange(64)
    then = trained(0.5, order)
    elsewhere = trained(0.5, order[::-1].copy())
    assert then != elsewhere  # in their last digits
    assert then[0] == pytest.approx(elsewhere[0], rel=1e-3)
    now = epoch_losses({("softmax", 0): elsewhere, ("changed", 0): trained(0.5 * factor, order)})
    (difference,) = epoch_losses({("softmax", 0): then, ("changed", 0): then}).differences(now)
    assert difference.name == "changed"
