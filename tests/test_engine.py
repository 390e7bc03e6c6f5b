"""Jobs: the remaining work, divided into processes."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from recompose.engine import (
    ALL,
    DATA,
    REST,
    TRAINED,
    Engine,
    Job,
    LocalMachine,
    Scheduler,
    SubprocessEngine,
    first_stage,
    job_description,
    job_label,
    order_papers,
)
from recompose.errors import PlanError
from recompose.files import write_json
from recompose.papers.declaration import load_paper
from recompose.params import GivenGrids
from recompose.phases import PHASES
from recompose.plan import Planner, Recipe, closure
from recompose.tracks import TRACKS
from recompose.workspace import Workspace
from tests.configuration import MADE, new_workspace
from tests.errors import raises

pytestmark = pytest.mark.slow


def complete(work: Workspace, recipes: Iterable[Recipe], seconds: float = 10.0) -> None:
    """Records, as if these had been made in so many seconds each."""
    for recipe in recipes:
        record = {**recipe.description().plain(), "inputs": {}, "files": {}, "made": {**MADE, "seconds": seconds}}
        write_json(work.store.record_path(recipe), record)


def keys(recipes: Iterable[Recipe]) -> set[str]:
    return {recipe.key for recipe in recipes}


def trained(jobs: Iterable[Job]) -> list[Job]:
    return [job for job in jobs if job.phase == "runs"]


def assert_dealt(work: Workspace, jobs: list[Job], wanted: Iterable[Recipe]) -> None:
    """Everything stands in one job, of its phase, behind what it needs; what scores a run stands in the run's job where
    it is for the same stage.
    """
    dealt = {key: job for job in jobs for key in job.keys}
    assert sorted(key for job in jobs for key in job.keys) == sorted(keys(wanted))
    assert len({job.name for job in jobs}) == len(jobs)
    for number, job in enumerate(jobs):
        recipes = [work.plan.by_key[key] for key in job.keys]
        kinds = {"runs", "evaluations"} if job.phase == "runs" else {job.phase}
        assert {recipe.kind for recipe in recipes} <= kinds
        for place, recipe in enumerate(recipes):
            for need in recipe.needs.values():
                maker = dealt.get(need.key)
                assert maker is None or maker in jobs[:number] or (maker is job and need.key in job.keys[:place])
            run = recipe.needs.get("run")
            maker = dealt.get(run.key) if run else None
            assert maker is None or maker is job or maker.stage != job.stage


def groups_of(engine: Engine, job: Job) -> list[list[Recipe]]:
    """The recipes of a job, each run with what scores it."""
    groups: dict[str, list[Recipe]] = {}
    for key in job.keys:
        recipe = engine.work.plan.by_key[key]
        groups.setdefault(group_of(recipe), []).append(recipe)
    return list(groups.values())


# jobs


@pytest.mark.parametrize("cores", [1, 2, 500])
def test_everything_is_dealt_out_the_same_on_any_number_of_cores(work: Workspace, cores: int) -> None:
    jobs = Engine(work, LocalMachine(cores)).jobs(ALL)
    assert_dealt(work, jobs, work.plan.recipes)
    assert jobs == Engine(work, LocalMachine(16)).jobs(ALL)


@pytest.mark.parametrize("machine", [LocalMachine(2), Scheduler()])
def test_jobs_are_pieces_of_whole_groups_the_longest_first(work: Workspace, machine: LocalMachine | Scheduler) -> None:
    """No piece is longer than it should be, unless it is one group; and none could have taken the next one's first."""
    for number, run in enumerate(work.plan.of("runs")):
        complete(work, [run], machine.piece * (0.02 + number % 7 / 5))
    complete(work, work.plan.of("evaluations")[::9], machine.piece / 50)
    for run in work.plan.of("runs"):
        if int(run.folder, 16) % 4:
            work.store.record_path(run).unlink()
    engine = Engine(work, machine)
    jobs = engine.jobs(ALL)
    assert_dealt(work, jobs, work.missing(work.plan.recipes))
    assert any(len(groups_of(engine, job)) > 1 for job in trained(jobs))
    before: dict[tuple[str, str], Job] = {}
    for job in jobs:
        lengths = [engine._seconds(group) for group in groups_of(engine, job)]
        assert lengths == sorted(lengths, reverse=True)
        assert job.seconds == pytest.approx(sum(lengths), abs=0.1)
        assert len(lengths) == 1 or sum(lengths) <= machine.piece
        if earlier := before.get((job.stage, job.phase)):
            assert earlier.seconds + lengths[0] > machine.piece - 0.1
            assert engine._seconds(groups_of(engine, earlier)[-1]) >= lengths[0]
        before[job.stage, job.phase] = job


