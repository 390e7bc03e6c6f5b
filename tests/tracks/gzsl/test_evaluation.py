"""Evaluations of foreign runs."""

from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import save_file

from recompose.errors import CheckpointError
from recompose.tracks.building import CHECKPOINT, TypedSettings
from recompose.tracks.gzsl.building import build_method
from recompose.tracks.gzsl.data.stages import final_stage
from recompose.tracks.gzsl.evaluation import evaluate
from tests.errors import raises
from tests.tracks.czsl.tiny import CPU
from tests.tracks.gzsl.tiny import BILINEAR, CHANNELS, class_data, document, grids_of, write

ALE = "ale_devise_sje:ALE"
STANDARD = BILINEAR | {"normalisation": "standard"}  # has buffers for it
TOLD: dict[str, Any] = {"threads": 1, "save": []}


@pytest.mark.parametrize(
    ("settings", "channels", "code"),
    [(STANDARD, CHANNELS, "other-parameters"), (BILINEAR, 3, "other-sizes")],
)
def test_a_run_of_other_settings_or_of_other_grids_is_refused(
    settings: dict[str, Any], channels: int, code: str, tmp_path: Path
) -> None:
    data = class_data()
    needs = write(tmp_path, data, grids_of(data)) | {"run": tmp_path / "run"}
    needs["run"].mkdir()
    stage = final_stage(data)
    other = build_method(TypedSettings(document(ALE, settings)), data, channels, stage.classes, stage.seen)
    save_file({f"method.{name}": tensor for name, tensor in other.state_dict().items()}, needs["run"] / CHECKPOINT)
    (tmp_path / "evaluation").mkdir()
    told = document(ALE, BILINEAR | {"scoring": {"bias": 0.1}}) | TOLD
    with raises(CheckpointError, code):
        evaluate(told, needs, tmp_path / "evaluation", CPU, "an evaluation")
    assert not [*(tmp_path / "evaluation").iterdir()]
