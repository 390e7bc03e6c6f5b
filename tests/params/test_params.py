"""params.yaml: what is accepted, and what is said of mistakes."""

from collections.abc import Mapping
from typing import Any

import pytest

from recompose.errors import ParamsError
from recompose.params.documents import read_written
from recompose.params.loading import load_params
from recompose.params.schema import Params
from recompose.tracks import TRACKS
from recompose.tracks.czsl.catalogue import Czsl, CzslChoice
from tests.configuration import GONE, PROFILES, SHIPPED, params_text, parse_params, text_of
from tests.errors import raises

CSP = "czsl.methods.csp"
STUDY = "profiles.large.czsl"
DEMO = "profiles.demo.czsl"
PINNED = {
    f"{DEMO}.other_backbone": "shapes-resnet",
    "profiles.smoke.czsl": {"seeds": [0, 1]},
    "profiles.smoke.override": {
        f"{CSP}.training.epochs": 2,
        "czsl.datasets.shapes-pairs.images": {"train": 400, "val": 150, "test": 150},
    },
}
SCRATCH = "profiles.smoke.override.backbones.shapes-clip-from-scratch"
MINE, CGQA = {"based_on": "smoke"}, "czsl.datasets.cgqa"


def based_on(**profiles: str) -> dict[str, Any]:
    """Return profiles that are based on others."""
    return {f"profiles.{name}": {"based_on": other} for name, other in profiles.items()}


def text(values: Mapping[str, object] | None = None, profile: str = "demo") -> str:
    """Return the text of parameters with these values."""
    return params_text(profile, PINNED | dict(values or {}))


def parse(values: Mapping[str, object] | None = None, profile: str = "demo", edits: tuple[str, ...] = ()) -> Params:
    return parse_params(text(values), profile=profile, edits=edits)


def czsl(params: Params) -> Czsl:
    section = params.tracks["czsl"]
    assert isinstance(section, Czsl)
    return section


def choice(params: Params) -> CzslChoice:
    chosen = params.chosen.tracks["czsl"]
    assert isinstance(chosen, CzslChoice)
    return chosen


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_of_the_shipped_file_is_valid(profile: str) -> None:
    params = load_params(SHIPPED, TRACKS.forms, profile)
    assert all(choice.methods for choice in params.chosen.tracks.values())  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("values", "code", "place", "nearest"),
    [
        ({"profile": "dmo"}, "unknown-name", "profile", "demo"),
        ({f"{STUDY}.methods": ["chance", "cilp"]}, "unknown-name", f"{STUDY}.methods.1", "clip"),
        ({f"{CSP}.dropot": 0.3}, "unknown-key", f"{CSP}.dropot", "dropout"),
        ({f"{CSP}.dropout": GONE}, "missing-key", f"{CSP}.dropout", ""),
        ({f"{STUDY}.seeds": [0, 0]}, "wrong-value", f"{STUDY}.seeds", ""),
        ({f"{CSP}.per_dataset.ut-zapos": {}}, "unknown-name", f"{CSP}.per_dataset.ut-zapos", "ut-zappos"),
        ({f"{DEMO}.other_backbone": "resnet-101"}, "wrong-value", f"{DEMO}.other_backbone", "resnet-101"),  # no CLIP
        ({f"{DEMO}.backbone": "shape-clip"}, "unknown-name", f"{DEMO}.backbone", "shapes-clip"),
        ({f"{CGQA}.adapter": "compositoinal"}, "unknown-name", f"{CGQA}.adapter", "compositional"),
        ({f"{CGQA}.adapter": GONE}, "missing-key", f"{CGQA}.adapter", ""),
        ({"czls": {}}, "unknown-key", "czls", "czsl"),
        (based_on(mine="mine"), "circular-base", "profiles.mine.based_on", "mine on mine"),
        (based_on(a="b", b="c", c="b"), "circular-base", "profiles.c.based_on", "a on b on c on b"),
        (based_on(a="b", b="smok"), "unknown-name", "profiles.b.based_on", "smoke"),
    ],
)
def test_a_mistake_has_its_place_and_the_nearest_name(
    values: dict[str, Any], code: str, place: str, nearest: str
) -> None:
    with raises(ParamsError) as error:
        parse_params(text(values))
    assert (error.value.code, error.value.place) == (code, f"params.yaml: {place}"), error.value
    assert nearest in str(error.value)
    assert str(error.value).count("\n") == 0


@pytest.mark.parametrize(
    ("values", "place", "written"),
    [
        ({f"{CSP}.dropot": 0.3}, f"{CSP}.dropot", '"dropot": 0.3'),
        ({f"{CSP}.training": {}}, f"{CSP}.training.lr", '"training": {}'),
        ({"profiles.mine": {"based_on": "smoke", "override": {f"{CSP}.dropout": 7}}}, f"{CSP}.dropout", '.dropout": 7'),
        ({"profiles.mine": {"based_on": "smoke", "czsl": {"seeds": [-5]}}}, "profiles.mine.czsl.seeds.0", "-5"),
    ],
)
def test_a_mistake_has_the_line_where_the_value_is_written(values: dict[str, Any], place: str, written: str) -> None:
    whole = text({"profiles.mine": MINE, **values})
    line = next(number for number, line in enumerate(whole.splitlines(), 1) if written in line)
    with raises(ParamsError) as error:
        parse_params(whole, "mine")
    assert f"params.yaml:{line}: {place}: " in str(error.value)


