"""The plan: which edit touches which runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from recompose.params import Params, parse_params
from recompose.plan import Plan, make_plan

TEXT = (Path(__file__).parent.parent / "params.yaml").read_text()


def plan_of(text: str) -> Plan:
    return make_plan(parse_params(text))


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
        ("    dropout: 0.1", "    dropout: 0.4", {"csp": 5}),
        ("  clip:\n    prompt: a photo of", "  clip:\n    prompt: a picture of", {"clip": 1}),
        ("seed: 7", "seed: 8", {"chance": 5, "clip": 1, "coop": 5, "csp": 5}),
        ("scenes: 24000", "scenes: 24001", {"clip": 1, "coop": 5, "csp": 5}),
        ("activation: gelu", "activation: quick_gelu", {"clip": 1, "coop": 5, "csp": 5}),
        (
            "seeds: [0, 1, 2, 3, 4]\n    runs_per_process: 100",
            "seeds: [0, 1, 9]\n    runs_per_process: 100",
            {"chance": 1, "coop": 1, "csp": 1},
        ),
        (
            "seeds: [0, 1, 2, 3, 4]\n    runs_per_process: 100",
            "seeds: [5]\n    runs_per_process: 100",
            {"chance": 1, "coop": 1, "csp": 1},
        ),
        ("precision: 32-true", "precision: bf16-mixed", {"clip": 1, "coop": 5, "csp": 5}),
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
    assert [len(plan.runs_of(method, "shapes-pairs")) for method in ("chance", "clip", "coop", "csp")] == [5, 1, 5, 5]


def test_every_run_is_in_one_batch_of_its_data_set() -> None:
    for size in (1, 2, 100):
        plan = plan_of(TEXT.replace("runs_per_process: 100", f"runs_per_process: {size}"))
        batched = [run.digest for batch in plan.batches for run in batch.runs]
        assert sorted(batched) == sorted(run.digest for run in plan.runs)
        assert all(len(batch.runs) <= size for batch in plan.batches)
        assert all(run.dataset == batch.dataset for batch in plan.batches for run in batch.runs)


def test_no_two_runs_share_a_digest() -> None:
    plan = plan_of(TEXT.replace("profile: demo", "profile: paper"))
    assert len({run.digest for run in plan.runs}) == len(plan.runs) == 3 * 16


@pytest.mark.parametrize(
    ("edited", "touched"),
    [
        ("recompose.methods.csp", {"csp"}),
        ("recompose.methods.parts.slots", {"coop", "csp"}),
        ("recompose.backbones.features", {"clip", "coop", "csp"}),
        ("recompose.backbones.pretrain", {"clip", "coop", "csp"}),
        ("recompose.training.run", {"clip", "coop", "csp"}),
        ("recompose.metrics.czsl", {"chance", "clip", "coop", "csp"}),
        ("recompose.data.shapes.draw", {"chance", "clip", "coop", "csp"}),
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
    new = {run.digest: run.method for run in make_plan(params).runs}
    monkeypatch.undo()
    old = {run.digest for run in make_plan(params).runs}
    assert {method for digest, method in new.items() if digest not in old} == touched
