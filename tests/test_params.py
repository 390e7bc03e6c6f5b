"""params.yaml: what is accepted, and what is said of mistakes."""

from pathlib import Path

import pytest

from recompose.params import ParamsError, load_params, parse_params

TEXT = (Path(__file__).parent.parent / "params.yaml").read_text()


def wrong(old: str, new: str) -> str:
    assert old in TEXT
    with pytest.raises(ParamsError) as error:
        parse_params(TEXT.replace(old, new))
    return str(error.value)


@pytest.mark.parametrize("profile", ["demo", "smoke", "paper"])
def test_every_profile_of_the_committed_file_is_valid(profile: str) -> None:
    params = parse_params(TEXT.replace("profile: demo", f"profile: {profile}"))
    assert params.chosen.methods


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "profile: demo",
            "profile: dmo",
            "profile: 'dmo' is not allowed; the nearest is 'demo'; allowed: demo, smoke, paper",
        ),
        (
            "[chance, clip, coop, csp, c-s-o, troika, msci]",
            "[chance, cilp]",
            "profiles.demo.methods.1: 'cilp' is not allowed; the nearest is 'clip'",
        ),
        ("datasets: [shapes-pairs]", "datasets: [shape-pairs]", "the nearest is 'shapes-pairs'"),
        (
            "    dropout: 0.1",
            "    dropot: 0.3",
            "methods.csp.dropot: there is no key 'dropot'; the nearest is 'dropout'",
        ),
        ("    dropout: 0.1", "    dropot: 0.3", "methods.csp.dropout: this key is missing"),
        ("    dropout: 0.1", "    dropout: 1.0", "methods.csp.dropout: input should be less than 1, not 1.0"),
        ("    dropout: 0.1", "    dropout: a bit", "methods.csp.dropout: input should be a valid number, not 'a bit'"),
        ("    dropout: 0.1", "    dropout: .nan", "methods.csp.dropout: input should be a finite number"),
        ("  csp:\n", "  cps:\n", "methods.cps: there is no key 'cps'; the nearest is 'csp'"),
        (
            "seeds: [0, 1, 2]",
            "seeds: [0, 0]",
            "profiles.demo.seeds: value error, each may stand there once, but 0 does not",
        ),
        ("seeds: [0, 1, 2]", "seeds: [20261121]", "profiles.demo.seeds.0: input should be less than 100000"),
        ("devices: 1}", "devices: two}", "profiles.demo.trainer.devices: "),
        ("vectors: backbone", "vectors: glov", "feasibility.vectors: 'glov' is not allowed; the nearest is 'glove'"),
        ("a photo of {name}", "a photo of {state}", "feasibility.prompt: string should match pattern"),
        ("seeds: [0, 1, 2]", "seeds: []", "profiles.demo.seeds: list should have at least 1 item"),
        ("file: cgqa.zip", "file: ../cgqa.zip", "datasets.cgqa.archives.0.file: string should match pattern"),
        ("seed: 7", "seed: 7\n    seed: 8", "line 48: the key seed stands here for the second time"),
        (
            "1e-5, dropout: 0.2",
            "1e-5, dropot: 0.2",
            "methods.csp.per_dataset.ut-zappos.dropot: there is no key 'dropot'; the nearest is 'dropout'",
        ),
        (
            "1e-5, dropout: 0.2",
            "1e-5, dropout: -1.0",
            "methods.csp.per_dataset.ut-zappos.dropout: input should be greater than or equal to 0",
        ),
        ("devices: 1}", "devices: 2}", "profiles.demo: value error, runs_per_process has to be 1"),
        ("profile: demo", "profile: [", "params.yaml is not valid YAML"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_the_nearest_right_name(old: str, new: str, said: str) -> None:
    assert said in wrong(old, new)


def test_all_mistakes_are_said_at_once() -> None:
    text = TEXT.replace("profile: demo", "profile: dmo").replace("seed: 7", "seed: seven")
    with pytest.raises(ParamsError) as error:
        parse_params(text)
    assert "profile:" in str(error.value)
    assert "datasets.shapes-pairs.seed:" in str(error.value)


def test_an_override_of_no_key_is_an_error() -> None:
    text = TEXT.replace("profile: demo", "profile: smoke").replace("methods.csp.epochs: 2", "methods.csp.epoch: 2")
    with pytest.raises(ParamsError, match=r"override\.methods\.csp\.epoch: .*the nearest is 'methods\.csp\.epochs'"):
        parse_params(text)


def test_overrides_replace_values_in_their_profile_only() -> None:
    smoke = parse_params(TEXT.replace("profile: demo", "profile: smoke"))
    demo = parse_params(TEXT)
    assert smoke.settings("csp", "shapes-pairs")["epochs"] == 2
    assert demo.settings("csp", "shapes-pairs")["epochs"] > 2


def test_settings_of_a_data_set_replace_the_general_ones() -> None:
    params = parse_params(TEXT)
    general, zappos = params.settings("csp", "shapes-pairs"), params.settings("csp", "ut-zappos")
    assert (zappos["lr"], zappos["dropout"], zappos["batch_size"], zappos["accumulate"]) == (5e-4, 0.2, 64, 2)
    assert general["prompt"] == zappos["prompt"]
    assert "per_dataset" not in general


def test_a_number_without_a_dot_is_a_number() -> None:
    params = parse_params(TEXT.replace("    dropout: 0.1", "    dropout: 3e-1"))
    assert params.settings("csp", "shapes-pairs")["dropout"] == 0.3


def test_yaml_that_would_run_code_is_refused(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with pytest.raises(ParamsError):
        parse_params(
            f"profile: !!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['{mark}']]"
        )
    assert not mark.exists()


def test_a_missing_file_says_where_to_run(tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match="Run in the root of the project"):
        load_params(tmp_path / "params.yaml")
