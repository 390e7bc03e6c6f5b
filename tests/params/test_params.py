"""params.yaml: what is accepted, and what is said of mistakes."""

import subprocess
import sys
from pathlib import Path

import pytest

from recompose.errors import RecomposeError
from recompose.params import Params, ParamsError, load_params
from recompose.params import parse_params as parse_params_of
from recompose.tracks import FORMS as TRACKS
from recompose.tracks.czsl.params import Czsl, CzslChoice

TEXT = (Path(__file__).parents[2] / "params.yaml").read_text()
OF_PROFILE = TEXT[: TEXT.index("\nprofile: ")].count("\n") + 2  # the line that chooses one
BEHIND_SEED_7 = TEXT[: TEXT.index("seed: 7")].count("\n") + 2  # the line behind it


def parse_params(text: str = TEXT, profile: str | None = None, edits: tuple[str, ...] = ()) -> Params:
    return parse_params_of(text, TRACKS, profile=profile, edits=edits)


def czsl(params: Params) -> Czsl:
    section = params.tracks["czsl"]
    assert isinstance(section, Czsl)
    return section


def choice(params: Params) -> CzslChoice:
    chosen = params.chosen.tracks["czsl"]
    assert isinstance(chosen, CzslChoice)
    return chosen


def said_of(text: str = TEXT, profile: str | None = None, edits: tuple[str, ...] = ()) -> str:
    with pytest.raises(ParamsError) as error:
        parse_params(text, profile, edits)
    return str(error.value)


def wrong(old: str, new: str) -> str:
    assert old in TEXT
    return said_of(TEXT.replace(old, new))


def with_profiles(lines: str) -> str:
    """The text with these profiles, too."""
    return TEXT.replace("\n  demo:\n", f"\n{lines}  demo:\n", 1)


