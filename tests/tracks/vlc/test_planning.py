"""The plan of vision-language compositionality: what trains, what is scored, and what they share."""

import pytest

from recompose.papers.declaration import Variant
from recompose.plan import Plan, Planner, Recipe
from recompose.tracks import TRACKS
from tests.configuration import params_text, parse_params

CORPORA = ["laion-coco-100k", "coco-100k"]
SUITES = ["sugarcrepe", "coco"]
TRAINER = {"precision": "32-true", "threads": 1, "accelerator": "cpu", "devices": 1}
COMMON = {"seeds": [0, 1, 2], "variant_seeds": [0]}
DRAWN = COMMON | {
    "datasets": ["shapes-laion", "shapes-coco"],
    "suites": ["shapes-suites"],
    "image_size": 32,
    "backbone": "shapes-clip-from-scratch",
    "methods": ["clip", "negclip", "fsc-clip"],
}
PUBLISHED = COMMON | {
    "datasets": CORPORA,
    "suites": SUITES,
    "image_size": 224,
    "backbone": "clip-vit-b-32",
    "methods": ["clip", "clip-ft", "negclip", "ce-clip", "fsc-clip", "clip-cae"],
}
PROFILES = {
    "profiles.drawn": {"trainer": TRAINER, "vlc": DRAWN},
    "profiles.published": {"trainer": TRAINER, "vlc": PUBLISHED},
}
TEXT = params_text("drawn", PROFILES)


def plan_of(profile: str, variants: dict[str, Variant] | None = None, *edits: str) -> Plan:
    """The plan of the one track, with these variants and none that papers declare."""
    params = parse_params(TEXT, profile=profile, edits=edits)
    return Plan({"vlc": TRACKS["vlc"].plan(params, Planner(params), variants or {})})


def variant(profile: str, method: str = "fsc-clip", **fields: object) -> Variant:
    datasets = ["shapes-laion", "shapes-coco"] if profile == "drawn" else CORPORA
    return Variant.model_validate({"method": method, "datasets": datasets, "every_seed": True, **fields})


def digests(recipes: list[Recipe]) -> list[str]:
    return [recipe.digest for recipe in recipes]


def new(old: Plan, plan: Plan, kind: str) -> list[Recipe]:
    had = set(digests(old.of(kind)))
    return [recipe for recipe in plan.of(kind) if recipe.digest not in had]


BOTH = pytest.mark.parametrize("profile", ["drawn", "published"])


@BOTH
def test_every_method_trains_on_each_corpus_with_each_seed_and_clip_not_at_all(profile: str) -> None:
    plan = plan_of(profile)
    (track,) = plan.tracks.values()
    trained = [name for name in track.methods if name != "clip"]
    runs = {(run.labels["name"], run.labels["dataset"], run.labels["seed"]) for run in plan.of("runs")}
    assert runs == {(name, corpus, seed) for name in trained for corpus in track.benchmarks for seed in range(3)}
    assert len(plan.of("runs")) == len(runs)
    assert all(("run" in each.needs) == (each.labels["name"] != "clip") for each in plan.of("evaluations"))


@BOTH
def test_another_alpha_scores_anew_and_trains_nothing(profile: str) -> None:
    old = plan_of(profile)
    edited = plan_of(profile, None, "vlc.methods.fsc-clip.scoring={alpha: 0.5, activation: own}")
    assert new(old, edited, "runs") == []
    assert {each.labels["name"] for each in new(old, edited, "evaluations")} == {"fsc-clip"}
    halfway = variant(profile, reuse_runs_of="fsc-clip", settings={"scoring": {"alpha": 0.5}})
    declared = plan_of(profile, {"halfway": halfway})
    assert new(old, declared, "runs") == []
    for corpus in declared.benchmarks("vlc"):
        assert digests(declared.evaluations("vlc", "halfway", corpus)) == digests(
            edited.evaluations("vlc", "fsc-clip", corpus)
        )


@BOTH
def test_clip_is_scored_once_for_all_corpora(profile: str) -> None:
    """Of drawn suites in each world, of published ones once."""
    plan = plan_of(profile)
    first, second = (plan.evaluations("vlc", "clip", corpus) for corpus in plan.benchmarks("vlc"))
    assert digests(first) == digests(second)
    assert len(set(digests(first))) == len(first) == (3 if profile == "drawn" else 1)


def test_drawn_suites_are_of_the_seed_s_world() -> None:
    plan = plan_of("drawn")
    for name in ("clip", "fsc-clip"):
        for seed, evaluation in enumerate(plan.evaluations("vlc", name, "shapes-laion")):
            suites = evaluation.needs["suites-shapes-suites"]
            assert suites.labels["world"] == seed
            assert suites.document["seed"] == 31 + seed
            assert evaluation.needs["pixels-shapes-suites"].needs["data"].digest == suites.digest
            if name != "clip":
                assert evaluation.needs["run"].needs["data"].document["seed"] == 21 + seed


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
def test_settings_of_one_way_of_attribution_train_that_way_alone(edit: str, concerned: set[str]) -> None:
    methods = "profiles.drawn.vlc.methods=[clip-cae]"
    ways = {way: variant("drawn", "clip-cae", settings={"attribution": way}) for way in (*WAYS, "none")}
    own = {"attribution": "none", "negatives": ["negclip"], "negative_loss": "ce-clip"}
    variants = ways | {"ce": variant("drawn", "clip-cae", settings=own)}
    old, plan = (plan_of("drawn", variants, methods, *edits) for edits in ((), (f"vlc.methods.clip-cae.{edit}",)))
    attributed = {"clip-cae": "attention"}  # as params.yaml has it
    for kind in ("runs", "evaluations"):
        assert {
            attributed.get(name, name) for each in new(old, plan, kind) if (name := each.labels["name"])
        } == concerned


def test_how_tracks_and_papers_are_declared_is_no_part_of_what_runs_and_evaluations_are() -> None:
    keeping = variant("drawn", reuse_runs_of="fsc-clip", save=["attribution"])
    plan = plan_of("drawn", {"attributed": keeping})
    (stored,) = {frozenset(each.code) for each in plan.evaluations("vlc", "attributed", "shapes-laion")}
    assert "recompose.tracks.vlc.attribution.attribute" in stored
    for recipe in (*plan.of("runs"), *plan.of("evaluations")):
        others = [name for name in recipe.code if name.startswith(("recompose.tracks.", "recompose.papers"))]
        # they carry out what documents say
        shared = {f"recompose.tracks.{name}" for name in ("arrays", "building", "evaluating", "running")}
        assert all(name.startswith("recompose.tracks.vlc.") for name in {*others} - shared), recipe.name
