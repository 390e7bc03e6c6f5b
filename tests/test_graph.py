"""The graph: the jobs of a plan, and what they wait for."""

import json
import math
import os
from pathlib import Path

import pytest

from recompose.costs import SIMILAR, CostEstimate
from recompose.errors import ChangedError, DamagedError, PlanError
from recompose.phases import passes
from recompose.recipes.plan import Recipe, closure
from recompose.recipes.recipe_files import read_recipes, recipe_file, write_recipes
from recompose.workflow.graph import ArtifactJob, Graph, Job, _memory, _minutes, order_papers
from recompose.workflow.job_server import ADDRESS
from recompose.workflow.snakemake_call import GRAPH, Call
from recompose.workspace import Workspace
from tests.configuration import complete, new_workspace
from tests.errors import raises

pytestmark = pytest.mark.slow


def graph_of(work: Workspace, *, scheduled: bool = False) -> Graph:
    return Graph.of_folder(work.root, scheduled=scheduled)


def behind(graph: Graph, key: str) -> set[str]:
    """Return everything that a job waits for, directly or not."""
    needs = set(graph.jobs[key].needs)
    return needs.union(*(behind(graph, need) for need in needs))


def test_each_recipe_is_a_job_that_waits_for_what_it_needs_and_for_nothing_twice(work: Workspace) -> None:
    graph = graph_of(work)
    assert [*graph.jobs] == [recipe.key for recipe in work.plan.recipes]
    for recipe in work.plan.recipes:
        job = graph.jobs[recipe.key]
        assert {need.key for need in recipe.needs.values()} <= behind(graph, recipe.key)
        assert recipe.name in job.title
        own = [need for need in job.needs if not need.startswith("evaluations/")]  # but the first of the pass
        assert not any(need in behind(graph, other) for need in own for other in own)