@pytest.mark.parametrize("profile", ["study", "demo", "smoke", "paper"])
def test_every_profile_of_the_committed_file_is_valid(profile: str) -> None:
    params = parse_params(TEXT.replace("profile: demo", f"profile: {profile}"))
    assert choice(params).methods


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "profile: demo",
            "profile: dmo",
            "profile: 'dmo' is not allowed; the nearest is 'demo'; allowed: study, demo, smoke, paper",
        ),
        (
            "[chance, clip, coop, csp, gipcol, dfsp, c-s-o, troika, msci, duplex]",
            "[chance, cilp]",
            "profiles.study.czsl.methods.1: 'cilp' is not allowed; the nearest is 'clip'",
        ),
        ("datasets: [shapes-pairs]", "datasets: [shape-pairs]", "the nearest is 'shapes-pairs'"),
        (
            "    dropout: 0.1",
            "    dropot: 0.3",
            "czsl.methods.csp.dropot: there is no key 'dropot'; the nearest is 'dropout'",
        ),
        ("    dropout: 0.1", "    dropot: 0.3", "czsl.methods.csp.dropout: this key is missing"),
        ("    dropout: 0.1", "    dropout: 1.0", "czsl.methods.csp.dropout: input should be less than 1, not 1.0"),
        (
            "    dropout: 0.1",
            "    dropout: a bit",
            "czsl.methods.csp.dropout: input should be a valid number, not 'a bit'",
        ),
        ("    dropout: 0.1", "    dropout: .nan", "czsl.methods.csp.dropout: input should be a finite number"),
        ("    csp:\n", "    cps:\n", "czsl.methods.cps: there is no key 'cps'; the nearest is 'csp'"),
        (
            "seeds: [0, 1, 2, 3, 4, 5]",
            "seeds: [0, 0]",
            "profiles.study.czsl.seeds: value error, the items must be distinct; repeated: 0",
        ),
        (
            "seeds: [0, 1, 2, 3, 4, 5]",
            "seeds: [20261121]",
            "profiles.study.czsl.seeds.0: input should be less than 100000",
        ),
        ("devices: 1}", "devices: two}", "profiles.study.trainer.devices: "),
        (
            "vectors: backbone",
            "vectors: glov",
            "czsl.feasibility.vectors: 'glov' is not allowed; the nearest is 'glove'",
        ),
        ("a photo of {name}", "a photo of {state}", "czsl.feasibility.prompt: string should match pattern"),
        ("seeds: [0, 1, 2, 3, 4, 5]", "seeds: []", "profiles.study.czsl.seeds: list should have at least 1 item"),
        ("file: cgqa.zip", "file: ../cgqa.zip", "czsl.datasets.cgqa.archives.0.file: string should match pattern"),
        (
            "seed: 7",
            "seed: 7\n      seed: 8",
            f"line {BEHIND_SEED_7}, column 7: the key seed is repeated",
        ),
        (
            "      ut-zappos: {dropout: 0.2",
            "      ut-zappos: {dropot: 0.2",
            "czsl.methods.csp.per_dataset.ut-zappos.dropot: there is no key 'dropot'; the nearest is 'dropout'",
        ),
        (
            "      ut-zappos: {dropout: 0.2",
            "      ut-zappos: {dropout: -1.0",
            "czsl.methods.csp.per_dataset.ut-zappos.dropout: input should be greater than or equal to 0",
        ),
        ("devices: 1}", "devices: 0}", "profiles.study.trainer.devices: "),
        ("profile: demo", "profile: {a: b c: d}", f"params.yaml is not valid YAML: line {OF_PROFILE}, column 17: "),
        (
            "profile: demo",
            "profile: &name [*name]",
            "params.yaml is not valid YAML: it is nested too deep, or an alias contains itself",
        ),
        (
            "other_backbone: shapes-resnet",
            "other_backbone: shapes-resnt",
            "profiles.demo.czsl.other_backbone: 'shapes-resnt' is not allowed; the nearest is 'shapes-resnet'",
        ),
        (
            "      other_backbone: shapes-resnet-from-scratch\n",
            "",
            "profiles.study.czsl.other_backbone: this key is missing",
        ),
        ("    threads: 1\n", "", "backbones.shapes-resnet-from-scratch.threads: this key is missing"),
        (
            "    threads: 1\n",
            "    threads: 0\n",
            "backbones.shapes-clip-from-scratch.threads: input should be greater than 0",
        ),
        (
            "asset: {file: shapes-clip.safetensors, sha256: ",
            "asset: {file: shapes-clip.safetensors, sha25: ",
            "backbones.shapes-clip.asset.sha25: there is no key 'sha25'; the nearest is 'sha256'",
        ),
        (
            "asset: {file: shapes-clip.safetensors",
            "asset: {file: ../data/shapes-clip.safetensors",
            "backbones.shapes-clip.asset.file: string should match pattern",
        ),
        (
            "asset: {file: shapes-clip.safetensors, sha256: 97",
            "asset: {file: shapes-clip.safetensors, sha256: ",
            "backbones.shapes-clip.asset.sha256: string should match pattern",
        ),
        (
            "leave_out: [duplex-momentum-0.5]",
            "leave_out: [a, a]",
            "profiles.demo.czsl.leave_out: value error, the items must be distinct",
        ),
        ("repeat_variants: false", "repeat_variants: 0", "profiles.demo.czsl.repeat_variants: input should be a valid"),
        (
            "other_backbone: shapes-resnet",
            "other_backbone: resnet-101",
            "czsl.other_backbone: 'resnet-101' has no text tower; allowed: shapes-clip",
        ),
        (
            "      backbone: clip-vit-l-14",
            "      backbone: resnet-101",
            "profiles.paper.czsl.backbone: 'resnet-101' has no text tower; allowed: shapes-clip, ",
        ),
        (
            "file: resnet101-63fe2227.pth",
            "file: resnet101.pth",
            "backbones.resnet-101.weights.file: string should match pattern",
        ),
        (
            "    architecture: resnet101\n",
            "    architecture: resnet101\n    activation: gelu\n",
            "backbones.resnet-101.activation: there is no key 'activation'; allowed: architecture, weights",
        ),
        (
            "    architecture: RN50\n",
            "    architecture: RN50\n    threads: 2\n",
            "backbones.clip-rn50.threads: there is no key 'threads'",
        ),
        ("    hidden: 512", "    hidden: 0", "czsl.methods.gipcol.hidden: input should be greater than 0"),
        (
            "    graph_dropout: 0.1",
            "    graph_dropout: 1.0",
            "czsl.methods.gipcol.graph_dropout: input should be less than 1",
        ),
        (
            "graph_dropout: 0.5\n          dropout: 0.2",
            "graph_dropot: 0.5\n          dropout: 0.2",
            "czsl.methods.gipcol.per_dataset.ut-zappos.graph_dropot: there is no key 'graph_dropot'; the nearest "
            "is 'graph_dropout'",
        ),
        ("    fusion: t2i", "    fusion: bif", "czsl.methods.dfsp.fusion: 'bif' is not allowed"),
        ("    share: 0.2", "    share: 1.1", "czsl.methods.dfsp.share: input should be less than or equal to 1"),
        ("    share: 0.2", "    share: -0.1", "czsl.methods.dfsp.share: input should be greater than or equal to 0"),
        (
            "    primitive_weight: 0.01",
            "    primitive_weight: -1.0",
            "czsl.methods.dfsp.primitive_weight: input should be greater than or equal to 0",
        ),
        (
            "    prompt_weight: 0.1",
            "    prompt_weight: .inf",
            "czsl.methods.dfsp.prompt_weight: input should be a finite",
        ),
        (
            "    prompts: soft",
            "    prompts: sof",
            "czsl.methods.duplex.prompts: 'sof' is not allowed; the nearest is 'soft'",
        ),
        (
            "image_tower: adapters",
            "image_tower: adapter",
            "czsl.methods.c-s-o.image_tower: 'adapter' is not allowed; the nearest is 'adapters'; allowed: "
            "adapters, lora, frozen",
        ),
        (
            "selection: {fusion: probabilities, weights: [1.0, 1.0, 1.0]}",
            "selection: {fusion: probabilities, weights: [1.0, 1.0]}",
            "czsl.methods.duplex.training.selection.weights: list should have at least 3 items",
        ),
        (
            "selection: {fusion: logits, weights: [1.0, 1.0]} # as released, whatever",
            "selection: {fusion: logits, weights: [1.0]} # as released, whatever",
            "czsl.methods.msci.training.selection.weights: list should have at least 2 items",
        ),
        (
            "training: {lr: 3.125e-6",
            "training: {rl: 3.125e-6",
            "czsl.methods.troika.per_dataset.cgqa.training.rl: there is no key 'rl'; the nearest is 'lr'",
        ),
        (
            "training: {lr: 3.125e-6, batch_size: 16, epochs: 15, halve_every: 5, precision: 32-true, augment: true}",
            "training: fast",
            "czsl.methods.troika.per_dataset.cgqa.training: this is a section with keys of its own, not 'fast'",
        ),
        (
            "ut-zappos: {dropout: 0.2",
            "ut-zapos: {dropout: 0.2",
            "czsl.methods.csp.per_dataset.ut-zapos: 'ut-zapos' is not allowed; the nearest is 'ut-zappos'",
        ),
        (
            "ut-zappos: {dropout: 0.2",
            "ut-zappos: {per_dataset: {}, dropout: 0.2",
            "czsl.methods.csp.per_dataset.ut-zappos.per_dataset: settings of one data set have no per_dataset",
        ),
        (
            "adapter: cgqa",
            "adapter: cgaq",
            "czsl.datasets.cgqa.adapter: 'cgaq' is not allowed; the nearest is 'cgqa'; allowed: shapes-pairs, "
            "mit-states, ut-zappos, cgqa",
        ),
        ("      adapter: cgqa\n", "", "czsl.datasets.cgqa.adapter: this key is missing"),
        (
            "adapter: cgqa\n",
            "adapter: cgqa\n      archive: []\n",
            "czsl.datasets.cgqa.archive: there is no key 'archive'; the nearest is 'archives'; allowed: adapter, "
            "archives",
        ),
        (
            "    architecture: RN50\n",
            "    architecture: RN50\n    activatoin: gelu\n",
            "backbones.clip-rn50.activatoin: there is no key 'activatoin'; the nearest is 'activation'; allowed: "
            "architecture, activation, weights",
        ),
        ("  clip-rn50:\n", "  clip.rn50:\n", "backbones.clip.rn50: string should match pattern"),
        ("czsl: #", "czls: #", "czls: there is no key 'czls'; the nearest is 'czsl'"),
        (
            "backbone: shapes-clip\n",
            "backbone: shape-clip\n",
            "profiles.demo.czsl.backbone: 'shape-clip' is not allowed",
        ),
        (
            "[1.0, 1.0, 1.0, 1.0]",
            "[1.0, 1.0, 1.0]",
            "czsl.methods.duplex.loss_weights: list should have at least 4 items",
        ),
        (
            "closed: [1.0, 1.0, 1.0]",
            "closed: [1.0, 1.0]",
            "czsl.methods.duplex.scoring.closed: list should have at least 3 items",
        ),
        (
            "open: [1.0, 1.0, 1.0]",
            "open: [1.0, 1.0, 1.0, 1.0]",
            "czsl.methods.duplex.scoring.open: list should have at most 3 items",
        ),
        (
            "    closed: [1.0, 1.0]",
            "    closed: [1.0, 1.0, 1.0]",
            "czsl.methods.troika.scoring.closed: list should have at most 2 items",
        ),
        (
            "    target: closed",
            "    target: close",
            "czsl.methods.duplex.target: 'close' is not allowed; the nearest is 'closed'",
        ),
        (
            "    initial: means",
            "    initial: mean",
            "czsl.methods.duplex.initial: 'mean' is not allowed; the nearest is 'means'",
        ),
        (
            "    edges: posteriors",
            "    edges: label",
            "czsl.methods.duplex.edges: 'label' is not allowed; the nearest is 'labels'",
        ),
        (
            "    momentum: 0.9",
            "    momentum: 1.01",
            "czsl.methods.duplex.momentum: input should be less than or equal to 1",
        ),
        (
            "    differentiable: true",
            "    differentiable: 1",
            "czsl.methods.duplex.differentiable: input should be a valid boolean",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place_and_the_nearest_right_name(old: str, new: str, said: str) -> None:
    assert said in wrong(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("other_backbone: shapes-resnet\n", "other_backbone: null\n"),
        ("devices: 1}", "devices: 2}"),
        ("weights: [1.0, 1.0, 1.0]}", "weights: [1.0, 0.0, 0.0]}"),
        ("other_backbone: shapes-resnet\n", "other_backbone: clip-rn50\n"),
        ("other_backbone: shapes-resnet\n", "other_backbone: shapes-clip\n"),
        ("    fusion: t2i", "    fusion: i2t"),
        ("    fusion: t2i", "    fusion: BiF"),
        ("    share: 0.2", "    share: 0.0"),
        ("    share: 0.2", "    share: 1.0"),
        ("    graph_dropout: 0.1", "    graph_dropout: 0.0"),
        ("    prompts: soft", "    prompts: fixed"),
        ("image_tower: adapters", "image_tower: lora"),
        ("image_tower: adapters", "image_tower: frozen"),
        ("[1.0, 1.0, 1.0, 1.0]", "[0.0, 0.0, 0.0, 1.0]"),
        ("    target: closed", "    target: open"),
        ("    initial: means", "    initial: random"),
        ("    edges: posteriors", "    edges: labels"),
        ("    momentum: 0.9", "    momentum: 0.0"),
        ("    momentum: 0.9", "    momentum: 1.0"),
        ("    differentiable: true", "    differentiable: false"),
    ],
)
def test_what_settings_may_be_is_accepted(old: str, new: str) -> None:
    assert old in TEXT
    assert parse_params(TEXT.replace(old, new)) != parse_params(TEXT)


