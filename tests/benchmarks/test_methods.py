"""The step that benchmarks compare with the released computation: both compute the same."""

import pytest

from benchmarks.methods import SAME, Scale, step_ratio

TINY = Scale(
    "tiny",
    {
        "embed_dim": 32,
        "vision_cfg": {"image_size": 32, "patch_size": 16, "layers": 4, "width": 32, "head_width": 16},
        "text_cfg": {"context_length": 24, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2},
    },
    names=(3, 4),
    pairs=6,
    images=2,
    heads=2,
    steps=1,
)


@pytest.mark.parametrize("name", ["msci", "troika"])
def test_a_step_is_compared_at_equal_loss(name: str) -> None:
    theirs, ours, apart = step_ratio(name, TINY)
    assert theirs > 0 and ours > 0
    assert apart < SAME
