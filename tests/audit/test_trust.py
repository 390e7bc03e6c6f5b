"""The word of trust in a number, in a small project that is made up: what is stored, and what reports hold of it."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from recompose.audit.artifacts import ArtifactCheck
from recompose.audit.findings import STATES, Trust, worst
from recompose.audit.stored import Stored
from recompose.audit.trust import Judge, changes
from recompose.digest import sha256_file
from recompose.files import write_text
from recompose.papers.declaration import Artifact, Paper
from recompose.phases import KINDS
from recompose.recipes.plan import Plan, Recipe, TrackPlan
from recompose.recipes.records import Record
from recompose.recipes.store import Store
from recompose.tables import caveats
from recompose.tables.artifacts import make_artifacts
from recompose.tables.caveats import MAX_KEYS
from recompose.tables.measured import OVER_ROWS
from recompose.tables.provenance import Made
from recompose.tables.published import PublishedLineage, kept_lineage
from recompose.tables.stored_results import StoredResults
from recompose.tracks import TRACKS
from tests.audit.worlds import edit_json

TABLE, COUNTS = "p/table-1", "p/table-2"
ROWS = {"M": "m:lr", "V": "v:lr"}
PAPER = Paper(
    name="p",
    title="t",
    track="czsl",
    artifacts={
        "table-1": Artifact(kind="settings", caption="c", rows=ROWS),
        "table-2": Artifact(kind="statistics", caption="c", columns={"images": "images"}),
    },
)
BUILT = {
    "started": "then",
    "dirty": False,
    "commit": "c" * 40,
    "device": "2 x CPU",
    "instruction_set": "avx2",
    "libraries": "mkl 1",
    "packages": {"torch": "2"},
}


def data_of(world: int = 0) -> Recipe:
    return Recipe("data", "d", {"world": world}, track="czsl")


def evaluation_of(name: str, seed: int, lr: float = 1, code: str = "1", world: int = 0) -> Recipe:
    labels = {"method": name, "dataset": "d", "seed": seed}
    settings, data = {"settings": {"lr": lr, "seeds": 9}, "of": name, "seed": seed}, data_of(world)
    run = Recipe("runs", name, settings, {"data": data}, {"x": code}, "czsl", labels)
    return Recipe("evaluations", name, {"settings": {}}, {"run": run, "data": data}, {"y": "1"}, "czsl", labels)


def plan_of(**seeds: int | list[Recipe]) -> Plan:
    """The plan of so many seeds of each method, or of these evaluations."""
    evaluations = {
        (name, "d"): tuple([evaluation_of(name, seed) for seed in range(of)] if isinstance(of, int) else of)
        for name, of in seeds.items()
    }
    return Plan({"czsl": TrackPlan({"d": data_of()}, evaluations, tuple(seeds))})


@dataclass
class World:
    """What trust reads of a workspace."""

    root: Path
    plan: Plan
    reports_place = "reports/demo"
    catalogue = TRACKS

    def __post_init__(self) -> None:
        self.results, self.reports = self.root / "results", self.root / self.reports_place
        self.store = Store(self.results)

    def build(self, *left_out: Recipe, counts: str = '{"images": 5}', **built: Any) -> None:
        """Store everything that is planned and not there."""
        for recipe in self.plan.recipes:
            if recipe.key not in {each.key for each in left_out}:
                with self.store.build(recipe) as folder:
                    if folder:
                        write_text(folder / "statistics.json", counts)
                if folder:
                    self.edit_record(recipe, lambda record: record["made"].update(BUILT | built))

    def edit_record(self, recipe: Recipe, edit: Callable[[Any], object]) -> None:
        edit_json(self.store.record_path(recipe), edit)
        self.store = Store(self.results)

    def publish(self) -> None:
        """Write the artifacts, and when and where everything behind them was built."""
        make_artifacts(StoredResults(self), PAPER, PAPER.artifacts)  # type: ignore[arg-type]
        records = {recipe.key: self.store.record_path(recipe) for recipe in self.plan.recipes}
        builds = {key: Record.read(path).build for key, path in records.items() if path.exists()}
        Made.of(builds, PublishedLineage.read(self, [PAPER]).contents, {}).write(self.reports)  # type: ignore[arg-type]

    def edit_lineage(self, artifact: str, edit: Callable[[Any], object]) -> None:
        edit_json(kept_lineage(self, artifact), edit)  # type: ignore[arg-type]

    def judge(self, artifact: str = TABLE) -> Judge:
        stored = Stored(self, PublishedLineage.read(self, [PAPER]))  # type: ignore[arg-type]
        return Judge(stored, PAPER, artifact.partition("/")[2])

    def verdicts(self, artifact: str = TABLE) -> list[Trust]:
        """The verdict on each cell: of a table of settings, on the methods m and v."""
        judge = self.judge(artifact)
        return [judge.trust(cell) for cell in judge.lineage.cells]

    def states(self, artifact: str = TABLE) -> list[str]:
        return [verdict.state for verdict in self.verdicts(artifact)]

    def first(self, name: str = "m") -> Recipe:
        return self.plan.evaluations("czsl", name, "d")[0]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A project with two seeds of two methods; only read."""
    world = World(tmp_path_factory.mktemp("made"), plan_of(m=2, v=2))
    world.build()
    world.publish()
    return world