def test_what_nothing_like_it_was_measured_is_a_job_of_its_own(work: Workspace) -> None:
    engine = Engine(work, LocalMachine(2))
    assert {len(groups_of(engine, job)) for job in engine.jobs(ALL)} == {1}


@pytest.mark.parametrize("threads", [2, 8])
def test_a_job_takes_the_threads_of_its_training(tmp_path: Path, threads: int) -> None:
    work = new_workspace(tmp_path, "demo", f"profiles.demo.trainer.threads={threads}")
    assert {job.threads for job in trained(Engine(work, LocalMachine(2)).jobs(ALL))} == {threads}


# stages


@pytest.mark.parametrize("profile", ["demo", "paper"])
def test_each_stage_completes_first_a_table_of_a_paper_and_then_the_paper(tmp_path: Path, profile: str) -> None:
    work = new_workspace(tmp_path, profile)
    engine = Engine(work, LocalMachine(2))
    stages, papers = engine.stages(ALL), order_papers(work.papers)
    names = [name for paper in papers for name in (first_stage(paper), paper.name)]
    assert [*names, REST] == engine.queues
    assert list(stages) == [name for name in engine.queues if name in stages]
    assert next(iter(stages)) == first_stage(papers[0])  # a later one may need nothing more
    there: set[str] = set()
    for paper in papers:
        for stage, artifacts in ((first_stage(paper), [paper.first_artifact]), (paper.name, paper.artifacts)):
            needed = keys(closure(engine.artifacts[paper.name, name] for name in artifacts)) & work.plan.by_key.keys()
            assert keys(stages.get(stage, ())) == needed - there
            there |= needed
    assert keys(stages.get(REST, ())) == work.plan.by_key.keys() - there
    assert [job.stage for job in engine.jobs(ALL)] == sorted(
        (job.stage for job in engine.jobs(ALL)), key=engine.queues.index
    )


def test_a_scope_of_its_own_has_stages_of_its_own(work: Workspace) -> None:
    engine = Engine(work, LocalMachine(2))
    wanted = keys(recipe for recipe in closure(engine.scopes()["crest"]) if recipe.kind in PHASES)
    stages = engine.stages("crest")
    assert {recipe.key for recipes in stages.values() for recipe in recipes} == wanted
    assert list(stages)[-2:] == [first_stage(load_paper("crest")), "crest"]


def test_papers_come_by_track_and_those_of_the_shortest_first_table_before_others(work: Workspace) -> None:
    papers = order_papers(work.papers)
    assert {paper.name for paper in papers} == {paper.name for paper in work.papers}
    keys = [(list(TRACKS).index(paper.track), len(paper.artifacts[paper.first_artifact].rows)) for paper in papers]
    assert keys == sorted(keys)
    assert order_papers(reversed(papers)) == papers


def test_the_first_table_is_that_of_the_headline() -> None:
    paper = load_paper("msci")
    assert paper.headline
    assert paper.first_artifact == paper.headline.artifact
    assert first_stage(paper) == f"msci.{paper.headline.artifact}"
    assert paper.model_copy(update={"headline": None}).first_artifact == next(iter(paper.artifacts))


def test_data_is_a_queue_of_its_own_and_all_else_goes_by_stage(work: Workspace) -> None:
    for job in Engine(work, LocalMachine(2)).jobs(ALL):
        assert job.queue == (DATA if job.phase == "data" else job.stage)


def test_a_paper_waits_for_the_jobs_that_make_what_it_needs_and_its_first_table_for_fewer(work: Workspace) -> None:
    engine = Engine(work, LocalMachine(2))
    jobs = {path: engine.job(Path(path).stem) for path in engine.job_receipts(ALL)}
    for paper in work.papers:
        for names in ((), (paper.first_artifact,)):
            artifacts = [engine.artifacts[paper.name, name] for name in names or paper.artifacts]
            needed = keys(closure(artifacts))
            assert engine.paper_prerequisites(paper, *names) == [
                path for path, job in jobs.items() if needed & set(job.keys)
            ]
        assert set(engine.paper_prerequisites(paper, paper.first_artifact)) < set(engine.paper_prerequisites(paper))