def test_all_mistakes_are_said_at_once() -> None:
    text = TEXT.replace("profile: demo", "profile: dmo").replace("seed: 7", "seed: seven")
    with pytest.raises(ParamsError) as error:
        parse_params(text)
    assert "profile:" in str(error.value)
    assert "czsl.datasets.shapes-pairs.seed:" in str(error.value)


def test_an_override_of_no_key_is_an_error() -> None:
    text = TEXT.replace("profile: demo", "profile: smoke").replace("csp.training.epochs: 2", "csp.training.epoch: 2")
    with pytest.raises(
        ParamsError,
        match=r"profiles\.smoke\.override\.czsl\.methods\.csp\.training\.epoch: .*the nearest is "
        r"'czsl\.methods\.csp\.training\.epochs'",
    ):
        parse_params(text)


def test_overrides_replace_values_in_their_profile_only() -> None:
    smoke = parse_params(TEXT.replace("profile: demo", "profile: smoke"))
    demo = parse_params(TEXT)
    assert czsl(smoke).settings("csp", "shapes-pairs")["training"]["epochs"] == 2
    assert czsl(demo).settings("csp", "shapes-pairs")["training"]["epochs"] > 2


def test_settings_of_a_data_set_replace_the_general_ones() -> None:
    section = czsl(parse_params())
    general, zappos = section.settings("csp", "shapes-pairs"), section.settings("csp", "ut-zappos")
    assert zappos["dropout"] == 0.2
    assert zappos["training"] == {
        "lr": 5e-4,
        "weight_decay": 1e-5,
        "batch_size": 64,
        "accumulate": 2,
        "epochs": 20,
        "precision": None,
    }
    assert general["prompt"] == zappos["prompt"]
    assert "per_dataset" not in general