def test_what_is_missing_behind_a_complete_need_is_waited_for(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = next(each for each in work.plan.of("evaluations") if "run" in each.needs)
    complete(work, closure([evaluation.needs["run"]]))
    assert graph_of(work).jobs[evaluation.key].needs == (evaluation.needs["run"].key,)
    work.store.discard(evaluation.needs["data"].key)
    needs = graph_of(work).jobs[evaluation.key].needs
    assert {evaluation.needs["data"].key, evaluation.needs["run"].key} <= set(needs)
    complete(work, closure([evaluation]))
    work.store.discard(evaluation.needs["run"].key)
    artifact = next(artifact for artifact in graph_of(work).artifacts.values() if evaluation.key in artifact.needs)
    assert evaluation.needs["run"].key in artifact.needs


def test_the_ends_bring_in_all_contents_and_whatever_of_them_is_due(work: Workspace) -> None:
    complete(work, work.plan.recipes)
    for discarded in ([], [work.plan.recipes[0]], [work.plan.of("runs")[3]], work.plan.of("pixels")):
        for recipe in discarded:
            work.store.discard(recipe.key)
        graph = graph_of(work)
        due = {key for key, job in graph.jobs.items() if job.is_due}
        assert due == {recipe.key for recipe in work.missing(work.plan.recipes)}
        artifacts = graph.artifacts.values()  # `all` asks for these, too
        ends = {*graph.ends(), *(key for artifact in artifacts for key in artifact.needs)}
        assert ends.union(*(behind(graph, key) for key in ends)) == graph.jobs.keys()
        asked = [*graph.ends(), *(key for artifact in artifacts if artifact.is_due for key in artifact.needs)]
        made = set()
        while asked:  # as Snakemake does: what is there asks for nothing
            if (key := asked.pop()) in due - made:
                made.add(key)
                asked += graph.jobs[key].needs
        assert made == due


def job(key: str, *needs: str, is_due: bool = False) -> Job:
    return Job(key, "rule", key, is_due, needs, priority=0, threads=1, gpus=0, memory=0, minutes=0)


def test_what_is_due_is_an_end_where_all_that_needs_it_is_there() -> None:
    contents = [job("data/a"), job("runs/b", "data/a", is_due=True), job("evaluations/c", "runs/b")]
    artifacts = {"msci/table": ArtifactJob("", False, ("evaluations/c",), lambda: False)}
    assert Graph(contents, artifacts=artifacts).ends() == ["runs/b"]
    assert Graph(contents, artifacts={}).ends() == ["runs/b", "evaluations/c"]
    due = {"msci/table": ArtifactJob("", False, ("evaluations/c", "runs/b"), lambda: True)}
    alone = Graph(contents, artifacts=due)
    assert (alone.ends(), alone.papers, alone.reports, alone.page_is_due) == ([], [], "reports", False)
    assert Graph(contents, artifacts=artifacts).ends("data", "runs") == ["runs/b"]


def test_a_method_has_one_rule_for_its_variants_and_a_track_one_for_its_evaluations(work: Workspace) -> None:
    graph = graph_of(work)
    for recipe in work.plan.of("runs"):
        assert graph.jobs[recipe.key].rule == f"train_{recipe.labels['method']}".replace("-", "_")
    rules = [*graph.rules()]
    evaluate = {f"evaluate_{track}" for track in work.plan.tracks}
    assert {rule for rule, kind, _ in rules if kind == "evaluations"} == evaluate
    made = sorted(f"{kind}/{digest}" for _, kind, digests in rules for digest in digests)
    assert made == sorted(graph.jobs)


def test_evaluations_of_a_pass_wait_for_the_first_that_is_missing(work: Workspace) -> None:
    together = next(group for group in passes(work, work.plan.of("evaluations")) if len(group) > 2)
    waits = [set(graph_of(work).jobs[each.key].needs) for each in together]
    evaluations = [{key for key in needs if key.startswith("evaluations/")} for needs in waits]
    assert evaluations == [set(), *[{together[0].key}] * (len(together) - 1)]
    complete(work, together[:1])
    jobs = graph_of(work).jobs
    assert together[0].key not in jobs[together[1].key].needs
    assert together[1].key in jobs[together[2].key].needs


def test_the_first_table_of_the_first_paper_comes_first_and_papers_in_their_order(work: Workspace) -> None:
    graph = graph_of(work)
    before = 10**9
    seen: set[str] = set()
    for paper in order_papers(graph.papers):
        for names in ([paper.first_artifact], [*paper.artifacts]):
            artifacts = [graph.artifacts[f"{paper.name}/{name}"] for name in names]
            needed = closure(work.plan.by_key[key] for artifact in artifacts for key in artifact.needs)
            keys = {recipe.key for recipe in needed} - seen
            priorities = {graph.jobs[key].priority for key in keys}
            assert len(priorities) <= 1
            assert all(priority < before for priority in priorities)
            before, seen = min(priorities, default=before), seen | keys
    assert all(job.priority < before for key, job in graph.jobs.items() if key not in seen)


@pytest.mark.parametrize(
    ("accelerator", "devices", "gpus"), [("cpu", 1, 0), ("auto", 1, 1), ("gpu", 4, 4), ("gpu", "auto", 1)]
)
def test_only_what_computes_with_a_backbone_asks_for_gpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accelerator: str, devices: object, gpus: int
) -> None:
    edits = (f"profiles.demo.trainer.accelerator={accelerator}", f"profiles.demo.trainer.devices={devices}")
    work = new_workspace(tmp_path, "demo", *edits)
    monkeypatch.setattr("recompose.workflow.graph.Workspace", lambda root: work)
    graph = graph_of(work)
    assert graph.uses_gpus == bool(gpus)
    for recipe in work.plan.recipes:
        computes = recipe.kind in ("features", "grids") or bool({"backbone", "grids"} & recipe.needs.keys())
        expected = 0 if not computes else gpus if recipe.kind == "runs" else min(gpus, 1)
        assert graph.jobs[recipe.key].gpus == expected, recipe.key


OWN, PUBLISHED = (Recipe("backbones", "b", {"architecture": a}) for a in ({"name": "small"}, "ViT-B-32"))
GIVEN, COMPUTED = Recipe("grids", "given", {}), Recipe("grids", "computed", {}, {"backbone": OWN})


@pytest.mark.parametrize(("need", "mebibytes"), [(OWN, 4096), (PUBLISHED, 16384), (GIVEN, 16384), (COMPUTED, 4096)])
def test_a_job_asks_for_the_memory_of_a_process_and_half_more_than_was_measured(need: Recipe, mebibytes: int) -> None:
    run, measured = Recipe("runs", "r", {}, {"need": need}), CostEstimate(1.0, memory=2**30)
    memory = [_memory(run, *asked) for asked in ((None, 0), (CostEstimate(1.0), 0), (measured, 0), (measured, 2))]
    assert memory == [mebibytes, mebibytes, mebibytes + 1536, 2 * mebibytes]  # a GPU has memory of its own


def test_what_the_method_never_did_on_the_data_has_a_day_or_an_hour() -> None:
    guess = CostEstimate(60.0, basis=SIMILAR)
    minutes = {
        kind: [_minutes(Recipe(kind, "", {}), each) for each in (None, guess)] for kind in ("runs", "evaluations")
    }
    assert minutes == {"runs": [24 * 60] * 2, "evaluations": [60] * 2}


