"""The plan of vision-language compositionality: what trains, what is scored, what they share, and which edits make them
anew.
"""

import pytest

from recompose.papers.declaration import Variant
from recompose.recipes.plan import Plan, Planner, Recipe
from recompose.tracks import TRACKS
from tests.configuration import params_text, parse_params

VLC = "recompose.tracks.vlc"
WHOLE = {
    "datasets": ["shapes-laion", "shapes-coco"],
    "seeds": [0, 1, 2],
    "variant_seeds": [0],
    "leave_out": [],
    "repeat_variants": True,
}
EDITS = {f"profiles.demo.vlc.{key}": value for key, value in WHOLE.items()}
TEXTS = {"demo": params_text("demo", EDITS), "paper": params_text("paper")}


def plan_of(profile: str, variants: dict[str, Variant] | None = None, *edits: str) -> Plan:
    """The plan of the one track, with these variants and none that papers declare."""
    params = parse_params(TEXTS[profile], edits=edits)
    return Plan({"vlc": TRACKS["vlc"].plan(params, Planner(params), variants or {})})


def variant(plan: Plan, method: str, **fields: object) -> Variant:
    """A variant of every seed on all corpora of a plan."""
    corpora = plan.benchmarks("vlc")
    return Variant.model_validate({"method": method, "datasets": corpora, "every_seed": True, **fields})


def digests(recipes: list[Recipe]) -> list[str]:
    return [recipe.digest for recipe in recipes]


def new(old: Plan, plan: Plan, kind: str) -> list[Recipe]:
    had = set(digests(old.of(kind)))
    return [recipe for recipe in plan.of(kind) if recipe.digest not in had]


@pytest.fixture(scope="module")
def plans() -> dict[str, Plan]:
    return {profile: plan_of(profile) for profile in TEXTS}


@pytest.mark.parametrize("profile", TEXTS)
def test_every_method_trains_on_each_corpus_with_each_seed_and_clip_not_at_all(
    profile: str, plans: dict[str, Plan]
) -> None:
    (track,) = plans[profile].tracks.values()
    trained = [name for name in track.methods if name != "clip"]
    runs = {(run.labels["name"], run.labels["dataset"], run.labels["seed"]) for run in plans[profile].of("runs")}
    seeds = parse_params(TEXTS[profile]).chosen.tracks["vlc"].seeds  # type: ignore[union-attr]
    assert runs == {(name, corpus, seed) for name in trained for corpus in track.benchmarks for seed in seeds}
    evaluations = plans[profile].of("evaluations")
    assert all(("run" in each.needs) == (each.labels["name"] != "clip") for each in evaluations)


@pytest.mark.parametrize("profile", TEXTS)
def test_clip_is_scored_once_for_all_corpora(profile: str, plans: dict[str, Plan]) -> None:
    """Of drawn suites in each world, of published ones once."""
    first, *others = (plans[profile].evaluations("vlc", "clip", each) for each in plans[profile].benchmarks("vlc"))
    assert others and all(digests(each) == digests(first) for each in others)
    assert len(set(digests(first))) == len(first) == (3 if profile == "demo" else 1)


def test_drawn_suites_are_of_the_seed_s_world(plans: dict[str, Plan]) -> None:
    corpora = parse_params(TEXTS["demo"]).tracks["vlc"].datasets  # type: ignore[attr-defined]
    for corpus in plans["demo"].benchmarks("vlc"):
        for seed, evaluation in enumerate(plans["demo"].evaluations("vlc", "fsc-clip", corpus)):
            suites = evaluation.needs["suites-shapes-suites"]
            assert suites.labels["world"] == seed
            assert evaluation.needs["pixels-shapes-suites"].needs["data"].digest == suites.digest
            assert evaluation.needs["run"].needs["data"].document["seed"] == corpora[corpus].seed + seed


WAYS = ("attention", "gradcam", "perturbation", "gradient")


@pytest.mark.parametrize(
    ("edit", "concerned"),
    [
        *((f"attribution_weights.{way}=7.0", {way}) for way in WAYS),
        ("gradient.support=context", {"gradient"}),
        ("perturbation.count=3", {"perturbation"}),
        ("ce_clip.threshold=5.0", {"ce"}),
        ("margin=0.1", {*WAYS, "none", "ce"}),
    ],
)
def test_settings_of_one_way_of_attribution_train_that_way_alone(
    edit: str, concerned: set[str], plans: dict[str, Plan]
) -> None:
    methods = "profiles.demo.vlc.methods=[clip-cae]"
    ways = {way: variant(plans["demo"], "clip-cae", settings={"attribution": way}) for way in (*WAYS, "none")}
    own = {"attribution": "none", "negatives": ["negclip"], "negative_loss": "ce-clip"}
    variants = ways | {"ce": variant(plans["demo"], "clip-cae", settings=own)}
    old, plan = (plan_of("demo", variants, methods, *edits) for edits in ((), (f"vlc.methods.clip-cae.{edit}",)))
    attributed = {"clip-cae": "attention"}  # as params.yaml has it
    for kind in ("runs", "evaluations"):
        names = {str(each.labels["name"]) for each in new(old, plan, kind)}
        assert {attributed.get(name, name) for name in names} == concerned


@pytest.mark.parametrize(
    ("module", "kinds"),
    [
        ("data.synthetic_suites.standalone", {"data"}),
        ("data.formats.aro", {"data"}),  # drawn by the profile
        ("data.formats.bivlc", set()),
        ("evaluation", {"evaluations"}),
        # tasks know how they are scored, and are read with the pictures of their suites
        ("suites.tasks", {"data", "pixels", "evaluations"}),
        ("suites.embeddings", {"evaluations"}),
        *((f"suites.{name}", set()) for name in ("accuracy", "judges", "values")),
        ("figures.metrics", set()),
        ("training", {"runs"}),
        ("losses", {"runs", "evaluations"}),
    ],
)
def test_the_code_of_a_content_is_what_can_move_it(module: str, kinds: set[str], plans: dict[str, Plan]) -> None:
    recipes = plans["demo"].recipes
    assert {recipe.kind for recipe in recipes if f"{VLC}.{module}" in recipe.code} == kinds
    shared = {f"recompose.tracks.{name}" for name in ("arrays", "building", "evaluating", "running")}
    for recipe in recipes:
        if recipe.kind in ("runs", "evaluations"):  # they carry out what documents say, whoever declares it
            others = {name for name in recipe.code if name.startswith(("recompose.tracks.", "recompose.papers"))}
            assert all(name.startswith(f"{VLC}.") for name in others - shared), recipe.name


def test_attribution_is_code_of_the_evaluations_that_save_it(plans: dict[str, Plan]) -> None:
    saving = {"attributed": variant(plans["demo"], "fsc-clip", reuse_runs_of="fsc-clip", save=["attribution"])}
    for recipe in plan_of("demo", saving).of("evaluations"):
        saves = "attribution" in recipe.document["save"]
        assert (f"{VLC}.attribution.attribute" in recipe.code) == saves == (recipe.labels["name"] == "attributed")
        method = recipe.document["class"].partition(":")[0]
        assert method in recipe.code
        assert (f"{VLC}.methods.fsc_clip" in recipe.code) == (method == f"{VLC}.methods.fsc_clip")