def test_a_number_without_a_dot_is_a_number() -> None:
    params = parse_params(TEXT.replace("    dropout: 0.1", "    dropout: 3e-1"))
    assert czsl(params).settings("csp", "shapes-pairs")["dropout"] == 0.3


def test_yaml_that_would_run_code_is_refused(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with pytest.raises(ParamsError):
        parse_params(
            f"profile: !!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['{mark}']]"
        )
    assert not mark.exists()


def test_a_missing_file_says_where_to_run(tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match="Run in the root of the project"):
        load_params(tmp_path / "params.yaml", TRACKS)


def test_errors_are_of_the_project() -> None:
    assert issubclass(ParamsError, RecomposeError) and issubclass(ParamsError, ValueError)


@pytest.mark.parametrize("key", ["dropout", "selection", "fusion"])
def test_a_repeated_key_is_named_with_its_line(key: str) -> None:
    lines = TEXT.split("\n")
    first = next(number for number, line in enumerate(lines) if line.strip().startswith(f"{key}: "))
    said = said_of("\n".join([*lines[: first + 1], lines[first], *lines[first + 1 :]]))
    place = f"line {first + 2}, column {lines[first].index(key) + 1}"
    assert f"params.yaml is not valid YAML: {place}: the key {key} is repeated" in said


def test_an_anchor_is_no_repetition_and_no_link() -> None:
    params = parse_params(edits=("czsl.methods.csp.training.lr=0.5",))
    archives = [czsl(params).datasets[name].model_dump()["archives"][1] for name in ("mit-states", "ut-zappos")]
    assert archives[0] == archives[1]


def test_a_profile_takes_what_it_does_not_say_from_the_one_it_is_based_on() -> None:
    params = parse_params(
        with_profiles("  mine: {based_on: demo, trainer: {threads: 4}, czsl: {methods: [csp, clip]}}\n"), "mine"
    )
    demo = parse_params()
    assert params.chosen.based_on == "demo"
    assert params.chosen.trainer == demo.chosen.trainer.model_copy(update={"threads": 4})
    assert choice(params) == choice(demo).model_copy(update={"methods": ["csp", "clip"]})
    assert params.profiles["demo"] == demo.chosen


def test_profiles_build_on_profiles_and_the_last_override_wins() -> None:
    text = with_profiles(
        "  mine:\n    based_on: smoke\n    czsl: {seeds: [5]}\n    override:\n"
        "      czsl.methods.csp.training.epochs: 7\n      czsl.feasibility.vectors: glove\n"
        "      czsl.datasets.shapes-pairs.images.val: 151\n"
    )
    params = parse_params(text, "mine")
    section, smoke = czsl(params), czsl(parse_params(profile="smoke"))
    assert choice(params).seeds == [5]
    assert choice(params).other_backbone == "shapes-resnet"
    assert section.settings("csp", "shapes-pairs")["training"]["epochs"] == 7
    assert section.settings("coop", "shapes-pairs") == smoke.settings("coop", "shapes-pairs")
    assert section.feasibility.vectors == "glove"
    assert section.datasets["shapes-pairs"].model_dump()["images"] == {"train": 400, "val": 151, "test": 150}
    assert params.backbones["shapes-clip-sentences-from-scratch"].model_dump()["scenes"] == 512


def test_an_override_replaces_a_value_as_a_whole() -> None:
    text = with_profiles("  mine: {based_on: smoke, override: {czsl.datasets.shapes-pairs.images: {train: 500}}}\n")
    assert "profiles.mine is wrong:\n  czsl.datasets.shapes-pairs.images.val: this key is missing" in said_of(
        text, "mine"
    )


def test_a_profile_may_leave_a_track_out() -> None:
    params = parse_params(with_profiles("  mine: {based_on: demo, czsl: null}\n"), "mine")
    assert list(params.chosen.tracks) == ["gzsl", "vlc"]
    assert list(params.tracks) == ["czsl", "gzsl", "vlc"]


@pytest.mark.parametrize(
    ("profiles", "lines"),
    [
        (
            "  mine: {based_on: dmo}\n",
            ["profiles.mine.based_on: 'dmo' is not allowed; the nearest is 'demo'; allowed: study, demo, smoke, paper"],
        ),
        ("  mine: {based_on: mine}\n", ["profiles.mine.based_on: a profile cannot build on itself: mine on mine"]),
        (
            "  a: {based_on: b}\n  b: {based_on: c}\n  c: {based_on: b}\n",
            ["profiles.b.based_on: a profile cannot build on itself: b on c on b"],
        ),
        (
            "  a: {based_on: b}\n  b: {based_on: smok}\n",
            [
                "profiles.b.based_on: 'smok' is not allowed; the nearest is 'smoke'; "
                "allowed: study, a, demo, smoke, paper"
            ],
        ),
    ],
)
def test_a_base_that_cannot_be_is_one_error(profiles: str, lines: list[str]) -> None:
    assert said_of(with_profiles(profiles)).split("\n")[1:] == [f"  {line}" for line in lines]


def test_a_mistake_in_a_base_is_said_once() -> None:
    said = wrong("      variant_seeds: [0] #", "      variant_seeds: [-1] #")
    assert said.count("variant_seeds") == 1
    said = wrong(
        "backbone: shapes-clip\n      other_backbone: shapes-resnet", "backbone: shape-clip\n      other_backbone: null"
    )
    assert said.count("shape-clip") == 1


def test_a_wrong_name_of_a_profile_names_the_nearest() -> None:
    assert "profile: 'smke' is not allowed; the nearest is 'smoke'; allowed: study, demo, smoke, paper" in said_of(
        profile="smke"
    )


def test_users_name_their_own_data_sets() -> None:
    entry = (
        "    my-pairs: {adapter: shapes-pairs, seed: 8, images: {train: 100, val: 80, test: 120}}\n    mit-states:\n"
    )
    text = TEXT.replace("    mit-states:\n", entry, 1)
    params = parse_params(
        text,
        "study",
        edits=(
            "profiles.study.czsl.datasets=[my-pairs]",
            "czsl.methods.csp.per_dataset.my-pairs={training: {lr: 0.5}}",
        ),
    )
    section = czsl(params)
    assert choice(params).datasets == ["my-pairs"]
    assert section.datasets["my-pairs"].adapter == "shapes-pairs"
    assert section.settings("csp", "my-pairs")["training"]["lr"] == 0.5
    assert section.settings("csp", "my-pairs")["training"]["epochs"] == 8


def test_edits_change_the_text() -> None:
    edits = (
        "czsl.methods.csp.training.lr=1e-2",
        "profile=smoke",
        "profiles.smoke.override.czsl.methods.csp.training.epochs=9",
        "profiles.demo.czsl.variant_seeds=[4]",
    )
    params = parse_params(edits=edits)
    training = czsl(params).settings("csp", "shapes-pairs")["training"]
    assert (training["lr"], training["epochs"]) == (0.01, 9)
    assert choice(params).variant_seeds == [4]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            "czsl.methods.csp.training.rl=1",
            "params.yaml with czsl.methods.csp.training.rl=1 is wrong:\n  czsl.methods.csp.training.rl: there is "
            "no key",
        ),
        ("czsl.methods.csp.training.lr", "an edit is written path=value"),
        ("czsl.methods.csp.training.lr=[", "the value in 'czsl.methods.csp.training.lr=[' is not valid YAML"),
        (
            "profiles.smoke.override.backbones.shapes-clip-from-scratch.scene=1",
            "the nearest is 'backbones.shapes-clip-from-scratch.scenes'",
        ),
    ],
)
def test_edits_that_do_not_fit_are_errors(edit: str, said: str) -> None:
    assert said in said_of(profile="smoke", edits=(edit,))