def test_a_profile_takes_what_it_does_not_say_from_the_one_it_is_based_on() -> None:
    mine = {"based_on": "demo", "trainer": {"threads": 4}, "czsl": {"methods": ["csp", "clip"]}}
    params, demo = parse({"profiles.mine": mine}, "mine"), parse()
    assert params.chosen.based_on == "demo"
    assert params.chosen.trainer == demo.chosen.trainer.model_copy(update={"threads": 4})
    assert choice(params) == choice(demo).model_copy(update={"methods": ["csp", "clip"]})
    assert params.profiles["demo"].model_dump() == demo.chosen.model_dump()


def test_profiles_build_on_profiles_and_the_last_override_wins() -> None:
    override = {f"{CSP}.training.epochs": 7, "czsl.feasibility.vectors": "glove"}
    override |= {"czsl.datasets.shapes-pairs.images.val": 151}
    mine = {"based_on": "smoke", "czsl": {"seeds": [5]}, "override": override}
    params = parse({"profiles.mine": mine}, "mine")
    section, smoke = czsl(params), czsl(parse(profile="smoke"))
    assert choice(params).seeds == [5]
    assert choice(params).other_backbone == "shapes-resnet"
    assert section.settings("csp", "shapes-pairs").document()["training"]["epochs"] == 7
    assert section.settings("coop", "shapes-pairs").document() == smoke.settings("coop", "shapes-pairs").document()
    assert section.feasibility.vectors == "glove"
    assert section.datasets["shapes-pairs"].model_dump()["images"] == {"train": 400, "val": 151, "test": 150}


def test_a_profile_may_leave_a_track_out() -> None:
    params = parse({"profiles.mine": {"based_on": "demo", "czsl": None}}, "mine")
    assert list(params.chosen.tracks) == ["gzsl", "vlc"]
    assert list(params.tracks) == ["czsl", "gzsl", "vlc"]


def test_edits_change_the_text() -> None:
    edits = (
        "czsl.methods.csp.training.lr=1e-2",
        "profile=smoke",
        "profiles.smoke.override.czsl.methods.csp.training.epochs=9",
        "profiles.demo.czsl.variant_seeds=[4]",
    )
    params = parse(edits=edits)
    training = czsl(params).settings("csp", "shapes-pairs").document()["training"]
    assert (training["lr"], training["epochs"]) == (0.01, 9)
    assert choice(params).variant_seeds == [4]


@pytest.mark.parametrize(
    ("edit", "code", "place"),
    [
        (f"{CSP}.training.rl=1", "unknown-key", f"{CSP}.training.rl"),
        (f"{CSP}.training.lr", "no-edit", f"{CSP}.training.lr"),
        (f"{CSP}.training.lr=[", "no-yaml", f"{CSP}.training.lr=["),
        (f"{SCRATCH}.scene=1", "unknown-key", f"{SCRATCH.partition('override.')[2]}.scene"),
        ("profile=smke", "unknown-name", "profile"),
    ],
)
def test_edits_that_do_not_fit_are_errors(edit: str, code: str, place: str) -> None:
    with raises(ParamsError, code, place) as error:
        parse(profile="smoke", edits=(edit,))
    assert edit in str(error.value)


@pytest.mark.parametrize(
    ("method", "changed", "code", "place"),
    [
        ("duplex", {"training": {"epoch": 3}}, "unknown-key", "training.epoch"),
        ("duplex", {"scoring": {"closed": [1.0, 1.0]}}, "wrong-value", "scoring.closed"),
        ("clip", {"training": {"lr": 0.1}}, "unknown-key", "training"),
        ("clip", {"per_dataset": {"shapes-pairs": {}}}, "unknown-key", "per_dataset"),
        ("cps", {}, "unknown-name", "cps"),
    ],
)
def test_a_variant_that_does_not_fit_is_refused(method: str, changed: dict[str, object], code: str, place: str) -> None:
    with raises(ParamsError, code, place):
        czsl(parse()).settings(method, "shapes-pairs", changed).document()


def test_published_weights_that_may_hold_code_need_a_digest() -> None:
    def values(file: str) -> dict[str, Any]:
        weights = {"file": file, "urls": [f"https://example.org/{file}"], "sha256": None}
        return {"backbones.mine": {"architecture": "ViT-B-32", "activation": "gelu", "weights": weights}}

    assert "mine" in parse(values("model.safetensors")).backbones  # a form that holds no code
    with raises(ParamsError, "wrong-value", "backbones.mine.weights"):
        parse(values("model.pt"))


def test_a_mistake_in_what_a_plugin_brings_names_the_file_of_the_plugin() -> None:
    images = {"train": 200, "val": 100, "test": -120}
    entry: dict[str, object] = {"adapter": "shapes-pairs", "seed": 1, "images": images}
    addition = read_written(text_of({"czsl": {"datasets": {"mine": entry}}}), "mine/plugin.yaml")
    with raises(ParamsError) as error:
        parse_params(text(), additions=[addition])
    assert str(error.value).startswith("mine/plugin.yaml:10: czsl.datasets.mine.images.test: ")
    images["test"] = 120
    addition = read_written(text_of({"czsl": {"datasets": {"mine": entry}}}), "mine/plugin.yaml")
    with raises(ParamsError, "unknown-key", "mistyped") as error:
        parse_params(text({"mistyped": 1}), additions=[addition])
    assert "plugin.yaml" not in str(error.value)
