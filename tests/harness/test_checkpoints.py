"""Released weights, and runs as checkpoints: the options that they take, and runs of other versions of the code."""

from pathlib import Path
from typing import Any

import pytest

from recompose.errors import DataError
from recompose.harness.checkpoints import ModelWeights, StoredRun, load_model
from tests.errors import raises
from tests.tracks.vlc.tiny import CLIP_FT, FULL, document


def weights_of(run: dict[str, Any]) -> ModelWeights:
    return ModelWeights("the run", Path("checkpoint.safetensors"), "", "gelu", run=StoredRun(run, {}))


@pytest.mark.parametrize(
    "changed",
    [
        {"class": "recompose.tracks.vlc.methods.gone.model:Gone"},
        {"class": "recompose.tracks.vlc.methods.clip_ft:ClipFt"},
        {"settings": {"tuning": "full"}},
        {"settings": FULL | {"momentum": 0.9}},
    ],
    ids=["no module", "no class", "without a setting", "another setting"],
)
def test_a_run_of_other_code_has_to_be_trained_again(changed: dict[str, Any]) -> None:
    with raises(DataError, "outdated-run", "checkpoint.safetensors"):
        load_model("tiny-clip", weights_of(document(CLIP_FT) | changed), "gelu")


def test_a_run_has_one_activation_and_a_file_no_share_of_training() -> None:
    with raises(DataError, "other-activation", "the run"):
        load_model("tiny-clip", weights_of(document(CLIP_FT)), "quick_gelu")
    with raises(DataError, "no-run", "--alpha"):
        load_model("tiny-clip", ModelWeights("w.pt", Path("w.pt"), "", "gelu"), "gelu", alpha=0.5)