def test_a_variant_changes_settings_at_any_depth() -> None:
    section = czsl(parse_params())
    plain = section.settings("duplex", "mit-states")
    changed = section.settings("duplex", "mit-states", {"momentum": 0.5, "scoring": {"closed": [1.0, 0.0, 0.0]}})
    assert changed["scoring"] == {**plain["scoring"], "closed": [1.0, 0.0, 0.0]}
    assert changed["training"] == plain["training"] and changed["training"]["epochs"] == 15
    assert changed["momentum"] == 0.5
    assert section.settings("duplex", "mit-states") == plain


@pytest.mark.parametrize(
    ("method", "changed", "said"),
    [
        ("duplex", {"training": {"epoch": 3}}, "training.epoch: there is no key 'epoch'; the nearest is 'epochs'"),
        ("duplex", {"closed": [1.0, 1.0, 1.0]}, "closed: there is no key 'closed'"),
        ("duplex", {"scoring": {"closed": [1.0, 1.0]}}, "scoring.closed: list should have at least 3 items"),
        ("clip", {"training": {"lr": 0.1}}, "training: there is no key 'training'"),
        ("csp", {"per_dataset": {}}, "per_dataset: settings of one data set have no per_dataset"),
        ("cps", {}, "'cps' is not allowed; the nearest is 'csp'"),
    ],
)
def test_a_variant_that_does_not_fit_is_an_error(method: str, changed: dict[str, object], said: str) -> None:
    with pytest.raises(ParamsError) as error:
        czsl(parse_params()).settings(method, "shapes-pairs", changed)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "5",
        "profile: demo",
        "profile: demo\nprofiles: 3",
        "profiles: {demo: 3}",
        "profiles: {demo: {based_on: [1]}}",
    ],
)
def test_a_file_of_another_shape_is_an_error(text: str) -> None:
    assert "params.yaml is wrong" in said_of(text)


