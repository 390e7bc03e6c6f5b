"""What a profile needs of the track: which data, runs and evaluations go with which seed, and which settings fit."""

from collections.abc import Mapping

import pytest

from recompose.errors import ParamsError
from recompose.papers.declaration import Variant
from recompose.recipes.plan import Plan, Planner, TrackPlan
from recompose.tracks import TRACKS
from recompose.tracks.czsl import CZSL
from recompose.tracks.czsl.catalogue import METHODS, Czsl
from tests.configuration import params_text, parse_params
from tests.errors import raises

SECTION = parse_params(params_text("paper")).tracks["czsl"]
assert isinstance(SECTION, Czsl)
DECLARED = {name: variant for name, variant in TRACKS["czsl"].variants.items() if variant.method in METHODS}


@pytest.mark.parametrize("name", [name for name, variant in DECLARED.items() if not variant.reuse_runs_of])
def test_what_a_variant_trains_is_selected_as_it_is_scored(name: str) -> None:
    variant = DECLARED[name]
    for dataset in variant.datasets:
        settings = SECTION.settings(variant.method, dataset, variant.settings).document()
        if "scoring" in settings:
            selection, weights = settings["training"]["selection"], variant.settings.get("scoring", {}).get("closed")
            assert weights in (None, selection["weights"])
            assert selection["fusion"] == settings["scoring"]["fusion"]


def test_heads_that_begin_at_zero_have_to_end_linear() -> None:
    changed = {"disentangler_start": "residual-zero"}
    with raises(ParamsError, place="disentangler_start"):
        SECTION.settings("troika", "shapes-pairs", changed).document()
    SECTION.settings("troika", "shapes-pairs", changed | {"disentangler_end": "linear"}).document()


def planned(profile: str, *edits: str, variants: Mapping[str, Variant] | None = None) -> TrackPlan:
    params = parse_params(params_text(profile), edits=edits)
    return CZSL().plan(params, Planner(params), variants or {})


def runs(*edits: str) -> dict[str, str]:
    """Return the precision of each run, by its digest."""
    plan = Plan({"czsl": planned("demo", *edits, variants=TRACKS["czsl"].variants)})
    return {run.digest: run.document["trainer"]["precision"] for run in plan.of("runs")}


def test_a_method_s_own_precision_stands_above_the_trainer_s_and_makes_another_run() -> None:
    own = "czsl.methods.duplex.training.precision="
    assert runs(own + "32-true") == runs()
    assert set(runs().values()) == {"32-true"}
    assert set(runs(own + "bf16-mixed").values()) == {"32-true", "bf16-mixed"}
    assert runs(own + "bf16-mixed").keys() != runs().keys()


SHAPES = "shapes-pairs"
FEW = ("profiles.large.czsl.seeds=[3, 1]", "profiles.large.czsl.variant_seeds=[3]")
VARIANTS = {
    "once": Variant(method="csp", settings={"dropout": 0.5}, datasets=[SHAPES]),
    "often": Variant(method="csp", settings={"dropout": 0.6}, datasets=[SHAPES], every_seed=True),
    "interpretation": Variant(method="csp", settings={"dropout": 0.7}, datasets=[SHAPES], interpretation=True),
    "rescored": Variant(
        method="troika",
        settings={"scoring": {"closed": [0.5, 0.5]}},
        datasets=[SHAPES],
        reuse_runs_of="troika",
        every_seed=True,
    ),
}


def seeds_of(plan: TrackPlan, name: str, benchmark: str = SHAPES) -> list[int]:
    return [int(each.labels["seed"]) for each in plan.evaluations[name, benchmark]]


@pytest.fixture(scope="module")
def plan() -> TrackPlan:
    return planned("large", *FEW, variants=VARIANTS)


def test_a_run_sees_the_replicate_that_its_evaluation_scores(plan: TrackPlan) -> None:
    for evaluation in plan.evaluations["csp", SHAPES]:
        run, data = evaluation.needs["run"], evaluation.needs["data"]
        assert run.needs["data"].digest == data.digest == evaluation.needs["pixels"].needs["data"].digest
        assert run.needs["pixels"].digest == evaluation.needs["pixels"].digest
        assert run.needs["features"].digest == evaluation.needs["features"].digest
        assert run.needs["features"].needs["pixels"].digest == run.needs["pixels"].digest
        assert run.document["seed"] == evaluation.document["seed"] == evaluation.labels["seed"]


@pytest.mark.parametrize(
    ("given", "expected"), [("[1, 3]", [1, 3]), ("[0, 2, 3]", [3]), ("[0, 2]", [4]), ("null", [4])]
)
def test_other_readings_have_seeds_of_their_own_that_methods_have_or_those_of_variants(
    given: str, expected: list[int]
) -> None:
    choice = {"seeds": "[3, 1]", "variant_seeds": "[4]", "interpretation_seeds": given}
    plan = planned("large", *(f"profiles.large.czsl.{key}={value}" for key, value in choice.items()), variants=VARIANTS)
    assert (seeds_of(plan, "interpretation"), seeds_of(plan, "once"), seeds_of(plan, "csp")) == (expected, [4], [3, 1])


