"""A scratch project: params.yaml with one profile more, which is ``paper`` on stand-ins, cut short."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from recompose.tracks import TRACKS

PROFILE = "paper-on-stand-ins"
ROOT = Path(__file__).parents[2]
ARCHITECTURES = Path(__file__).parent / "architectures"  # of our own, in open_clip's form: as deep as it has to be
HALF_ON_GPUS = "16-mixed"  # a precision that CPUs do not train in


@dataclass(frozen=True)
class Scope:
    """What of the profile ``paper`` is carried out, and on what."""

    datasets: Mapping[str, Sequence[str]]  # track -> its data sets; tracks that are left out are not planned
    suites: Sequence[str]
    methods: Sequence[str]  # none: all
    threads: int
    gpu: bool
    clip: str | None  # an architecture in the place of each CLIP's own
    classifier: str | None  # the same of networks of torchvision
    grids: int | None = None  # pixels of the pictures that become grids, in place of the papers'
    variants: bool = True  # ablations and sweeps, too


def weights_file(architecture: str) -> str:
    """The name of a CLIP's random weights."""
    return f"{architecture}-random.safetensors"


def backbones_of(params: Mapping[str, Any], scope: Scope) -> dict[str, dict[str, Any]]:
    """The sections of the backbones that the scope's tracks name, with the architectures that it wants."""
    chosen = [params["profiles"]["paper"][track] for track in scope.datasets]
    roles = ("backbone", "other_backbone", "other_pretraining")
    names = {choice[role]: None for choice in chosen for role in roles if choice.get(role)}
    return {name: _with_architecture(dict(params["backbones"][name]), scope) for name in names}


def _with_architecture(section: dict[str, Any], scope: Scope) -> dict[str, Any]:
    wanted = scope.clip if "activation" in section else scope.classifier
    return {**section, "architecture": wanted or section["architecture"]}


def profile(
    params: Mapping[str, Any], scope: Scope, backbones: Mapping[str, Mapping[str, Any]], mirror: str
) -> dict[str, Any]:
    """The profile: the papers' settings with one seed and one epoch, everything from a mirror.

    Args:
        params: the document of params.yaml.
        scope: what it covers.
        backbones: the sections of its backbones, with the file of each one's weights.
        mirror: the address that names of files are appended to.
    """
    paper = params["profiles"]["paper"]
    precision = paper["trainer"]["precision"] if scope.gpu else "32-true"
    accelerator = "auto" if scope.gpu else "cpu"
    tracks = {track: _choice(params, track, scope) for track in ("czsl", "gzsl", "vlc")}
    from_mirror = {place: _mirrored(value, mirror) for place, value in _downloads(params, scope)}
    return {
        "based_on": "paper",
        "trainer": {"precision": precision, "threads": scope.threads, "accelerator": accelerator},
        **tracks,
        "override": {
            **from_mirror,
            **{f"backbones.{name}": _mirrored(section, mirror) for name, section in backbones.items()},
            **dict(_short(params, scope)),
        },
    }


def _choice(params: Mapping[str, Any], track: str, scope: Scope) -> dict[str, Any] | None:
    if track not in scope.datasets:
        return None
    known = params["profiles"]["paper"][track]["methods"]
    methods = [method for method in known if not scope.methods or method in scope.methods]
    others: dict[str, Any] = {"suites": list(scope.suites)} if track == "vlc" else {}
    if track == "gzsl" and scope.grids:
        others["grids"] = {**params["profiles"]["paper"][track]["grids"], "size": scope.grids}
    return {
        "datasets": list(scope.datasets[track]),
        "methods": methods,
        "leave_out": [] if scope.variants else list(TRACKS[track].variants),
        "seeds": [0],
        "variant_seeds": [0],
        **others,
    }


def _downloads(params: Mapping[str, Any], scope: Scope) -> Iterator[tuple[str, Any]]:
    """The parts of params.yaml that say what is downloaded, under their dotted places."""
    for track, names in scope.datasets.items():
        for name in names:
            for key, value in params[track]["datasets"][name].items():
                if key != "adapter":
                    yield f"{track}.datasets.{name}.{key}", value
    if "czsl" in scope.datasets:
        yield "czsl.feasibility.glove", params["czsl"]["feasibility"]["glove"]


def _mirrored(value: Any, mirror: str) -> Any:
    """The same with every address on the mirror. Where a digest is published it is another file's: stand-ins have
    none.
    """
    if isinstance(value, list):
        return [_mirrored(each, mirror) for each in value]
    if not isinstance(value, Mapping):
        return value
    if "urls" in value or "tag" in value:
        return {"file": value["file"], "urls": [f"{mirror}/{value['file']}"], "sha256": None}
    return {key: _mirrored(each, mirror) for key, each in value.items()}


def _short(params: Mapping[str, Any], scope: Scope) -> Iterator[tuple[str, Any]]:
    """One epoch wherever there are epochs, and no precision that the machine has not."""
    for track in scope.datasets:
        for place, settings in _trainings(params[track]["methods"], f"{track}.methods"):
            if "epochs" in settings:
                yield f"{place}.epochs", 1
            if settings.get("precision") == HALF_ON_GPUS and not scope.gpu:
                yield f"{place}.precision", "32-true"


def _trainings(section: Mapping[str, Any], place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key, value in section.items():
        if isinstance(value, Mapping):
            if key == "training":
                yield f"{place}.{key}", value
            else:
                yield from _trainings(value, f"{place}.{key}")


def read_params() -> dict[str, Any]:
    """The document of the project's params.yaml."""
    document: dict[str, Any] = YAML(typ="safe", pure=True).load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    return document


def write_params(folder: Path, added: Mapping[str, Any]) -> None:
    """Write into a scratch project the project's params.yaml with the profile, which is in force there."""
    yaml = YAML(typ="rt")
    yaml.width = 1000
    document = yaml.load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    document["profile"] = PROFILE
    document["profiles"][PROFILE] = dict(added)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "params.yaml").open("w", encoding="utf-8") as file:
        yaml.dump(document, file)
