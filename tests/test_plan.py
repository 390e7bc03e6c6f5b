"""The plan: what a recipe is, and which edit touches which runs and evaluations."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from recompose.digest import digest
from recompose.errors import PlanError
from recompose.papers.declaration import PAPERS, Variant, load_paper
from recompose.recipes.plan import Plan, Planner, Recipe, closure
from recompose.tracks import TRACKS
from recompose.workspace import Workspace
from tests.configuration import params_text, parse_params
from tests.errors import raises

METHODS = ["chance", "clip", "coop", "csp", "troika", "msci", "duplex"]
DATA = "shapes-pairs"
MAIN, OTHER = "shapes-clip-from-scratch", "shapes-resnet-from-scratch"
SEEDS = "profiles.large.czsl.seeds"
PUBLISHED = ["mit-states", "ut-zappos", "cgqa"]
PINNED = {
    f"profiles.{profile}.czsl": {
        "datasets": datasets,
        "image_size": 32,
        "backbone": main,
        "other_backbone": other,
        "methods": METHODS,
        "seeds": seeds,
        "variant_seeds": variant_seeds,
    }
    for profile, datasets, main, other, seeds, variant_seeds in (
        ("large", [DATA], MAIN, OTHER, [0, 1, 2], [0]),
        ("paper", PUBLISHED, "clip-vit-l-14", "clip-rn50", [0, 1, 2, 3, 4], [0, 1, 2]),
    )
}


def plan_of(
    variants: Mapping[str, Variant] | None = None, values: Mapping[str, object] | None = None, profile: str = "large"
) -> Plan:
    """Return the plan of the one track, with these variants and none that papers declare."""
    params = parse_params(params_text(profile, PINNED | dict(values or {})))
    return Plan({"czsl": TRACKS["czsl"].plan(params, Planner(params), variants or {})})


def evaluations_of(plan: Plan, name: str, benchmark: str = DATA) -> list[Recipe]:
    return plan.evaluations("czsl", name, benchmark)


def runs_of(plan: Plan, name: str, benchmark: str = DATA) -> list[Recipe]:
    return [each.needs["run"] for each in evaluations_of(plan, name, benchmark)]


def digests(recipes: Iterable[Recipe]) -> list[str]:
    return [recipe.digest for recipe in recipes]


def names_of(recipes: Iterable[Recipe], kind: str) -> set[str]:
    return {str(recipe.labels["name"]) for recipe in recipes if recipe.kind == kind}


def changed(values: Mapping[str, object], variants: Mapping[str, Variant] | None = None) -> tuple[set[str], set[str]]:
    """Return the methods and variants of which other values make all runs new, and of which all evaluations."""
    old, new = plan_of(variants), plan_of(variants, values)
    had = set(digests(old.recipes))
    added, kept = ([each for each in new.recipes if (each.digest in had) is known] for known in (False, True))
    runs, evaluations = ((names_of(added, kind), names_of(kept, kind)) for kind in ("runs", "evaluations"))
    assert runs[0].isdisjoint(runs[1]) and evaluations[0].isdisjoint(evaluations[1])
    return runs[0], evaluations[0]


def group(name: str) -> set[str]:
    """Return a method, or those that learn, that need a backbone, or all."""
    plan = plan_of()
    seeing = names_of((each for each in plan.of("evaluations") if "backbone" in each.needs), "evaluations")
    groups = {"": set(), "learning": names_of(plan.recipes, "runs"), "seeing": seeing, "all": set(METHODS)}
    return groups.get(name, {name})


# recipes

LEAF = Recipe("data", "words", {"file": "words.txt"})
OTHER_LEAF = Recipe("data", "words", {"file": "others.txt"})
RECIPE = Recipe(
    "runs", "one", {"lr": 0.1}, {"data": LEAF}, {"recompose.tracks.czsl.methods.prompts": "1"}, "czsl", {"seed": 0}
)


def test_a_recipe_is_called_by_the_digest_of_all_that_determines_it_and_of_nothing_else() -> None:
    nothing = {"needs": {}, "made_by": {}, "code": {}}
    leaf = digest({"kind": "data", "document": {"file": "words.txt"}} | nothing)
    code = {"recompose.tracks.czsl.methods.prompts": "1"}
    whole = digest({"kind": "runs", "document": {"lr": 0.1}} | nothing | {"needs": {"data": leaf}, "code": code})
    assert RECIPE.digest == whole
    assert replace(RECIPE, digest="", name="two", labels={}, sources={"urls": []}).digest == whole
    assert replace(RECIPE, digest="", made_by={"make": "recompose.tracks.czsl.training:train"}).digest != whole
    assert (RECIPE.folder, RECIPE.key) == (whole[:12], f"runs/{whole[:12]}")


def test_a_file_gives_the_recipe_back_and_says_its_digest() -> None:
    read = TypeAdapter(Recipe).validate_python(RECIPE.plain())
    assert read.identity == read.digest == RECIPE.digest
    assert read.plain() == RECIPE.plain()
    assert (read.needs["data"].digest, read.needs["data"].document) == (LEAF.digest, {})
    assert read.linked({LEAF.key: LEAF}).needs["data"] is LEAF
    edited = TypeAdapter(Recipe).validate_python(RECIPE.plain() | {"document": {"lr": 0.2}})
    assert edited.identity != edited.digest == RECIPE.digest


def test_a_closure_has_each_recipe_once_and_what_is_needed_first() -> None:
    backbone = Recipe("backbones", "b", {})
    features = Recipe("features", "f", {}, {"data": LEAF, "backbone": backbone})
    run = Recipe("runs", "r", {}, {"features": features, "data": LEAF})
    same = replace(run, name="the same under another name")
    score = Recipe("evaluations", "e", {}, {"run": run, "data": OTHER_LEAF})
    assert list(closure([score, same, run])) == [LEAF, backbone, features, run, OTHER_LEAF, score]
    assert list(closure([])) == []


def test_evaluations_are_those_of_names_and_of_a_track_that_is_planned() -> None:
    plan = plan_of()
    both = [*evaluations_of(plan, "clip"), *evaluations_of(plan, "csp")]
    assert plan.evaluations_of("czsl", ["csp", "clip"]) == both != []
    assert (
        plan.evaluations_of("gzsl", ["csp"]) == plan.evaluations("gzsl", "csp", DATA) == plan.benchmarks("gzsl") == []
    )


# edits of params.yaml


@pytest.mark.parametrize(
    ("key", "value", "trained", "scored"),
    [
        ("czsl.methods.msci.aggregated", 3, "msci", "msci"),
        ("czsl.methods.clip.prompt", "a picture of {state} {object}", "", "clip"),
        (f"czsl.datasets.{DATA}.seed", 8, "learning", "all"),
        (f"backbones.{MAIN}.scenes", 46001, "learning", "seeing"),
        (f"backbones.{MAIN}.threads", 2, "learning", "seeing"),
        ("profiles.large.trainer.precision", "bf16-mixed", "learning", "seeing"),
        ("profiles.large.trainer.threads", 2, "learning", "seeing"),
        ("profiles.large.trainer.accelerator", "auto", "learning", "seeing"),
        ("profiles.large.trainer.arithmetic", "native", "learning", "seeing"),
        ("profiles.large.trainer.devices", 2, "learning", "learning"),
        ("profiles.large.czsl.other_backbone", None, "", ""),
        ("czsl.feasibility.prompt", "a picture of {name}", "", "seeing"),
        ("czsl.methods.csp.per_dataset.mit-states.training.lr", 6e-5, "", ""),
        # how a trained model is scored trains nothing, and how an epoch is selected does
        ("czsl.methods.msci.scoring.closed", [0.3, 0.7], "", "msci"),
        ("czsl.methods.msci.training.selection.weights", [0.3, 0.7], "msci", "msci"),
    ],
)
def test_an_edit_makes_exactly_that_new_which_it_can_change(key: str, value: object, trained: str, scored: str) -> None:
    assert changed({key: value}) == (group(trained), group(scored))


def test_another_seed_makes_its_own_recipes_new_and_no_others() -> None:
    had = set(digests(plan_of().recipes))
    new = [each for each in plan_of(None, {SEEDS: [0, 1, 9]}).recipes if each.digest not in had]
    methods = [each for each in new if "method" in each.labels]
    assert {each.labels["seed"] for each in methods} == {9}
    assert names_of(methods, "evaluations") == set(METHODS)
    assert names_of(methods, "runs") == group("learning")


def test_a_method_without_randomness_is_scored_once_on_a_published_data_set_and_in_each_synthetic_world() -> None:
    worlds, paper = plan_of(), plan_of(profile="paper")
    for method in METHODS:
        evaluations = evaluations_of(worlds, method)
        assert [each.labels["seed"] for each in evaluations] == [0, 1, 2]
        assert len({each.needs["data"].digest for each in evaluations}) == 3
        once = [evaluation.labels["seed"] for evaluation in evaluations_of(paper, method, "cgqa")]
        assert once == ([0] if method == "clip" else [0, 1, 2, 3, 4])


@pytest.mark.parametrize(
    ("edited", "trained", "scored"),
    [
        ("recompose.tracks.czsl.methods.duplex.model", "duplex", "duplex"),
        ("recompose.tracks.czsl.methods.prompts", "learning", "all"),
        ("recompose.training.pretraining", "learning", "seeing"),
        ("recompose.tracks.czsl.training", "learning", "learning"),
        ("recompose.tracks.czsl.evaluation", "", "all"),
        ("recompose.tracks.czsl.metrics.feasibility", "", "all"),
        ("recompose.synthetic.objects", "learning", "all"),
        # metrics follow from scores: a metric neither trains nor scores
        ("recompose.tracks.czsl.metric_values", "", ""),
        ("recompose.tracks.czsl.metrics.czsl", "", ""),
        ("recompose.progress", "", ""),
        ("recompose.recipes.store", "", ""),
    ],
)
def test_an_edit_of_code_remakes_its_users(
    monkeypatch: pytest.MonkeyPatch, edited: str, trained: str, scored: str
) -> None:
    from recompose.recipes import plan as shared

    old, expected = set(digests(plan_of().recipes)), (group(trained), group(scored))
    right: Callable[..., dict[str, str]] = shared.fingerprint

    def other(names: Iterable[str]) -> dict[str, str]:
        return {name: ("edited" if name == edited else value) for name, value in right(names).items()}

    monkeypatch.setattr(shared, "fingerprint", other)
    new = [recipe for recipe in plan_of().recipes if recipe.digest not in old]
    assert (names_of(new, "runs"), names_of(new, "evaluations")) == expected


# variants


def variant(**changed: object) -> Variant:
    return Variant(method="msci", settings=changed, datasets=["shapes-pairs", "ut-zappos"])


def test_a_variant_changes_its_settings_and_has_seeds_of_its_own() -> None:
    plan = plan_of({"msci-mean": variant(aggregation="mean")})
    (evaluation,) = evaluations_of(plan, "msci-mean")
    run, plain = evaluation.needs["run"], runs_of(plan, "msci")[0]
    assert run.document["settings"] == plain.document["settings"] | {"aggregation": "mean"}
    assert evaluation.name == run.name == "msci-mean on shapes-pairs, seed 0"
    assert [len(plan.of(kind)) - len(plan_of().of(kind)) for kind in ("runs", "evaluations")] == [1, 1]


def test_a_variant_that_changes_nothing_shares_everything_of_its_method() -> None:
    plan = plan_of({"msci-2-layers": variant(aggregated=2)})
    assert evaluations_of(plan, "msci-2-layers")[0].digest == evaluations_of(plan, "msci")[0].digest
    assert digests(plan.recipes) == digests(plan_of().recipes)
    assert names_of(plan.recipes, "evaluations") == set(METHODS)


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["large", "demo", "smoke", "paper"])
def test_every_declared_variant_fits_and_every_measured_row_is_scored(profile: str, tmp_path: Path) -> None:
    """But for those that a small profile leaves out, or whose method."""
    params = parse_params(params_text(profile))
    plan = Workspace(tmp_path).plan_of(params)

    def assert_measured(track: str, names: Iterable[str]) -> None:
        for measured in names:
            variant = TRACKS[track].variants.get(measured)
            if (variant.method if variant else measured) not in plan.tracks[track].methods:
                assert profile != "paper", measured
                continue
            if measured in params.chosen.tracks[track].leave_out:
                assert profile in ("demo", "smoke"), measured
                assert not any(plan.evaluations(track, measured, each) for each in plan.benchmarks(track))
                continue
            on = set(variant.datasets if variant else plan.benchmarks(track)) & set(plan.benchmarks(track))
            assert all(plan.evaluations(track, measured, each) for each in on), measured

    for name in PAPERS:
        paper = load_paper(name)
        for artifact in paper.artifacts:
            assert_measured(paper.track, paper.methods_of(artifact))
        for claim in paper.claims.values():
            assert_measured(paper.track, claim.methods)


# scoring another's run


def scoring(of: str, closed: list[float], **changed: object) -> Variant:
    """What trained under another name, with other settings of scoring."""
    return variant(scoring={"closed": closed}, **changed).model_copy(update={"reuse_runs_of": of})


SCORED = {
    "msci-mean": variant(aggregation="mean"),
    "scored": scoring("msci", [1.0, 0.0]).model_copy(update={"every_seed": True}),
    "scored-mean": scoring("msci-mean", [0.0, 1.0], aggregation="mean"),
}


def test_scored_otherwise_a_run_is_shared() -> None:
    plan = plan_of(SCORED)
    for name, source in (("scored", "msci"), ("scored-mean", "msci-mean")):
        own = {each.labels["seed"]: each for each in evaluations_of(plan, name)}
        theirs = {each.labels["seed"]: each for each in evaluations_of(plan, source)}
        for seed, evaluation in own.items():
            assert evaluation.needs["run"].digest == theirs[seed].needs["run"].digest
            assert evaluation.digest != theirs[seed].digest
    assert [each.labels["seed"] for each in evaluations_of(plan, "scored")] == [0, 1, 2]
    assert [each.labels["seed"] for each in evaluations_of(plan, "scored-mean")] == [0]
    assert names_of(plan.recipes, "runs") == group("learning") | {"msci-mean"}


def test_an_edit_that_trains_anew_scores_anew_and_one_of_scoring_does_not_train() -> None:
    trained = {"msci", "msci-mean"}
    assert changed({"czsl.methods.msci.share": 0.3}, SCORED) == (trained, {*trained, "scored", "scored-mean"})
    old = set(digests(plan_of(SCORED).recipes))
    edited = plan_of(SCORED | {"scored": scoring("msci", [0.25, 0.75])})
    assert [recipe.labels["name"] for recipe in edited.recipes if recipe.digest not in old] == ["scored"]


@pytest.mark.parametrize(
    "wrong",
    [
        scoring("msci", [1.0, 0.0], aggregation="mean"),
        scoring("msci-mean", [1.0, 0.0]),
        scoring("msci", [1.0, 0.0]).model_copy(update={"backbone": "other"}),
        scoring("csp", [1.0, 0.0]),
    ],
)
def test_what_differs_in_more_than_scoring_needs_runs_of_its_own(wrong: Variant) -> None:
    with raises(PlanError, "other-runs", "wrong"):
        plan_of({"msci-mean": variant(aggregation="mean"), "wrong": wrong})


# the other backbone


def on_other(method: str = "csp", **changed: object) -> Variant:
    return Variant(method=method, settings=changed, datasets=["shapes-pairs", "ut-zappos"], backbone="other")


def names(plan: Plan, kind: str) -> list[str]:
    return [recipe.name for recipe in plan.of(kind)]


def test_a_variant_on_the_other_backbone_brings_it_and_its_features() -> None:
    plan = plan_of({"other": on_other()})
    assert set(names(plan, "backbones")) == {MAIN, OTHER}
    assert set(names(plan, "features")) == {f"shapes-pairs by {MAIN}", f"shapes-pairs by {OTHER}"}
    (run,), main = runs_of(plan, "other"), runs_of(plan, "csp")[0]
    assert (run.needs["backbone"].name, main.needs["backbone"].name) == (OTHER, MAIN)
    assert run.needs["features"].name == f"shapes-pairs by {OTHER}"
    assert run.needs["features"].needs["backbone"].digest == run.needs["backbone"].digest
    assert (run.document, run.code) == (main.document, main.code)
    assert {role for role in run.needs if run.needs[role].digest != main.needs[role].digest} == {"backbone", "features"}
    # both are pretrained on the same scenes, which are drawn once
    assert names(plan, "data").count("shapes-scenes") == 1