def test_reading_parameters_imports_no_torch() -> None:
    code = (
        "import sys, recompose.params, recompose.tracks.czsl.params; "
        "print({'torch', 'numpy', 'recompose.tracks.czsl.training'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("file", "sha256", "allowed"),
    [
        ("model.safetensors", "null", True),  # a form that holds no code
        ("model.safetensors", "a" * 64, True),
        ("model.pt", "a" * 64, True),
        ("model.pt", "null", False),
        ("open_clip_pytorch_model.bin", "null", False),
        ("model.safetensors.pt", "null", False),
    ],
)
def test_published_weights_that_may_hold_code_need_a_digest(file: str, sha256: str, allowed: bool) -> None:
    weights = f"{{file: {file}, urls: [https://example.org/{file}], sha256: {sha256}}}"
    entry = f"backbones:\n  mine: {{architecture: ViT-B-32, activation: gelu, weights: {weights}}}\n"
    text = TEXT.replace("\nbackbones:\n", f"\n{entry}", 1)
    if allowed:
        assert parse_params(text).backbones["mine"].model_dump()["weights"]["file"] == file
    else:
        assert f"{file} may hold code: its sha256 is required" in said_of(text)


def test_suites_and_clips_of_a_profile_are_ones_that_there_are() -> None:
    said = wrong("suites: [shapes-suites]", "suites: [shape-suites]")
    assert "profiles.study.vlc.suites.0: 'shape-suites' is not allowed; the nearest is 'shapes-suites'" in said
    said = wrong("other_pretraining: shapes-clip-sentences\n", "other_pretraining: shapes-clip-sentence\n")
    assert "profiles.demo.vlc.other_pretraining: 'shapes-clip-sentence' is not allowed" in said
    said = wrong("other_pretraining: shapes-clip-sentences\n", "other_pretraining: resnet-101\n")  # is no CLIP
    assert "profiles.demo.vlc.other_pretraining: 'resnet-101' is not allowed" in said
    assert "vlc.methods.fsc-clip.weights" in wrong("      weights: minmax\n", "      weights: minmx\n")