def test_first_tables_and_a_first_page_come_where_papers_are_left_to_make(work: Workspace) -> None:
    first, *others = order_papers(work.papers)
    engine = Engine(work, LocalMachine(2))
    assert engine.first_table_receipts() == [engine.receipts.first_table(paper) for paper in (first, *others)]
    assert engine.first_page_receipts() == [engine.receipts.first_page]
    assert engine.first_page_prerequisites() == [engine.receipts.paper(ALL, first.name)]
    assert engine.later_papers == [paper.name for paper in others]

    last = others[-1]
    complete(work, work.plan.recipes)
    own = keys(closure([engine.artifacts[last.name, name] for name in last.artifacts]))
    for paper in (first, *others[:-1]):
        own -= keys(closure([engine.artifacts[paper.name, name] for name in paper.artifacts]))
    left = [recipe for recipe in work.plan.of("evaluations") if recipe.key in own]
    work.store.record_path(left[0]).unlink()
    engine = Engine(Workspace(work.root), LocalMachine(2))
    assert engine.first_table_receipts() == [engine.receipts.first_table(last)]
    assert (engine.first_page_receipts(), engine.later_papers) == ([], [])  # one page is all there is to write

    complete(work, left)
    engine = Engine(Workspace(work.root), LocalMachine(2))
    assert (engine.first_table_receipts(), engine.first_page_receipts(), engine.first_page_prerequisites()) == (
        [],
        [],
        [],
    )


def test_what_was_first_in_one_call_says_nothing_in_the_next(work: Workspace) -> None:
    engine = Engine(work, LocalMachine(2))
    paths = [work.root / name for name in (*engine.first_table_receipts(), *engine.first_page_receipts())]
    for path in paths:
        write_json(path, {})
    assert engine.reconcile() == []
    assert not any(path.exists() for path in paths)


def test_only_jobs_that_compute_with_a_backbone_have_to_import_much(work: Workspace) -> None:
    engine = Engine(work, LocalMachine(2))
    assert not engine.computes  # nothing is asked for
    engine.jobs("msci.table-1")  # statistics of data
    assert not engine.computes
    engine.jobs("msci.table-2")
    assert engine.computes


# jobs with GPUs


def test_on_gpus_each_run_has_a_process_with_all_that_scores_it(tmp_path: Path) -> None:
    work = new_workspace(tmp_path, "paper")
    jobs = Engine(work, LocalMachine(2)).jobs(ALL)
    assert_dealt(work, jobs, work.plan.recipes)
    counts = [sum(key.startswith("runs/") for key in job.keys) for job in trained(jobs)]
    assert max(counts) == 1
    for job in jobs:
        if job.gpus:  # with nothing that takes none
            assert len(groups_of(Engine(work), job)) == 1
    assert sum(counts) == len(work.plan.of("runs"))
    scored = {key for job in trained(jobs) for key in job.keys if key.startswith("evaluations/")}
    assert scored == keys(work.plan.of("evaluations"))


@pytest.mark.parametrize(
    ("accelerator", "devices", "gpus"), [("cpu", 1, 0), ("auto", 1, 1), ("gpu", 4, 4), ("gpu", "auto", 1)]
)
def test_what_computes_with_a_backbone_asks_for_gpus_and_nothing_else_does(
    tmp_path: Path, accelerator: str, devices: object, gpus: int
) -> None:
    work = new_workspace(
        tmp_path,
        "large",
        f"profiles.large.trainer.accelerator={accelerator}",
        f"profiles.large.trainer.devices={devices}",
    )
    for job in Engine(work, LocalMachine(4)).jobs(ALL):
        recipes = [work.plan.by_key[key] for key in job.keys]
        computes = job.phase in ("backbones", "features", "grids") or any(
            {"backbone", "grids"} & each.needs.keys() for each in recipes
        )
        trains = any(each.kind == "runs" for each in recipes)
        assert job.gpus == (0 if not computes else gpus if trains else min(gpus, 1)), job.says


