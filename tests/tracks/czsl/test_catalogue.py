"""The catalogue and params.yaml: each adapter has its settings, variants of papers fit, and runs have a precision."""

import pytest

from recompose.errors import ParamsError
from recompose.plan import Plan, Planner
from recompose.tracks import TRACKS
from recompose.tracks.czsl import CZSL
from recompose.tracks.czsl.catalogue import METHODS
from recompose.tracks.czsl.params import Czsl
from tests.configuration import params_text, parse_params
from tests.errors import raises

SECTION = parse_params(params_text("paper")).tracks["czsl"]
assert isinstance(SECTION, Czsl)
VARIANTS = {name: variant for name, variant in TRACKS["czsl"].variants.items() if variant.method in METHODS}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_fits_and_one_that_evaluates_changes_scoring_alone(name: str) -> None:
    variant = VARIANTS[name]
    for dataset in variant.datasets:
        settings = SECTION.settings(variant.method, dataset, variant.settings).document()
        if variant.reuse_runs_of:
            assert variant.settings.keys() <= {"scoring"}
        elif "scoring" in settings:
            changed = variant.settings.get("scoring", {})
            selection = settings["training"]["selection"]
            assert "closed" not in changed or selection["weights"] == changed["closed"]
            assert selection["fusion"] == settings["scoring"]["fusion"]


def test_heads_that_begin_at_zero_have_to_end_linear() -> None:
    changed = {"disentangler_start": "residual-zero"}
    with raises(ParamsError, place="disentangler_start"):
        SECTION.settings("troika", "shapes-pairs", changed).document()
    SECTION.settings("troika", "shapes-pairs", changed | {"disentangler_end": "linear"}).document()


def runs(*edits: str) -> dict[str, str]:
    """Return the precision of each run, by its digest."""
    params = parse_params(params_text(), edits=("profile=demo", *edits))
    plan = Plan({"czsl": CZSL().plan(params, Planner(params), TRACKS["czsl"].variants)})
    return {run.digest: run.document["trainer"]["precision"] for run in plan.of("runs")}


def test_a_method_s_own_precision_stands_above_the_trainer_s_and_makes_another_run() -> None:
    own = "czsl.methods.duplex.training.precision="
    assert runs(own + "32-true") == runs()
    assert set(runs().values()) == {"32-true"}
    assert set(runs(own + "bf16-mixed").values()) == {"32-true", "bf16-mixed"}
    assert runs(own + "bf16-mixed").keys() != runs().keys()