@pytest.fixture
def world(finished: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A copy of the project; no commit has its code."""
    monkeypatch.setattr(caveats, "_find_commit", lambda made_by, code: None)
    shutil.copytree(finished.root, tmp_path / "project")
    return World(tmp_path / "project", finished.plan)


def remade(world: World, plan: Plan, *left_out: Recipe, **built: Any) -> World:
    """A project with another plan, in the same place."""
    other = World(world.root, plan)
    other.build(*left_out, **built)
    other.publish()
    return other


def test_the_worst_of_states_counts() -> None:
    assert worst([]) == "current"
    assert all(worst(pair) == worst(reversed(pair)) == pair[0] for pair in combinations(STATES, 2))


# stored folders


def test_what_is_not_on_this_disk_is_not_checked(world: World) -> None:
    shutil.rmtree(world.store.folder(world.first()))
    assert world.states() == ["unchecked", "current"]
    for kind in KINDS:
        shutil.rmtree(world.results / kind, ignore_errors=True)
    assert world.states() == ["unchecked"] * 2
    assert len(world.verdicts()[0].why) == 5  # two evaluations, two runs and the data


def test_a_damaged_input_is_the_input_s_fault_alone(world: World) -> None:
    run = world.first().needs["run"]
    world.store.record_path(run).write_text("{")
    judge = world.judge()
    assert [reason.state for reason in judge.stored[run.key]] == ["tampered"]
    assert judge.stored[world.first().key] == []


def test_what_was_made_from_a_rebuilt_input_is_to_be_discarded_as_it_is_complete(world: World) -> None:
    """A workflow makes what is missing: by itself it makes nothing of this again."""
    world.store.discard(data_of().key)
    world.build(counts='{"images": 6}')
    stored = world.judge().stored
    for recipe in (world.first(), world.first().needs["run"]):
        (finding,) = stored[recipe.key]
        assert (finding.code, world.store.is_complete(recipe)) == ("rebuilt", True)
        assert finding.remedy.startswith("`recompose store discard`")


def test_a_cost_that_reports_tell_counts_where_its_run_is_not_here(world: World) -> None:
    evaluation, told = world.first(), {"cost/epoch_seconds": 9.0, "test/auc": 9.0}
    published = replace(PublishedLineage.read(world, [PAPER]), values={evaluation.key: told})  # type: ignore[arg-type]
    measured = {"test/auc": 0.5, "cost/epoch_seconds": 1.0}  # without its run, the evaluation's own costs alone
    for seconds in (1.0, 9.0):
        stored = Stored(world, published)  # type: ignore[arg-type]
        stored.compute_metrics([evaluation.key], lambda cache, recipe: measured)
        assert stored.numbers == {evaluation.key: {"test/auc": 0.5, "cost/epoch_seconds": seconds}}
        shutil.rmtree(world.store.folder(evaluation.needs["run"]), ignore_errors=True)


@pytest.mark.parametrize("parts", [{"name": "e"}, {"labels": {"dataset": "e"}}])
def test_data_that_was_renamed_and_made_again_is_no_forgery(world: World, parts: dict[str, Any]) -> None:
    """The same recipe gives the same bytes; what reports call it is out of date."""
    old = data_of()
    world.store.discard(old.key)
    with world.store.build(replace(old, **parts)) as folder:
        assert folder is not None
        write_text(folder / "statistics.json", '{"images": 5}')
    assert world.states() == ["stale", "stale"]
    assert {finding.code for finding in world.judge().conflicts.values()} == {"renamed"}
    world.publish()
    assert {finding.code for finding in world.judge().conflicts.values()} == set()


# caveats


@pytest.mark.parametrize("count", [1, MAX_KEYS, MAX_KEYS + 1])
def test_a_caveat_lists_some_of_many_keys(world: World, count: int) -> None:
    missing = [evaluation_of("m", seed) for seed in range(2, 2 + count)]
    more = remade(world, plan_of(m=2 + count, v=2), *missing)
    (caveat,) = more.judge().caveats
    assert caveat.keys == tuple(sorted(recipe.key for recipe in missing))
    listed = [key for key in caveat.keys if key in caveat.why]
    assert listed == list(caveat.keys[:MAX_KEYS])
    assert ("..." in caveat.why) == (count > MAX_KEYS)


@pytest.mark.parametrize("codes", ["2", "23"])
def test_runs_of_other_code_than_most_are_mixed(world: World, codes: str) -> None:
    odd = [evaluation_of("m", seed, code=code) for seed, code in enumerate(codes, 2)]
    more = remade(world, plan_of(m=[evaluation_of("m", 0), *odd], v=2))
    assert more.states() == ["mixed", "current"]
    (caveat,) = more.judge().caveats
    assert caveat.keys == tuple(sorted(recipe.needs["run"].key for recipe in odd))
    assert caveat.text.startswith("mixed: ")


def test_runs_of_other_packages_than_most_are_mixed(world: World) -> None:
    assert remade(world, plan_of(m=3, v=2), packages={"torch": "3"}).states() == ["mixed", "current"]


@pytest.mark.parametrize("other", ["another", None])
def test_nothing_is_judged_by_the_machine(world: World, other: str | None) -> None:
    machine = {"device": "another", "instruction_set": other, "libraries": other}
    assert remade(world, plan_of(m=3, v=2), **machine).states() == ["current", "current"]


@pytest.mark.parametrize("dirty", [True, None])
def test_what_comes_from_a_changed_tree_is_uncommitted_until_a_commit_has_its_code(
    world: World, monkeypatch: pytest.MonkeyPatch, dirty: bool | None
) -> None:
    more = remade(world, plan_of(m=3, v=2), dirty=dirty)
    assert [(verdict.state, verdict.note) for verdict in more.verdicts()] == [("uncommitted", ""), ("current", "")]
    monkeypatch.setattr(caveats, "_find_commit", lambda made_by, code: "abc1234" if "x" in dict(code) else None)
    assert more.states() == ["uncommitted", "current"]  # the evaluation's code is in no commit yet
    monkeypatch.setattr(caveats, "_find_commit", lambda made_by, code: "abc1234")
    states = [(verdict.state, "abc1234" in verdict.note) for verdict in more.verdicts()]
    assert states == [("current", True), ("current", False)]


def test_where_reports_tell_no_builds_those_on_this_disk_count(world: World) -> None:
    more = remade(world, plan_of(m=3, v=2), dirty=True)
    (more.reports / "made.json").unlink()
    assert [caveat.state for caveat in more.judge().caveats] == ["uncommitted"]


# the current plan


def stale_with(world: World, plan: Plan) -> list[Trust]:
    world.plan = plan
    return world.verdicts()


def test_a_method_or_a_seed_that_is_no_longer_planned_is_stale(world: World) -> None:
    m, v = stale_with(world, plan_of(m=1))
    assert (m.state, v.state) == ("stale", "stale")
    assert (len(m.why), len(v.why)) == (1, 1)
    assert "seed 1" in m.why[0]
    assert [verdict.state for verdict in stale_with(world, Plan({}))] == ["stale", "stale"]
    assert world.states(COUNTS) == ["stale"]


def test_what_was_never_run_is_stale_where_it_is_planned(world: World) -> None:
    def forget(lineage: Any) -> None:
        lineage["cells"][0].update(made_from=[], missing=[], values=[])

    world.edit_lineage(TABLE, forget)
    assert world.states() == ["stale", "current"]
    assert [verdict.state for verdict in stale_with(world, plan_of(v=2))] == ["current", "current"]


def test_a_cell_is_compared_with_the_seeds_that_its_rows_share(world: World) -> None:
    """Each seed has data of its own, and v has fewer seeds than m."""
    many, few = ([evaluation_of(name, seed, world=seed) for seed in range(of)] for name, of in (("m", 3), ("v", 2)))
    more = remade(world, plan_of(m=many[:2], v=few))
    more.plan = plan_of(m=many, v=few)
    assert more.states() == ["stale", "current"]
    more.edit_lineage(TABLE, lambda lineage: [cell.update(beside=["m", "v"]) for cell in lineage["cells"]])
    assert more.states() == ["current", "current"]


def test_a_mean_over_rows_is_compared_with_the_seeds_at_which_it_is_taken(world: World) -> None:
    """All seeds have the same data, and v has fewer than m: rows show all of theirs, and their mean those of both."""
    more = remade(world, plan_of(m=3, v=2))
    of_both = [recipe.key for seed in range(2) for recipe in (evaluation_of("m", seed), evaluation_of("v", seed))]

    def average(lineage: Any) -> None:
        lineage["cells"][0].update(names=["m", "v"], made_from=of_both, values=[], rule=OVER_ROWS)

    more.edit_lineage(TABLE, average)
    assert more.states() == ["current", "current"]
    for plan in (plan_of(m=3, v=3), Plan({})):
        more.plan = plan
        assert more.states() == ["stale", "stale"]
    more.edit_lineage(TABLE, lambda lineage: lineage["cells"][0].update(beside=["m", "v"]))
    assert more.states() == ["stale", "stale"]


@pytest.mark.parametrize("is_forged", [True, False])
def test_a_declaration_that_was_edited_since_makes_numbers_stale_and_no_forgeries(
    world: World, is_forged: bool
) -> None:
    rows = ROWS if is_forged else ROWS | {"M": "m:seeds"}
    paper = PAPER.model_copy(
        update={"artifacts": PAPER.artifacts | {"table-1": Artifact(kind="settings", caption="c", rows=rows)}}
    )
    if is_forged:
        world.edit_lineage(TABLE, lambda lineage: lineage["cells"][0].update(value=7, text="7"))
        table = world.reports / f"{TABLE}.csv"
        table.write_text(table.read_text().replace("M,d,measured,,1,1", "M,d,measured,,7,7"))
        world.edit_lineage(TABLE, lambda lineage: lineage["files"].update({table.name: sha256_file(table)}))
    published = PublishedLineage.read(world, [PAPER])  # type: ignore[arg-type]
    stored = Stored(world, published)  # type: ignore[arg-type]
    stored.numbers = {key: {} for key in published.records if key.startswith("evaluations/")}
    check = ArtifactCheck(stored, paper, "table-1")
    check.check()
    states = {key[2]: trust.state for key, trust in check.trusts.items()}
    assert states == {"M": "tampered" if is_forged else "stale", "V": "current"}
    assert {finding.code for finding in check.findings} == {"edited-value" if is_forged else "other-text"}


def test_a_track_that_is_gone_makes_its_numbers_stale(world: World) -> None:
    world.edit_lineage(TABLE, lambda lineage: lineage.update(track="gone"))
    assert world.states() == ["stale", "stale"]


# what changed

CODE = {"recompose.tracks.czsl.methods.csp": "1", "recompose.tracks.czsl.metrics.czsl": "2"}


DATA = Recipe("data", "d", {"images": 3})
OLD = Recipe("runs", "csp", {"settings": {"lr": 0.1, "epochs": 3}}, {"data": DATA}, CODE)


@pytest.mark.parametrize(
    ("part", "reasons"),
    [
        ({}, []),
        ({"document": {"settings": {"lr": 0.2, "epochs": 3}}}, ["settings.lr was 0.1 and is 0.2 now"]),
        ({"document": {"settings": {"lr": 0.1}}}, ["settings.epochs was 3 and is absent now"]),
        ({"document": {"settings": {"lr": 0.1, "epochs": 3}, "parts": {}}}, ["runs changed: "]),
        (
            {"code": {**CODE, "recompose.tracks.czsl.metrics.czsl": "3"}},
            ["code changed: recompose.tracks.czsl.metrics.czsl"],
        ),
        ({"code": dict([*CODE.items()][:1])}, ["code changed: recompose.tracks.czsl.metrics.czsl"]),
        ({"needs": {"data": Recipe("data", "d", {"images": 4})}}, ["d.images was 3 and is 4 now"]),
        ({"needs": {}}, ["it needs no data now"]),
        ({"needs": {"data": DATA, "backbone": DATA}}, ["it needs a backbone now"]),
    ],
)
def test_every_difference_has_its_line(part: dict[str, Any], reasons: list[str]) -> None:
    lines = changes(OLD, OLD.changed(**part))
    assert [line[: len(reason)] for line, reason in zip(lines, reasons, strict=True)] == reasons


def test_what_changed_in_something_that_several_parts_need_is_said_once() -> None:
    def run(images: int) -> Recipe:
        data = Recipe("data", "d", {"images": images})
        features = Recipe("features", "f", {}, {"data": data})
        return Recipe("runs", "csp", {}, {"data": data, "features": features})

    assert changes(run(1), run(2)) == ["d.images was 1 and is 2 now"]