def test_what_is_made_of_grids_asks_for_a_gpu_whoever_made_them(tmp_path: Path) -> None:
    work = new_workspace(tmp_path, "demo", "profiles.demo.trainer.accelerator=gpu")
    data, run = (next(recipe for recipe in work.plan.recipes if recipe.kind == kind) for kind in ("data", "runs"))
    grids = Planner(work.params).grids_from_file(data, GivenGrids(file="maps.hdf5"))
    job = Engine(work, LocalMachine(4))._job("runs", REST, [replace(run, needs={"data": data, "grids": grids})])
    assert job.gpus == 1


@pytest.mark.parametrize(
    ("profile", "pretraining", "training"), [("demo", {1}, 1), ("large", {1, 3}, 1), ("paper", {1}, 8)]
)
def test_processes_are_given_their_threads(tmp_path: Path, profile: str, pretraining: set[int], training: int) -> None:
    """Weights that somebody released are copied or downloaded by one."""
    work = new_workspace(tmp_path, profile, "backbones.shapes-clip-from-scratch.threads=3")
    jobs = Engine(work, LocalMachine(16)).jobs(ALL)
    threads = {phase: {job.threads for job in jobs if job.phase == phase} for phase in ("data", "backbones", "runs")}
    assert threads == {"data": {1}, "backbones": pretraining, "runs": {training}}


def test_what_is_shared_between_gpus_is_given_the_threads_of_as_many_processes(tmp_path: Path) -> None:
    jobs = Engine(new_workspace(tmp_path, "paper", "profiles.paper.trainer.devices=4"), LocalMachine(16)).jobs(ALL)
    counts = {kind: {(job.gpus, job.threads) for job in jobs if job.keys[0].startswith(kind)} for kind in PHASES}
    assert counts["runs"] == {(4, 32)}
    assert counts["features"] == counts["grids"] == {(1, 8)}


def test_backbones_of_others_are_fetched_without_a_gpu(tmp_path: Path) -> None:
    jobs = Engine(new_workspace(tmp_path, "paper"), Scheduler()).jobs(ALL)
    assert {job.gpus for job in jobs if job.phase == "backbones"} == {0}
    assert {job.gpus for job in jobs if job.phase == "features"} == {1}


# jobs of a scheduler


def test_a_scheduler_is_given_jobs_of_ten_minutes_or_single_runs(work: Workspace) -> None:
    measured = {"duplex": 3000.0, "msci": 700.0, "csp": 20.0, "coop": 20.0}
    alike: dict[str, list[Recipe]] = {}
    for run in work.plan.of("runs"):
        alike.setdefault(str(run.labels["method"]), []).append(run)
    for method, seconds in measured.items():
        complete(work, alike[method][:1], seconds)
    complete(work, work.plan.of("evaluations")[:1], 5.0)
    for accelerator in ("cpu", "gpu"):
        edited = Workspace(work.root, (f"profiles.demo.trainer.accelerator={accelerator}",))
        engine = Engine(edited, Scheduler())
        jobs = engine.jobs(ALL)
        assert_dealt(edited, jobs, edited.missing(edited.plan.recipes))
        for job in trained(jobs):
            assert job.seconds <= Scheduler.piece or len(groups_of(engine, job)) == 1
            groups = dict.fromkeys(group_of(edited.plan.by_key[key]) for key in job.keys)
            runs = [run for run in edited.plan.of("runs") if run.key in groups]
            if any(engine._seconds([run]) >= 1200 for run in runs):
                assert len(groups) == 1