def test_a_scheduler_is_asked_for_twice_the_time_of_like_recipes_or_for_a_day(work: Workspace) -> None:
    run = work.plan.of("runs")[0]
    assert graph_of(work, scheduled=True).jobs[run.key].minutes == 24 * 60
    like = [each for each in work.plan.of("runs") if each.labels["dataset"] == run.labels["dataset"]]
    for seconds, minutes in ((30.0, 10 + 1), (6_000.0, 10 + 200)):
        complete(work, like, seconds)
        assert graph_of(work, scheduled=True).jobs[run.key].minutes == minutes


def test_what_a_call_forces_is_made_anew_with_all_that_is_made_from_it(work: Workspace) -> None:
    graph = graph_of(work)
    run = work.plan.of("runs")[0]
    rule = graph.jobs[run.key].rule
    of_rule = {key for key, job in graph.jobs.items() if job.rule == rule}
    assert graph.named([]) == graph.following([]) == set()
    assert graph.named([rule]) == of_rule
    assert graph.named([f"results/{run.key}/record.json"]) == {run.key}
    for keys in (of_rule, {run.key}):
        assert graph.following(keys) == {key for key in graph.jobs if key in keys or behind(graph, key) & keys}


def test_a_schedulers_job_reads_the_graph_of_the_workflow(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(work)
    monkeypatch.setenv(GRAPH, "")
    monkeypatch.setenv(ADDRESS, "given")
    forced = set(graph.keys("backbones"))
    Call(graph, lambda: forced, scheduled=True).start()
    assert Call.of_job().graph.jobs == graph.jobs
    assert Call.of_job().forced == forced
    assert ADDRESS not in os.environ  # a server on the same host would compute outside of the scheduler's job
    Path(os.environ[GRAPH]).write_text("[{}]")
    with raises(PlanError, "no-graph"):
        Call.of_job()


# recipe files


def test_a_job_reads_the_recipe_that_was_written_with_those_of_its_pass(work: Workspace) -> None:
    together = next(group for group in passes(work, work.plan.of("evaluations")) if len(group) > 2)
    complete(work, closure(need for each in together for need in each.needs.values()))
    write_recipes(work.results, [together])
    for first in together:
        read = read_recipes(work.store, first.key)
        assert read[0].digest == first.digest
        assert {recipe.digest for recipe in read} == {recipe.digest for recipe in together}
        needs, planned = ({role: need.digest for role, need in each.needs.items()} for each in (read[0], first))
        assert needs == planned


def test_a_complete_content_needs_no_file_as_its_record_describes_it(work: Workspace) -> None:
    data = work.plan.of("data")[0]
    complete(work, [data])
    assert [recipe.digest for recipe in read_recipes(work.store, data.key)] == [data.digest]


def test_a_recipe_that_is_absent_forged_or_of_other_code_is_not_made(work: Workspace) -> None:
    data = work.plan.of("data")[0]
    path = recipe_file(work.results, data.key)
    with raises(PlanError, "no-recipe"):
        read_recipes(work.store, data.key)
    write_recipes(work.results, [[data]])
    written = json.loads(path.read_text())
    documents: list[dict[str, object]] = [{"document": {"other": 1}}, {"document": {"lr": math.nan}}]
    changes = [*documents, {"digest": "0" * 64}, {"needs": 3}]
    for recipes in (*([written[0] | change] for change in changes), []):
        path.write_text(json.dumps(recipes))
        with raises(PlanError, "no-recipe"):
            read_recipes(work.store, data.key)
    other = Recipe(data.kind, data.name, data.document, {}, {**data.code, "recompose.recipes.plan": "0"}, data.track)
    write_recipes(work.results, [[other]])
    with raises(ChangedError, "changed-code"):
        read_recipes(work.store, other.key)


def test_a_recipe_whose_needs_are_not_complete_is_not_made(work: Workspace) -> None:
    pixels = work.plan.of("pixels")[0]
    write_recipes(work.results, [[pixels]])
    with raises(DamagedError, "missing-record"):
        read_recipes(work.store, pixels.key)


def test_forced_content_has_a_recipe_file_for_its_processes(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its record is gone once the first process has begun, and a training on several GPUs starts others later."""
    complete(work, work.plan.recipes)
    run, other = work.plan.of("runs")[:2]
    monkeypatch.setenv(ADDRESS, "given")
    Call(graph_of(work), lambda: {run.key}, scheduled=False).start()
    work.store.discard(run.key)
    assert [recipe.digest for recipe in read_recipes(work.store, run.key)] == [run.digest]
    assert not recipe_file(work.results, other.key).exists()