# what a profile leaves out, and what it repeats


def test_variants_that_a_profile_leaves_out_are_planned_nowhere_and_move_no_other() -> None:
    left = planned("large", "profiles.large.czsl.leave_out=[once]", variants=VARIANTS)
    whole = planned("large", variants=VARIANTS)
    names = {name for name, _ in whole.evaluations}
    assert {name for name, _ in left.evaluations} == names - {"once"}
    for key, evaluations in left.evaluations.items():
        assert [each.digest for each in evaluations] == [each.digest for each in whole.evaluations[key]]


@pytest.mark.parametrize(
    ("key", "name"),
    [("papers", "mcsi"), ("papers", "crest"), ("leave_out", "oftn"), ("leave_out", "csp")],
)
def test_to_choose_a_name_that_the_track_does_not_have_is_an_error(key: str, name: str) -> None:
    """A typing mistake; another track's paper; a method, which is left out of methods."""
    with raises(ParamsError, place=f"profiles.large.czsl.{key}") as caught:
        planned("large", f"profiles.large.czsl.{key}=[{name}]", variants=VARIANTS)
    assert f"'{name}'" in str(caught.value)


def test_variants_are_repeated_with_every_seed_only_where_the_profile_says_so() -> None:
    edits = (*FEW, "profiles.large.czsl.repeat_variants=false")
    plan = planned("large", *edits, variants=VARIANTS)
    assert (seeds_of(plan, "often"), seeds_of(plan, "rescored"), seeds_of(plan, "csp")) == ([3], [3], [3, 1])
    # with fewer seeds, a row of the headline's table would take those of all others
    beside = {"dfsp-bif": Variant(method="dfsp", settings={"fusion": "BiF"}, datasets=[SHAPES], every_seed=True)}
    plan = planned("large", *edits, variants=beside)
    assert seeds_of(plan, "dfsp-bif") == [3, 1]
    synonym = Variant(method="csp", datasets=[SHAPES], every_seed=True)  # what it shows is there
    plan = planned("large", *edits, variants={"csp-too": synonym})
    own, other = plan.evaluations["csp", SHAPES], plan.evaluations["csp-too", SHAPES]
    assert [each.digest for each in own] == [each.digest for each in other]


def test_a_profile_without_seeds_of_ablations_runs_methods_alone() -> None:
    none = ("variant_seeds=null", "interpretation_seeds=null", "repeat_variants=false")
    plan = planned("large", *(f"profiles.large.czsl.{edit}" for edit in none), variants=VARIANTS)
    whole = planned("large", variants=VARIANTS)
    assert plan.methods == whole.methods
    assert {name for name, _ in plan.evaluations} == {name for name, _ in whole.evaluations} - VARIANTS.keys()


# names that mean the same


@pytest.mark.parametrize(("profile", "dataset"), [("demo", SHAPES), ("paper", "ut-zappos")])
def test_the_semantic_side_of_duplex_and_c_s_o_are_one_recipe(profile: str, dataset: str) -> None:
    plan = planned(profile, variants=TRACKS["czsl"].variants)
    by_name, own = plan.evaluations["duplex-semantic", dataset], plan.evaluations["c-s-o", dataset]
    assert [each.digest for each in by_name] == [each.digest for each in own]
    assert [each.needs["run"].digest for each in by_name] == [each.needs["run"].digest for each in own]
    recipes = Plan({"czsl": plan}).of("evaluations")
    assert len([each for each in recipes if each.digest == own[0].digest]) == 1


def test_evaluations_go_together_that_differ_in_scoring_and_what_they_keep_alone() -> None:
    plan = planned("demo", variants=TRACKS["czsl"].variants)

    def together(*names: str) -> int:
        return len({CZSL().pass_key(plan.evaluations[name, SHAPES][0]) for name in names})

    assert together("msci", "msci-printed-fusion", "msci-selected-fusion", "msci-text-path") == 1
    tested = [name for name, dataset in plan.evaluations if name.startswith("duplex-tested") and dataset == SHAPES]
    assert tested
    assert together("duplex", "duplex-shown", "duplex-text-path", "duplex-prototype-path", *tested) == 1
    assert together("msci", "msci-without-df", "duplex", "c-s-o", "csp") == 5
    one, other = plan.evaluations["msci", SHAPES][:2]
    assert CZSL().pass_key(one) != CZSL().pass_key(other)
    chance = plan.evaluations["chance", SHAPES][0]
    assert CZSL().pass_key(chance) == chance.digest