def test_runs_like_none_that_was_measured_have_jobs_of_their_own_at_a_scheduler(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(work, Scheduler())
    monkeypatch.setattr(engine, "estimate", lambda recipe: None)
    jobs = trained(engine.jobs(ALL))
    stages = engine.stages(ALL)
    groups = {(stage, group_of(each)) for stage in stages for each in stages[stage] if each.kind in TRAINED}
    assert len(jobs) == len(groups)
    assert {job.minutes for job in jobs if any(key.startswith("runs/") for key in job.keys)} == {1440}


def test_where_a_job_is_carried_out_nothing_is_dealt_out_or_tidied_up(work: Workspace) -> None:
    jobs = Engine(work, Scheduler()).jobs(ALL)
    receipts = [work.root / Engine(work).receipt(ALL, job) for job in jobs]
    for receipt in receipts:  # as if others were done a moment ago
        write_json(receipt, {})
    written = {path: path.read_bytes() for path in work.results.rglob("*") if path.is_file()}
    delegate = SubprocessEngine(Workspace(work.root))
    assert delegate.reconcile() == []
    assert delegate.job_receipts(ALL) == []
    for job in jobs:
        assert delegate.job(job.name) == job
        assert delegate.prerequisites(ALL, job.name) == []
    assert delegate.artifact_prerequisites("msci/table-2") == [delegate.receipts.stamp("msci", "table-2")]
    assert delegate.paper_receipts() == Engine(work).paper_receipts()
    assert {path: path.read_bytes() for path in work.results.rglob("*") if path.is_file()} == written


def group_of(recipe: Recipe) -> str:
    """The run that it is or scores, or itself."""
    return recipe.needs.get("run", recipe).key


def test_a_finished_tree_has_no_jobs_and_a_gap_has_one(work: Workspace) -> None:
    complete(work, work.plan.recipes)
    assert Engine(work, LocalMachine(16)).jobs(ALL) == []
    gap = work.plan.of("evaluations")[5]
    work.store.record_path(gap).unlink()
    (job,) = Engine(work, LocalMachine(16)).jobs(ALL)
    assert (job.phase, job.keys) == ("runs", [gap.key])
    assert gap in Engine(work).stages(ALL)[job.stage]
    assert job.seconds == 10.0


def test_a_job_is_written_down_and_read_back(work: Workspace) -> None:
    jobs = Engine(work, LocalMachine(3)).jobs(ALL)
    elsewhere = Engine(Workspace(work.root), LocalMachine(1))
    for job in jobs:
        assert elsewhere.job(job.name) == job
    with raises(PlanError, "no-job", "none.json"):
        elsewhere.job("none")
    path = work.results / "jobs" / f"{jobs[0].name}.json"
    for text in ("", "[]", "{}", '{"phase": "runs", "other": 1}', "3"):
        path.write_text(text)
        with raises(PlanError, "no-job", path):
            elsewhere.job(jobs[0].name)


def test_a_job_is_called_by_what_it_makes() -> None:
    one = Job("runs", "msci", ["runs/a", "runs/b"], "a-on-b", "", 1, 0, 1.0, 10, 4096)
    assert one.name == Job("runs", "rest", ["runs/a", "runs/b"], "a-on-b", "elsewhere", 8, 1, 2.0, 20, 8192).name
    assert one.name.startswith("a-on-b-")
    others = [
        Job("runs", "msci", made, "a-on-b", "", 1, 0, 1.0, 10, 4096)
        for made in (["runs/a"], ["runs/b"], ["runs/b", "runs/a"])
    ]
    assert len({one.name, *(other.name for other in others)}) == 4


def test_a_job_comes_after_those_that_make_what_it_needs(work: Workspace) -> None:
    engine = Engine(work, LocalMachine(4))
    jobs = engine.jobs(ALL)
    receipts = {f"results/receipts/all/{job.queue}/{job.name}.json": job for job in jobs}
    assert engine.job_receipts(ALL) == list(receipts)
    makes = {key: job.name for job in jobs for key in job.keys}
    for job in jobs:
        needed = keys(closure(work.plan.by_key[key] for key in job.keys)) - set(job.keys)
        before = {receipts[path].name for path in engine.prerequisites(ALL, job.name)}
        assert before == {makes[key] for key in needed}
    assert engine.job_receipts(ALL, "data", "backbones") == [
        path for path, job in receipts.items() if job.phase in ("data", "backbones")
    ]


# scopes


def test_a_scope_holds_just_what_it_needs(work: Workspace) -> None:
    engine = Engine(work, LocalMachine(2))
    for scope, artifacts in engine.scopes().items():
        if not scope.startswith(("msci", "crest")):
            continue
        wanted = [recipe for recipe in closure(artifacts) if recipe.kind in PHASES]
        assert_dealt(work, engine.jobs(scope), wanted)
    by_name = {
        scope: {key for job in engine.jobs(scope) for key in job.keys}
        for scope in engine.scopes()
        if scope.startswith((ALL, "msci", "duplex"))
    }
    for paper in ("msci", "duplex"):
        alone = set().union(*(by_name[f"{paper}.{name}"] for name in load_paper(paper).artifacts))
        assert by_name[paper] == alone <= by_name[ALL]
    assert by_name["msci"] != by_name["duplex"]


def test_of_what_is_asked_for_at_once_nothing_stands_in_two_jobs(work: Workspace) -> None:
    targets = ["msci", "reports/demo/duplex/table-2.md", "reports/demo/duplex/figure-6.svg", "reports/demo/made.json"]
    engine = Engine(work, LocalMachine(2), lambda: targets)
    wanted = {
        scope: keys(recipe for recipe in closure(engine.scopes()[scope]) if recipe.kind in PHASES)
        for scope in ("msci", "duplex.table-2", "duplex.figure-6")
    }
    receipts = {scope: engine.job_receipts(scope) for scope in wanted}
    jobs = {path: engine.job(Path(path).stem) for paths in receipts.values() for path in paths}
    assert_dealt(work, list(jobs.values()), [work.plan.by_key[key] for key in set().union(*wanted.values())])
    for path, job in jobs.items():
        assert set(engine.prerequisites(Path(path).parents[1].name, job.name)) <= jobs.keys()
    for scope, paths in receipts.items():
        assert wanted[scope] <= {key for path in paths for key in jobs[path].keys}
    assert engine.job_receipts("duplex.table-1") == Engine(work, LocalMachine(2)).job_receipts("duplex.table-1")


def test_a_table_of_counts_needs_data_alone_and_one_of_a_method_that_method(work: Workspace) -> None:
    engine = Engine(work, LocalMachine(2))
    (job,) = engine.jobs("msci.table-1")
    assert (job.phase, job.keys) == ("data", [work.plan.tracks["czsl"].benchmarks["shapes-pairs"].key])
    shown = {recipe.labels["name"] for recipe in of_jobs(work, engine.jobs("duplex.figure-6"), "evaluations")}
    assert shown == {"duplex"}
    names = {recipe.labels["name"] for recipe in of_jobs(work, engine.jobs("msci.figure-4"), "runs")}
    # two layers are msci's own; one layer is what Table 4 has without its first aggregation
    assert names == {"msci", "msci-without-agg-a", "msci-3-layers", "msci-4-layers"}


def of_jobs(work: Workspace, jobs: Iterable[Job], kind: str) -> list[Recipe]:
    return [work.plan.by_key[key] for job in jobs for key in job.keys if key.startswith(f"{kind}/")]


# what a job says


def test_a_job_says_in_one_line_what_it_does(work: Workspace) -> None:
    data, evaluation = work.plan.of("data")[0], work.plan.evaluations("czsl", "csp", "shapes-pairs")[1]
    chance = work.plan.evaluations("czsl", "chance", "shapes-pairs")[0]
    assert job_description("data", [data]) == "data: shapes-pairs"
    assert job_description("runs", [evaluation]) == "1 evaluation of csp on shapes-pairs, seeds 1"
    run = evaluation.needs["run"]
    assert (
        job_description("runs", [chance, run, evaluation]) == "1 run and 2 evaluations of csp on shapes-pairs, seeds 1"
    )


def test_a_job_is_called_by_what_it_makes_first_as_files_and_schedulers_can(work: Workspace) -> None:
    chance, csp = (work.plan.evaluations("czsl", name, "shapes-pairs")[1] for name in ("chance", "csp"))
    variant = next(run for run in work.plan.of("runs") if run.labels["name"] != run.labels["method"])
    assert job_label("runs", [csp.needs["run"], csp, chance]) == "csp-on-shapes-pairs-seed-1"
    assert job_label("runs", [csp.needs["run"], variant]) == "csp-on-shapes-pairs-seed-1-and-1-more"
    assert job_label("runs", [chance, csp]) == "chance-on-shapes-pairs-seed-1-and-1-more"
    worlds = [recipe for recipe in work.plan.of("data") if recipe.name == "shapes-pairs"]
    assert job_label("data", worlds) == "shapes-pairs"
    for job in Engine(work, Scheduler()).jobs(ALL):
        assert re.fullmatch(r"[A-Za-z0-9.][A-Za-z0-9.-]*-[0-9a-f]{12}", job.name)
        assert len(job.name) < 100
