"""The plan: which edit touches which runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from recompose.papers.declaration import PAPERS, Variant, declared_variants, load_paper
from recompose.params import Params, ParamsError, parse_params
from recompose.plan import Plan, make_plan

TEXT = (Path(__file__).parent.parent / "params.yaml").read_text()


TRAINED = ("coop", "csp", "c-s-o", "troika", "msci")
THREE_PATH = {"c-s-o", "troika", "msci"}
ON_BACKBONE = {"clip": 1, **dict.fromkeys(TRAINED, 3)}


def plan_of(text: str, variants: dict[str, Variant] | None = None) -> Plan:
    return make_plan(parse_params(text), variants or {})


def changed(text: str) -> dict[str, int]:
    """How many runs of each method an edit makes new."""
    old = {run.digest for run in plan_of(TEXT).runs}
    counts: dict[str, int] = {}
    for run in plan_of(text).runs:
        if run.digest not in old:
            counts[run.method] = counts.get(run.method, 0) + 1
    return counts


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
        ("runs_per_process: 100", "runs_per_process: 3", {}),
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
    assert [len(plan.runs_of(method, "shapes-pairs")) for method in ("chance", "clip", *TRAINED)] == [3, 1, *[3] * 5]


def test_every_run_is_in_one_batch_of_its_data_set() -> None:
    for size in (1, 2, 100):
        plan = plan_of(TEXT.replace("runs_per_process: 100", f"runs_per_process: {size}"))
        batched = [run.digest for batch in plan.batches for run in batch.runs]
        assert sorted(batched) == sorted(run.digest for run in plan.runs)
        assert all(len(batch.runs) <= size for batch in plan.batches)
        assert all(run.dataset == batch.dataset for batch in plan.batches for run in batch.runs)


def test_no_two_runs_share_a_digest() -> None:
    plan = plan_of(TEXT.replace("profile: demo", "profile: paper"))
    assert len({run.digest for run in plan.runs}) == len(plan.runs) == 3 * (5 + 1 + 5 * 5)


@pytest.mark.parametrize(
    ("edited", "touched"),
    [
        ("recompose.methods.csp", {"csp"}),
        ("recompose.methods.parts.slots", set(TRAINED)),
        ("recompose.methods.parts.adapters", THREE_PATH),
        ("recompose.methods.parts.attention", {"troika", "msci"}),
        ("recompose.backbones.features", set(ON_BACKBONE)),
        ("recompose.backbones.pretrain", set(ON_BACKBONE)),
        ("recompose.training.run", set(ON_BACKBONE)),
        ("recompose.metrics.czsl", {"chance", *ON_BACKBONE}),
        ("recompose.data.shapes.draw", {"chance", *ON_BACKBONE}),
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
    text = TEXT.replace("troika, msci]", "troika]")
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
    for name in PAPERS:
        for artifact in load_paper(name).artifacts.values():
            for measured in artifact.measured.values():
                assert any(plan.runs_of(measured, dataset) for dataset in plan.datasets), measured
