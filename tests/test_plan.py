"""The plan: which edit touches which runs."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import groupby
from math import ceil
from pathlib import Path

import pytest

from recompose.papers.declaration import PAPERS, Variant, declared_variants, load_paper
from recompose.params import Params, ParamsError, parse_params
from recompose.plan import Batch, Plan, Run, make_plan

TEXT = (Path(__file__).parent.parent / "params.yaml").read_text()
TRAINED = ("coop", "csp", "gipcol", "dfsp", "c-s-o", "troika", "msci", "duplex")
THREE_PATH = {"c-s-o", "troika", "msci", "duplex"}
ON_BACKBONE = {"clip": 1, **dict.fromkeys(TRAINED, 3)}
RUNS_PER_PROCESS = TEXT[TEXT.index("runs_per_process") :].split(" #")[0]


def plan_of(text: str, variants: dict[str, Variant] | None = None) -> Plan:
    return make_plan(parse_params(text), variants or {})


def changed(text: str, variants: dict[str, Variant] | None = None) -> dict[str, int]:
    """How many runs of each method, or variant, an edit makes new."""
    old = {run.digest for run in plan_of(TEXT, variants).runs}
    return dict(Counter(run.name for run in plan_of(text, variants).runs if run.digest not in old))


def in_batches_of(size: int) -> str:
    """The text with this many runs per process."""
    return re.sub(r"runs_per_process: \d+", f"runs_per_process: {size}", TEXT)


@pytest.mark.parametrize(
    ("old", "new", "touched"),
    [
        ("    dropout: 0.1", "    dropout: 0.4", {"csp": 3}),
        ("    aggregated: 2", "    aggregated: 3", {"msci": 3}),
        ("    traction: 0.1", "    traction: 0.2", {"troika": 3}),
        ("  clip:\n    prompt: a photo of", "  clip:\n    prompt: a picture of", {"clip": 1}),
        ("seed: 7", "seed: 8", {"chance": 3, **ON_BACKBONE}),
        ("scenes: 24000", "scenes: 24001", ON_BACKBONE),
        ("activation: gelu", "activation: quick_gelu", ON_BACKBONE),
        (
            "    seeds: [0, 1, 2]\n",
            "    seeds: [0, 1, 9]\n",
            dict.fromkeys(("chance", *TRAINED), 1),
        ),
        (
            "    seeds: [0, 1, 2]\n",
            "    seeds: [5]\n",
            dict.fromkeys(("chance", *TRAINED), 1),
        ),
        ("precision: 32-true", "precision: bf16-mixed", ON_BACKBONE),
        ("    threads: 2\n", "    threads: 1\n", ON_BACKBONE),
        (RUNS_PER_PROCESS, "runs_per_process: 3", {}),
        ("other_backbone: shapes-resnet", "other_backbone: null", {}),
        ("    fusion: t2i", "    fusion: BiF", {"dfsp": 3}),
        ("    hidden: 512", "    hidden: 64", {"gipcol": 3}),
        ("    momentum: 0.9", "    momentum: 0.8", {"duplex": 3}),
        ("    image_tower: adapters", "    image_tower: lora", {"c-s-o": 3}),
        ("# Every knob", "# All knobs", {}),
        (
            "{lr: 5e-5, weight_decay: 1e-5, batch_size: 64, accumulate: 2, epochs: 20}\n      ut",
            "{lr: 6e-5, weight_decay: 1e-5, batch_size: 64, accumulate: 2, epochs: 20}\n      ut",
            {},
        ),
    ],
)
def test_an_edit_makes_exactly_the_runs_new_that_it_can_change(old: str, new: str, touched: dict[str, int]) -> None:
    assert old in TEXT
    assert changed(TEXT.replace(old, new, 1)) == touched


def test_where_an_archive_is_downloaded_from_does_not_matter() -> None:
    text = TEXT.replace("profile: demo", "profile: paper")
    moved = text.replace("http://wednesday.csail.mit.edu", "https://mirror.example.org")
    assert [run.digest for run in plan_of(text).runs] == [run.digest for run in plan_of(moved).runs]


def test_a_method_without_randomness_is_run_once() -> None:
    plan = plan_of(TEXT)
    assert [len(plan.runs_of(method, "shapes-pairs")) for method in ("chance", "clip", *TRAINED)] == [3, 1, *[3] * 8]


def test_every_run_is_in_one_batch_of_its_data_set() -> None:
    for size in (1, 2, 100):
        plan = plan_of(in_batches_of(size))
        batched = [run.digest for batch in plan.batches for run in batch.runs]
        assert sorted(batched) == sorted(run.digest for run in plan.runs)
        assert all(len(batch.runs) <= size for batch in plan.batches)
        assert all(run.dataset == batch.dataset for batch in plan.batches for run in batch.runs)


def test_no_two_runs_share_a_digest() -> None:
    plan = plan_of(TEXT.replace("profile: demo", "profile: paper"))
    assert len({run.digest for run in plan.runs}) == len(plan.runs) == 3 * (5 + 1 + 8 * 5)


@pytest.mark.parametrize(
    ("edited", "touched"),
    [
        ("recompose.tracks.czsl.methods.csp", {"csp"}),
        ("recompose.tracks.czsl.methods.parts.slots", set(TRAINED)),
        ("recompose.nn.adapters", THREE_PATH),
        ("recompose.nn.attention", {"dfsp", "troika", "msci"}),
        ("recompose.nn.lora", THREE_PATH),
        ("recompose.tracks.czsl.methods.parts.codebook", {"duplex"}),
        ("recompose.backbones.features", set(ON_BACKBONE)),
        ("recompose.training.pretraining", set(ON_BACKBONE)),
        ("recompose.tracks.czsl.run", set(ON_BACKBONE)),
        ("recompose.tracks.czsl.metrics.czsl", {"chance", *ON_BACKBONE}),
        ("recompose.drawing.objects", {"chance", *ON_BACKBONE}),
        ("recompose.progress", set()),
        ("recompose.store", set()),
    ],
)
def test_an_edit_of_code_makes_the_runs_new_that_use_it(
    monkeypatch: pytest.MonkeyPatch, edited: str, touched: set[str]
) -> None:
    from recompose import plan as module

    right: Callable[..., dict[str, str]] = module.fingerprint
    monkeypatch.setattr(
        module,
        "fingerprint",
        lambda names: {name: ("edited" if name == edited else value) for name, value in right(names).items()},
    )
    params: Params = parse_params(TEXT)
    new = {run.digest: run.method for run in make_plan(params, {}).runs}
    monkeypatch.undo()
    old = {run.digest for run in make_plan(params, {}).runs}
    assert {method for digest, method in new.items() if digest not in old} == touched


def variant(**changed: object) -> Variant:
    return Variant(method="msci", settings=changed, datasets=["shapes-pairs", "ut-zappos"])


def test_a_variant_changes_its_settings_and_has_seeds_of_its_own() -> None:
    plan = plan_of(TEXT, {"msci-mean": variant(aggregation="mean")})
    (run,) = plan.runs_of("msci-mean", "shapes-pairs")
    plain = plan.runs_of("msci", "shapes-pairs")[0]
    assert run.document["settings"] == plain.document["settings"] | {"aggregation": "mean"}
    assert run.title == "msci-mean on shapes-pairs, seed 0"
    assert len(plan.runs) == len(plan_of(TEXT).runs) + 1


def test_a_variant_that_changes_nothing_shares_the_runs_of_its_method() -> None:
    plan = plan_of(TEXT, {"msci-2-layers": variant(aggregated=2)})
    assert plan.runs_of("msci-2-layers", "shapes-pairs")[0].digest == plan.runs_of("msci", "shapes-pairs")[0].digest
    assert [run.digest for run in plan.runs] == [run.digest for run in plan_of(TEXT).runs]
    assert {run.name for run in plan.runs} == {"chance", *ON_BACKBONE}


def test_a_variant_runs_on_its_data_sets_with_their_settings() -> None:
    plan = plan_of(TEXT.replace("profile: demo", "profile: paper"), {"msci-mean": variant(aggregation="mean")})
    assert [run.seed for run in plan.runs_of("msci-mean", "ut-zappos")] == [0, 1, 2]
    assert plan.runs_of("msci-mean", "ut-zappos")[0].document["settings"]["aggregated"] == 3
    assert plan.runs_of("msci-mean", "mit-states") == []


def test_a_variant_of_a_method_that_the_profile_leaves_out_is_left_out() -> None:
    text = TEXT.replace("msci, duplex]", "duplex]")
    assert plan_of(text, {"msci-mean": variant(aggregation="mean")}).runs == plan_of(text).runs


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"agregation": "mean"}, "the nearest is 'aggregation'"), ({"aggregation": "median"}, "aggregation: 'median'")],
)
def test_a_variant_that_does_not_fit_is_an_error(changed: dict[str, str], said: str) -> None:
    with pytest.raises(ParamsError, match=f"a variant of msci does not fit.*(?s:.*){said}"):
        plan_of(TEXT, {"wrong": variant(**changed)})


@pytest.mark.parametrize("profile", ["demo", "smoke", "paper"])
def test_every_declared_variant_fits_and_every_measured_row_has_runs(profile: str) -> None:
    plan = plan_of(TEXT.replace("profile: demo", f"profile: {profile}"), declared_variants())

    def assert_measured(names: Iterable[str]) -> None:
        for measured in names:
            assert any(plan.runs_of(measured, dataset) for dataset in plan.datasets), measured

    for name in PAPERS:
        paper = load_paper(name)
        for artifact in paper.artifacts.values():
            if artifact.kind == "settings":
                assert_measured([artifact.of])
                for dataset in plan.datasets:
                    settings = plan.runs_of(artifact.of, dataset)[0].document["settings"]
                    assert set(artifact.measured.values()) <= settings.keys()
            else:
                assert_measured(artifact.measured.values())
        for claim in paper.claims.values():
            assert_measured([claim.higher, *claim.lower])
            assert_measured([claim.gain.higher, claim.gain.lower] if claim.gain else [])
    assert_dealt(plan)


# batches


def of_each_kind(plan: Plan) -> list[list[Batch]]:
    """The batches, those of one data set and backbone together."""

    def kind(batch: Batch) -> tuple[str, str]:
        return batch.dataset, str(batch.backbone)

    return [list(batches) for _, batches in groupby(sorted(plan.batches, key=kind), kind)]


def assert_dealt(plan: Plan) -> None:
    """Every run stands in one batch, with others of its kind, and behind the one whose checkpoint it tests."""
    batched = [run.digest for batch in plan.batches for run in batch.runs]
    assert sorted(batched) == sorted(run.digest for run in plan.runs)
    assert len({batch.name for batch in plan.batches}) == len(plan.batches)
    for batch in plan.batches:
        assert {(run.dataset, run.backbone) for run in batch.runs} == {(batch.dataset, batch.backbone)}
        trained: Run | None = None
        for run in batch.runs:
            if run.checkpoint_of is None:
                trained = run
            else:  # right behind it, but for others that test the same one
                assert trained is not None
                assert run.checkpoint_of == trained.digest


@pytest.mark.parametrize("size", [1, 2, 3, 5, 9, 14, 28, 100])
def test_runs_are_dealt_to_batches_of_about_equal_cost(size: int) -> None:
    plan = plan_of(in_batches_of(size), {"other": on_other(), "msci-mean": variant(aggregation="mean")})
    assert_dealt(plan)
    for batches in of_each_kind(plan):
        lengths = [len(batch.runs) for batch in batches]
        assert len(batches) == ceil(sum(lengths) / size)
        assert max(lengths) <= size
        assert max(lengths) - min(lengths) <= 1
        for method in ("chance", *TRAINED):
            counts = [sum(run.name == method for run in batch.runs) for batch in batches]
            assert max(counts) - min(counts) <= 1, method


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_a_run_that_tests_another_s_checkpoint_stands_right_behind_it(size: int) -> None:
    variants = {
        "msci-mean": variant(aggregation="mean"),
        "tested": with_checkpoint_of("msci", closed=[1.0, 0.0]),
        "tested-twice": with_checkpoint_of("msci", closed=[0.0, 1.0]),
        "tested-mean": with_checkpoint_of("msci-mean", aggregation="mean", closed=[1.0, 0.0]),
    }
    plan = plan_of(in_batches_of(size), variants)
    assert_dealt(plan)
    on_backbone = [batch for batch in plan.batches if batch.backbone]
    behind = {
        run.name: [other.name for other in batch.runs[place + 1 : place + 3]]
        for batch in on_backbone
        for place, run in enumerate(batch.runs)
        if run.seed == 0
    }
    assert behind["msci"] == ["tested", "tested-twice"]
    assert behind["msci-mean"][0] == "tested-mean"
    # those that are trained are dealt out evenly; none makes a batch without one
    trained = [sum(run.checkpoint_of is None for run in batch.runs) for batch in on_backbone]
    assert max(trained) - min(trained) <= 1
    assert max(trained) <= size


def test_batches_are_called_by_their_runs_in_their_order() -> None:
    first, second = plan_of(TEXT).runs[:2]
    assert Batch((first, second)).name == Batch((first, second)).name
    assert len({Batch(runs).name for runs in ((first, second), (second, first), (first,), (second,))}) == 4


# tested with another run's checkpoint


def with_checkpoint_of(of: str, **changed: object) -> Variant:
    """With the settings of the drawn data sets, MSCI as another run trained it."""
    return variant(**changed).model_copy(update={"checkpoint_of": of})


def test_a_run_names_the_run_of_its_seed_whose_checkpoint_it_tests() -> None:
    every = with_checkpoint_of("msci", closed=[1.0, 0.0]).model_copy(update={"every_seed": True})
    variants = {
        "msci-mean": variant(aggregation="mean"),
        "tested": every,
        "tested-mean": with_checkpoint_of("msci-mean", aggregation="mean"),
    }
    plan = plan_of(TEXT, variants)
    for name, source in (("tested", "msci"), ("tested-mean", "msci-mean")):
        for run in plan.runs_of(name, "shapes-pairs"):
            (trained,) = [other for other in plan.runs_of(source, "shapes-pairs") if other.seed == run.seed]
            assert run.checkpoint_of == trained.digest
            assert run.document["checkpoint_of"] == {"name": source, "digest": trained.digest}
            assert run.digest != trained.digest
    assert [run.seed for run in plan.runs_of("tested", "shapes-pairs")] == [0, 1, 2]
    assert [run.seed for run in plan.runs_of("tested-mean", "shapes-pairs")] == [0]
    assert {run.name for run in plan.runs if run.checkpoint_of} == {"tested", "tested-mean"}
    assert plan_of(TEXT).runs == tuple(run for run in plan.runs if run.name not in variants)


def test_an_edit_that_trains_anew_tests_anew_and_one_of_the_test_does_not_train() -> None:
    variants = {
        "tested": with_checkpoint_of("msci", closed=[1.0, 0.0]),
        "tested-mean": with_checkpoint_of("msci-mean", aggregation="mean"),
    }
    variants["msci-mean"] = variant(aggregation="mean")
    share = TEXT.replace("    share: 0.1\n", "    share: 0.3\n")
    assert changed(share, variants) == {"msci": 3, "tested": 1, "tested-mean": 1, "msci-mean": 1}
    old = {run.digest for run in plan_of(TEXT, variants).runs}
    edited = variants | {"tested": with_checkpoint_of("msci", closed=[0.5, 0.5])}
    assert [run.name for run in plan_of(TEXT, edited).runs if run.digest not in old] == ["tested"]


def test_what_a_run_keeps_for_figures_is_part_of_it() -> None:
    shown = variant().model_copy(update={"keeps_embeddings": True})
    plan = plan_of(TEXT, {"msci-shown": shown})
    (run,), plain = plan.runs_of("msci-shown", "shapes-pairs"), plan.runs_of("msci", "shapes-pairs")[0]
    assert run.document == plain.document | {"keeps": ["embeddings"]}
    assert run.digest != plain.digest
    assert "keeps" not in plain.document


# the other backbone


def on_other(method: str = "csp", **changed: object) -> Variant:
    return Variant(method=method, settings=changed, datasets=["shapes-pairs", "ut-zappos"], backbone="other")


def test_only_backbones_that_runs_need_are_planned_with_their_features() -> None:
    plan = plan_of(TEXT)
    assert set(plan.backbones) == set(plan.corpora) == {"shapes-clip"}
    assert set(plan.features) == {("shapes-pairs", "shapes-clip")}
    alone = plan_of(re.sub(r"methods: \[chance, .*\]", "methods: [chance]", TEXT), {"other": on_other()})
    assert (alone.backbones, alone.corpora, alone.features) == ({}, {}, {})
    assert [batch.backbone for batch in alone.batches] == [None]


def test_a_variant_on_the_other_backbone_brings_it_and_its_features() -> None:
    plan = plan_of(TEXT, {"other": on_other()})
    assert set(plan.backbones) == set(plan.corpora) == {"shapes-clip", "shapes-resnet"}
    assert set(plan.features) == {("shapes-pairs", "shapes-clip"), ("shapes-pairs", "shapes-resnet")}
    (run,), main = plan.runs_of("other", "shapes-pairs"), plan.runs_of("csp", "shapes-pairs")[0]
    assert (run.backbone, main.backbone) == ("shapes-resnet", "shapes-clip")
    backbone, features = plan.backbones["shapes-resnet"], plan.features["shapes-pairs", "shapes-resnet"]
    assert run.document["backbone"] == {"name": "shapes-resnet", "digest": backbone.digest}
    assert run.document["features"] == {"name": features.name, "digest": features.digest}
    differ = {key for key in run.document if run.document[key] != main.document[key]}
    assert differ == {"backbone", "features"}
    assert sorted(str(batch.backbone) for batch in plan.batches) == ["None", "shapes-clip", "shapes-resnet"]
    # both are pretrained on the same scenes, which are drawn once
    assert len({corpus.digest for corpus in plan.corpora.values()}) == 1
    assert {recipe.name for recipe in plan.stored()["backbones"]} == {"shapes-clip", "shapes-resnet"}
    assert len(plan.stored()["features"]) == 2


def test_features_by_the_other_backbone_are_planned_where_a_variant_needs_them() -> None:
    plan = plan_of(TEXT.replace("profile: demo", "profile: paper"), {"other": on_other()})
    by_other = [dataset for dataset, backbone in plan.features if backbone == "clip-rn50"]
    assert by_other == ["ut-zappos"]
    assert len(plan.features) == 3 + 1
    assert set(plan.backbones) == {"clip-vit-l-14", "clip-rn50"}
    assert plan.corpora == {}


def test_without_another_backbone_its_variants_are_left_out() -> None:
    text = TEXT.replace("other_backbone: shapes-resnet", "other_backbone: null", 1)
    plan = plan_of(text, {"other": on_other(), "msci-mean": variant(aggregation="mean")})
    assert plan.runs_of("other", "shapes-pairs") == []
    assert plan.runs == plan_of(text, {"msci-mean": variant(aggregation="mean")}).runs
    assert set(plan.backbones) == {"shapes-clip"}


def test_where_the_other_backbone_is_the_main_one_runs_are_shared() -> None:
    plan = plan_of(
        TEXT.replace("other_backbone: shapes-resnet", "other_backbone: shapes-clip", 1), {"other": on_other()}
    )
    assert plan.runs_of("other", "shapes-pairs")[0].digest == plan.runs_of("csp", "shapes-pairs")[0].digest
    assert plan.runs == plan_of(TEXT).runs


def test_an_edit_of_the_other_backbone_makes_its_runs_new_alone() -> None:
    head, section = TEXT.split("  shapes-resnet: #")
    edited = head + "  shapes-resnet: #" + section.replace("scenes: 24000", "scenes: 24001", 1)
    assert changed(edited, {"other": on_other()}) == {"other": 1}
    assert changed(edited) == {}
