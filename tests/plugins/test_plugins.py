"""Plugins: what they bring, what of their code counts, and mistakes in them."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from recompose.commands import store
from recompose.data.tracking import tracked
from recompose.errors import ParamsError, PlanError, PluginError
from recompose.recipes.plan import Recipe
from recompose.tables.reports import artifact_recipe
from recompose.tables.stored_results import StoredResults
from recompose.tracks import TRACKS
from recompose.tracks.measuring import compute_metrics
from recompose.tracks.plugins import FILE
from recompose.workspace import Workspace
from tests.configuration import edit, text_of, write_params
from tests.conftest import ROOT
from tests.errors import raises

pytestmark = pytest.mark.slow

EXAMPLE = ROOT / "examples/csp-offset"
PAGE = (ROOT / "docs/reference/plugins.md").read_text(encoding="utf-8")
SETTINGS = "recompose.tracks.czsl.methods.settings:CspSettings"
TRAINING = {"lr": 0.005, "weight_decay": 1e-5, "batch_size": 64, "accumulate": 1, "epochs": 1}
DECLARATION: dict[str, Any] = {
    "methods": {"czsl": {"my-csp": {"class": "model:MyCsp", "settings": SETTINGS}}},
    "papers": ["my-study"],
    "params": {
        "czsl": {
            "methods": {"my-csp": {"prompt": "a photo of {state} {object}", "dropout": 0.1, "training": TRAINING}},
            "datasets": {
                "my-shapes": {"adapter": "shapes-pairs", "seed": 7, "images": {"train": 400, "val": 158, "test": 226}}
            },
        },
        "profiles": {"mine": {"based_on": "smoke", "czsl": {"methods": ["csp", "my-csp"]}, "gzsl": None, "vlc": None}},
    },
}
PAPER: dict[str, Any] = {
    "title": "My study",
    "track": "czsl",
    "artifacts": {
        "table-1": {
            "kind": "metrics",
            "caption": "Mine.",
            "rows": {"CSP": "csp", "Mine": "my-csp"},
            "columns": {"AUC": "test/closed/dense/auc"},
        }
    },
}
SUITE = {"module": "model", "subtasks": {"pairs": {"query": "i2t", "ties": "strict"}}}
FILES = {
    "model.py": "from .parts import scale\nfrom recompose.tracks.czsl.methods.clip_coop_csp import CSP\n"
    "class MyCsp(CSP):\n    scale = scale\n",
    "parts.py": "scale = 1.0\n",
    "unused.py": "x = 1\n",
    "papers/my-study/paper.yaml": text_of(PAPER),
}
Plan = Callable[..., Workspace]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Workspace]:
    """Write a project and a plugin beside it, with other files or another declaration; return the workspace."""
    monkeypatch.setenv("RECOMPOSE_PROFILE", "mine")

    def write(files: Mapping[str, str] | None = None, values: Mapping[str, object] | None = None) -> Workspace:
        package, declaration = tmp_path / "my-work/my_work", deepcopy(DECLARATION)
        edit(declaration, values or {})
        for name, text in {**FILES, FILE: text_of(declaration), **(files or {})}.items():
            (package / name).parent.mkdir(parents=True, exist_ok=True)
            (package / name).write_text(text)
        (tmp_path / "project").mkdir(exist_ok=True)
        write_params(tmp_path / "project", "demo", {"plugins": ["../my-work"]})
        return Workspace(tmp_path / "project")

    return write


def digests(work: Workspace) -> dict[str, set[str]]:
    """The digests of the runs of each method."""
    runs: dict[str, set[str]] = {}
    for run in work.plan.of("runs"):
        runs.setdefault(str(run.labels["method"]), set()).add(run.digest)
    return runs


def test_a_plugin_brings_a_method_a_data_set_a_paper_and_a_profile(project: Plan) -> None:
    work = project()
    assert work.params.profile == "mine"
    assert "my-shapes" in work.params.tracks["czsl"].datasets  # type: ignore[attr-defined]
    assert set(digests(work)) == {"csp", "my-csp"}
    paper = next(paper for paper in work.papers if paper.name == "my-study")
    assert (paper.authors, paper.venue, paper.datasets) == ("", "", {})


def test_projects_in_a_process_see_their_own_plugins(
    project: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = project()
    _ = first.catalogue
    (tmp_path / "second").mkdir()
    write_params(tmp_path / "second", "demo", {"plugins": [str(EXAMPLE)]})
    monkeypatch.setenv("RECOMPOSE_PROFILE", "csp-offset")
    second = Workspace(tmp_path / "second")
    assert {"csp-offset"} == second.catalogue["czsl"].methods.keys() - TRACKS["czsl"].methods.keys()
    assert {"my-csp"} == first.catalogue["czsl"].methods.keys() - TRACKS["czsl"].methods.keys()
    assert "my-csp" not in digests(second)
    assert "my-study" not in [paper.name for paper in second.declared]
    monkeypatch.setenv("RECOMPOSE_PROFILE", "mine")
    assert {*digests(first)} == {"csp", "my-csp"}  # planned after the other one
    assert "my-study" in [paper.name for paper in first.papers]
    with raises(ParamsError, "unknown-name", "profile"):
        second.load("mine")
    assert "my-csp" not in Workspace(ROOT).catalogue["czsl"].methods


def test_its_code_counts_as_ours_does(project: Plan) -> None:
    before = digests(project())
    assert digests(project({"model.py": "# why\n" + FILES["model.py"]})) == before
    for file, text in {"parts.py": "scale = 2.0\n", "model.py": FILES["model.py"] + "    other = 1\n"}.items():
        after = digests(project({file: text}))
        assert after["csp"] == before["csp"]
        assert not after["my-csp"] & before["my-csp"]
    assert digests(project({"unused.py": "x = 2\n"})) == before


@pytest.mark.parametrize(
    ("files", "values", "code", "place", "near"),
    [
        ({}, {"methods.czsl.my-csp.class": "model:MyCps"}, "unknown-name", "methods.czsl.my-csp.class", "MyCsp"),
        ({}, {"methods.czsl.my-csp.class": "modle:MyCsp"}, "unknown-module", "methods.czsl.my-csp.class", "model"),
        ({}, {"methods.czsl.my-csp.class": "MyCsp"}, "no-path", "methods.czsl.my-csp.class", "module:Name"),
        ({}, {"methods.czls": DECLARATION["methods"]["czsl"]}, "unknown-track", "methods.czls", "czsl"),
        ({}, {"methods.czsl.csp": DECLARATION["methods"]["czsl"]["my-csp"]}, "name-taken", "methods.czsl.csp", "csp"),
        ({}, {"suites.czsl.mine": SUITE}, "no-suites", "suites.czsl.mine", "no suites"),
        ({}, {"suites.vlc.comp": SUITE}, "name-taken", "suites.vlc.comp", "comp"),
        ({}, {"metods": {}}, "unknown-key", "metods", "methods"),
        ({}, {"methods.czsl.my-csp.clas": "x"}, "unknown-key", "methods.czsl.my-csp.clas", "class"),
        ({}, {"papers": ["my-stdy"]}, "unknown-paper", "papers", "my-study"),
        ({}, {"papers": ["msci"]}, "name-taken", "papers.msci", "msci"),
        ({}, {"params.czsl.methods.csp": {}}, "name-taken", "params.czsl.methods.csp", "params.yaml"),
        ({}, {"params.czsl.feasibility": {}}, "unknown-key", "params.czsl.feasibility", "methods"),
        ({FILE: "methods: ["}, {}, "no-yaml", FILE, "line"),
        ({"parts.py": "scale = (\n"}, {}, "no-python", "parts.py", ":1"),
        ({"parts.py": "from ...far import scale\n"}, {}, "no-python", "parts.py", "beyond top-level"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(
    project: Plan, files: Mapping[str, str], values: Mapping[str, object], code: str, place: str, near: str
) -> None:
    work = project(files, values)
    with raises(PluginError, code, place) as caught:
        _ = work.plan
    assert near in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "my_work" in str(caught.value)
    assert f"`{code}`" in PAGE


@pytest.mark.parametrize(
    ("text", "line", "near"),
    [
        ("AUC\n3\n", 2, "'row'"),
        ("row;AUC\nMine;3\n", 2, "'row'"),
        ("row,AUC\nCSP,1\nMine\n", 3, "other cells"),
        ("row,AUC\nMine,1,2\n", 2, "other cells"),
        ("row,AUC\r\nMine,1\r\nMine,2\r\n", 3, "'Mine'"),
    ],
)
def test_a_mistake_in_printed_values_is_one_line_with_its_place(project: Plan, text: str, line: int, near: str) -> None:
    work = project({"papers/my-study/reported/table-1.csv": text})
    with raises(PlanError, "no-table", f"table-1.csv:{line}") as caught:
        _ = work.plan
    assert near in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["fig.a", "../../table-1", "a b"])
def test_the_name_of_an_artifact_is_one_of_files(project: Plan, name: str) -> None:
    """Both fig.a and fig.b would be fig.csv."""
    table = PAPER["artifacts"]["table-1"]
    work = project({"papers/my-study/paper.yaml": text_of({**PAPER, "artifacts": {"table-1": table, name: table}})})
    with raises(PlanError, "wrong-value", f"artifacts.{name}") as caught:
        _ = work.plan
    assert "pattern" in str(caught.value)


def test_a_comparison_is_no_paper_of_a_plugin(project: Plan) -> None:
    text = "{track: czsl, baseline: csp, methods: [my-csp]}"
    with raises(PlanError, "wrong-value", "baseline"):
        _ = project({"papers/my-study/paper.yaml": text}).plan


def test_the_names_of_papers_are_no_other_reports(project: Plan) -> None:
    reserved = project({"papers/runs/paper.yaml": FILES["papers/my-study/paper.yaml"]}, {"papers": ["runs"]})
    with raises(PluginError, "name-taken", "papers.runs"):
        _ = reserved.plan
    work = project()
    (work.root / "comparisons").mkdir()
    (work.root / "comparisons/my-study.yaml").write_text("{track: czsl, baseline: csp, methods: [my-csp]}")
    with raises(PlanError, "wrong-name", "comparisons/my-study.yaml"):
        _ = work.plan


@pytest.mark.parametrize("folder", ["../my-wrk", "../project", "~no-such-user/mine"])
def test_a_folder_without_a_plugin_is_named(project: Plan, tmp_path: Path, folder: str) -> None:
    project()
    write_params(tmp_path / "project", "demo", {"plugins": [folder]})
    with raises(PluginError, "no-plugin", "plugins.0"):
        _ = Workspace(tmp_path / "project").plugins


def test_a_plugin_metric_is_computed_and_its_code_counts_where_it_is_used(project: Plan) -> None:
    entry = {"function": "numbers:double", "digits": 1, "better": 1, "unit": "%", "factor": 100}
    work = project(
        {"numbers.py": "def double(values, evaluation, needs):\n    return values.get('a')\n"},
        {"metrics": {"czsl": {"test/double": entry}}},
    )
    track = work.catalogue["czsl"]
    assert track.description_of("test/double").unit == "%"
    evaluation = Recipe("evaluations", "e", {}, track="czsl")
    assert len(track.metrics_of(evaluation, ["test/closed/dense/auc"])) == 1
    _, added = track.metrics_of(evaluation, ["test/double"])
    assert added.made_by["metric"] == "my_work.numbers:double" and "my_work.numbers" in added.code


def test_another_declaration_of_a_plugin_metric_gives_other_numbers_and_tables(
    project: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module with both functions stays as it is."""
    functions = "".join(f"def times_{n}(values, evaluation, needs):\n    return {n}\n" for n in (2, 3))
    paper = deepcopy(PAPER)
    paper["artifacts"]["table-1"]["columns"] = {"Mine": "test/mine"}
    monkeypatch.setattr("recompose.tracks.czsl.metric_values.read_metrics", lambda *_: {})
    tables, metrics = list[str](), list[str]()
    for function, factor in (("times_2", 1), ("times_3", 1), ("times_3", 100)):
        entry = {"function": f"numbers:{function}", "digits": 1, "better": 1, "factor": factor}
        files = {"numbers.py": functions, "papers/my-study/paper.yaml": text_of(paper)}
        work = project(files, {"metrics": {"czsl": {"test/mine": entry}}})
        evaluation = Recipe("evaluations", "e", {}, track="czsl")
        with work.store.build(evaluation):
            pass
        assert work.papers[-1].name == "my-study"
        assert StoredResults(work).metrics(evaluation) == {"test/mine": float(function[-1])}
        tables.append(artifact_recipe(work, work.papers[-1], "table-1").digest)
        track = work.catalogue["czsl"]
        own, added = track.metrics_of(evaluation)
        metrics.append(added.digest)
        assert own.digest == TRACKS["czsl"].metrics_of(evaluation)[0].digest
    assert (len({*tables}), len({*metrics})) == (3, 2)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("values['test/closed/stat']", "numbers.py:2: the metric 'test/double' fails on evaluations/e: KeyError"),
        ("'high'", "the metric 'test/double' returned 'high' instead of a number or None"),
    ],
)
def test_a_failing_metric_is_named(project: Plan, monkeypatch: pytest.MonkeyPatch, body: str, message: str) -> None:
    entry = {"function": "numbers:double", "digits": 1, "better": 1}
    text = f"def double(values, evaluation, needs):\n    return {body}\n"
    work = project({"numbers.py": text}, {"metrics": {"czsl": {"test/double": entry}}})
    track = work.catalogue["czsl"]
    monkeypatch.setattr("recompose.tracks.czsl.metric_values.read_metrics", lambda *_: {})
    with raises(PluginError, "broken-metric") as caught:
        _, added = track.metrics_of(Recipe("evaluations", "e", {}, track="czsl"))
        compute_metrics(added, {"evaluation": Path("results/evaluations/e")}, {})
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_the_record_for_dvc_knows_what_plugins_bring(project: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    work = project()
    monkeypatch.delenv("RECOMPOSE_PROFILE")
    write_params(work.root, "mine", {"plugins": ["../my-work"]})
    data = Workspace(work.root).plan.of("data")[0]
    (work.data / f"{data.name}-{data.folder}").mkdir(parents=True)
    monkeypatch.setattr(store, "dvc", lambda *_, folder: "")
    store.commit_digests(Workspace(work.root))
    assert tracked(work.root) == [f"data/{data.name}-{data.folder}"]
