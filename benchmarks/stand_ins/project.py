"""The parameters of a scratch project: params.yaml with the profile ``paper`` on stand-ins, cut short."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from ruamel.yaml import YAML

from recompose.tracks import TRACKS

PROFILE = "paper-on-stand-ins"
ROOT = Path(__file__).parents[2]
ARCHITECTURES = Path(__file__).parent / "architectures"  # of our own, in open_clip's form: as deep as it has to be
HALF_ON_GPUS = "16-mixed"  # a precision that CPUs do not train in


@dataclass(frozen=True)
class Scope:
    """The part of the profile ``paper`` that runs, and its backbones."""

    datasets: Mapping[str, Sequence[str]]  # track -> its data sets; tracks that are left out are not planned
    methods: Sequence[str]  # none: all
    clip: str | None  # an architecture in the place of each CLIP's own
    classifier: str | None  # the same of networks of torchvision


def read_params() -> dict[str, Any]:
    """Return the document of the project's params.yaml."""
    document: dict[str, Any] = YAML(typ="safe", pure=True).load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    return document


def write_params(folder: Path, params: Mapping[str, Any], scope: Scope) -> None:
    """Write parameters into a scratch project, with the profile in force: the papers' settings with one seed, and
    without ablations and sweeps.
    """
    paper, gpu = params["profiles"]["paper"], torch.cuda.is_available()
    trainer = {
        "precision": paper["trainer"]["precision"] if gpu else "32-true",
        "threads": os.cpu_count(),
        "accelerator": "auto" if gpu else "cpu",
    }
    profile = {"based_on": "paper", "trainer": trainer} | {track: _choice(paper, track, scope) for track in TRACKS}
    tracks = {track: _shortened(params[track], gpu) for track in TRACKS}
    document = {**params, **tracks, "profile": PROFILE, "profiles": {**params["profiles"], PROFILE: profile}}
    with (folder / "params.yaml").open("w", encoding="utf-8") as file:
        YAML(typ="safe").dump(document, file)


def stand_in(file: str) -> dict[str, Any]:
    """Return the section of a file that is there: nothing is downloaded, and no digest is known."""
    return {"file": file, "urls": [f"http://127.0.0.1:9/{file}"], "sha256": None}


def _choice(paper: Mapping[str, Any], track: str, scope: Scope) -> dict[str, Any] | None:
    if track not in scope.datasets:
        return None
    return {
        "datasets": list(scope.datasets[track]),
        "methods": [method for method in paper[track]["methods"] if not scope.methods or method in scope.methods],
        "leave_out": list(TRACKS[track].variants),
        "seeds": [0],
        "variant_seeds": [0],
    }


def _shortened(value: Any, gpu: bool) -> Any:
    """Return parameters without addresses and digests of files, which stand-ins do not have, with one epoch wherever
    there are epochs, and no precision that the machine lacks.
    """
    if isinstance(value, list):
        return [_shortened(each, gpu) for each in value]
    if not isinstance(value, Mapping):
        return "32-true" if value == HALF_ON_GPUS and not gpu else value
    if "urls" in value or "tag" in value:
        return stand_in(value["file"])
    return {key: 1 if key == "epochs" else _shortened(each, gpu) for key, each in value.items()}
