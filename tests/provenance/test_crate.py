"""The crate against what its profiles require (MUST) and against the lineage, both read here anew from plain JSON."""

import hashlib
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from recompose.errors import BusyError, CrateError
from recompose.files import write_json
from recompose.papers.declaration import PAPERS, load_paper
from recompose.provenance.crate import METADATA, _exchange, write_crate
from recompose.workspace import Workspace
from tests.configuration import write_params
from tests.conftest import ROOT
from tests.errors import raises
from tests.provenance.invented import made_of, write

Entity = dict[str, Any]
REPORTS = "reports/demo"
KEPT = ("workflow", "dvc.yaml", "dvc.lock", "LICENSE", "CITATION.cff")
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5",
    "https://w3id.org/ro/wfrun/workflow/0.5",
    "https://w3id.org/ro/wfrun/provenance/0.5",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
}


def project(target: Path) -> Path:
    """What a clone has of a project that a crate is made from: no data, no results; two methods were run with two
    seeds.
    """
    target.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        if (ROOT / name).exists():
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile)(ROOT / name, target / name)
    write_params(target)
    work = Workspace(target)
    reports = work.reports
    rows = {name: work.plan.evaluations("czsl", name, "shapes-pairs")[:2] for name in ("csp", "chance")}
    lineage = write(reports, "msci/table-2", rows)
    others = write(reports, "duplex/claims", {"msci": work.plan.evaluations("czsl", "msci", "shapes-pairs")[:1]})
    for artifact in ("msci/table-2", "duplex/claims"):
        for ending in ("csv", "md", "tex"):
            (reports / f"{artifact}.{ending}").write_text(f"{artifact} as {ending}\n")
    for name in ("index.html", "metrics.json", "README.md"):
        (reports / name).write_text(f"{name}\n")
    keys = sorted({**lineage.records, **others.records})
    write_json(reports / "made.json", {"results": {key: made_of(number) for number, key in enumerate(keys)}})
    return target


def written(root: Path, target: Path) -> Path:
    write_crate(root, target, [load_paper(name) for name in PAPERS], REPORTS)
    return target


class Graph:
    """The entities of a crate, by identifier."""

    def __init__(self, folder: Path) -> None:
        self.document = json.loads((folder / "ro-crate-metadata.json").read_text())
        self.list: list[Entity] = self.document["@graph"]
        self.by_id = {entity["@id"]: entity for entity in self.list}

    def of(self, kind: str) -> list[Entity]:
        """All of a type."""
        return [entity for entity in self.list if kind in types(entity)]

    def all(self, entity: Entity, name: str) -> list[Entity]:
        """What a property refers to; each has to be in the graph."""
        return [self.by_id[reference["@id"]] for reference in listed(entity.get(name, []))]

    def one(self, entity: Entity, name: str) -> Entity:
        (found,) = self.all(entity, name)
        return found

    @property
    def root(self) -> Entity:
        return self.by_id["./"]

    @property
    def workflow(self) -> Entity:
        return self.one(self.root, "mainEntity")

    @property
    def actions(self) -> list[Entity]:
        """The actions of tools, without the workflow's own."""
        return [action for action in self.of("CreateAction") if self.one(action, "instrument") is not self.workflow]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def types(entity: Entity) -> set[str]:
    return set(listed(entity["@type"]))


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("clone"))


@pytest.fixture(scope="module")
def folder(clone: Path) -> Path:
    return written(clone, clone / "results" / "crate")


@pytest.fixture(scope="module")
def graph(folder: Path) -> Graph:
    return Graph(folder)


@pytest.fixture(scope="module")
def lineages(clone: Path) -> dict[str, Any]:
    found = {}
    for path in sorted((clone / REPORTS).glob("*/*.lineage.json")):
        lineage = found[f"{path.parent.name}/{path.name.split('.')[0]}"] = json.loads(path.read_text())
        for record in lineage["records"].values():
            record["code"] = lineage["codes"][record["code"]]
    return found


@pytest.fixture(scope="module")
def made(clone: Path) -> dict[str, Any]:
    return dict(json.loads((clone / REPORTS / "made.json").read_text())["results"])


@pytest.fixture(scope="module")
def records(lineages: dict[str, Any]) -> dict[str, Any]:
    return {key: record for lineage in lineages.values() for key, record in lineage["records"].items()}


def ends(made: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(made["started"]) + timedelta(seconds=int(made["seconds"] + 1e-9))


@pytest.mark.slow
def test_the_metadata_file_is_that_of_a_workflow_crate(graph: Graph) -> None:
    descriptor = graph.by_id["ro-crate-metadata.json"]
    assert graph.document["@context"] == [
        "https://w3id.org/ro/crate/1.1/context",
        "https://w3id.org/ro/terms/workflow-run/context",
    ]
    assert descriptor["about"] == {"@id": "./"} and types(descriptor) == {"CreativeWork"}
    assert {"@id": "https://w3id.org/ro/crate/1.1"} in descriptor["conformsTo"]


def test_the_root_conforms_to_the_profiles(graph: Graph, made: dict[str, Any]) -> None:
    assert types(graph.root) == {"Dataset"} and graph.root["name"] and graph.root["description"]
    profiles = graph.all(graph.root, "conformsTo")
    assert {profile["@id"] for profile in profiles} == PROFILES
    assert all("CreativeWork" in types(profile) for profile in profiles)
    assert graph.one(graph.root, "license")["@id"] == "https://spdx.org/licenses/MIT"
    assert [author["name"] for author in graph.all(graph.root, "author")] == ["The Recompose developers"]
    assert datetime.fromisoformat(graph.root["datePublished"]) == max(map(ends, made.values()))


def test_the_main_entity_is_the_workflow(graph: Graph) -> None:
    assert graph.workflow["@id"] == "workflow/Snakefile"
    assert types(graph.workflow) >= {"File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"}
    language = graph.one(graph.workflow, "programmingLanguage")
    assert types(language) == {"ComputerLanguage"} and language["name"] == "Snakemake"
    names = [step["name"] for step in graph.all(graph.workflow, "step")]
    assert names == ["data", "backbones", "pixels", "features", "runs", "evaluations", "artifacts", "report"]


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from [value["@id"]] if set(value) == {"@id"} else []
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def check_references(graph: Graph) -> None:
    assert len(graph.by_id) == len(graph.list)
    outside = {name for entity in graph.list for name in references(list(entity.values())) if name not in graph.by_id}
    assert {name for name in outside if not name.startswith("https://")} == set()
    assert all(" " not in name and "<" not in name and "\n" not in name for name in graph.by_id)
    assert all("@type" in entity for entity in graph.list)


def test_every_reference_is_to_an_entity_of_the_graph(graph: Graph) -> None:
    check_references(graph)


def test_the_files_are_there_with_their_digests_and_nothing_else_is(graph: Graph, folder: Path, clone: Path) -> None:
    files = {unquote(entity["@id"]): entity for entity in graph.of("File")}
    for name, entity in files.items():
        content = (folder / name).read_bytes()
        assert (entity["sha256"], entity["contentSize"]) == (hashlib.sha256(content).hexdigest(), str(len(content)))
    inside = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert inside == files.keys() | {"ro-crate-metadata.json"}
    assert {unquote(part["@id"]) for part in graph.root["hasPart"]} >= files.keys()
    assert all((clone / name).read_bytes() == (folder / name).read_bytes() for name in files)


def test_what_is_not_in_the_crate_is_no_data_entity(graph: Graph) -> None:
    kept = [entity for entity in graph.list if str(entity.get("name", "")).startswith("results/")]
    assert kept and all(entity["@id"].startswith("#") for entity in kept)
    assert all(types(entity) in ({"CreativeWork"}, {"Collection"}) for entity in kept)


def test_every_action_has_a_tool_of_the_workflow_and_takes_and_gives_what_may_be(graph: Graph) -> None:
    tools = graph.all(graph.workflow, "hasPart")
    assert all("SoftwareApplication" in types(tool) and tool["softwareVersion"] for tool in tools)
    for action in graph.actions:
        assert graph.one(action, "instrument") in tools
        assert graph.all(action, "result")
        for entity in graph.all(action, "object") + graph.all(action, "result"):
            assert types(entity) & {"File", "CreativeWork", "Collection", "PropertyValue"}
        assert action["actionStatus"] == "http://schema.org/CompletedActionStatus"
    used = {action["instrument"]["@id"] for action in graph.actions}
    assert used == {tool["@id"] for tool in tools}
    mentioned = {entity["@id"] for entity in graph.all(graph.root, "mentions")}
    assert mentioned >= {action["@id"] for action in graph.of("CreateAction") + graph.of("OrganizeAction")}


def test_the_run_of_the_workflow_goes_from_the_parameters_to_all_reports(graph: Graph) -> None:
    (whole,) = [action for action in graph.of("CreateAction") if action not in graph.actions]
    assert [entity["@id"] for entity in graph.all(whole, "object")] == ["params.yaml"]
    files = {entity["@id"] for entity in graph.of("File") if entity["@id"].startswith(f"{REPORTS}/")}
    assert {entity["@id"] for entity in graph.all(whole, "result")} == files
    started = datetime.fromisoformat(whole["startTime"])
    assert started <= min(datetime.fromisoformat(a["startTime"]) for a in graph.actions if "startTime" in a)
    assert whole["endTime"] == graph.root["datePublished"]


def test_each_action_is_controlled_by_its_step_and_all_by_the_engine(graph: Graph) -> None:
    steps = graph.all(graph.workflow, "step")
    assert {step["@id"] for step in graph.of("HowToStep")} == {step["@id"] for step in steps}
    tools = {tool["@id"] for tool in graph.all(graph.workflow, "hasPart")}
    for step in steps:
        assert int(step["position"]) > 0 and {tool["@id"] for tool in graph.all(step, "workExample")} <= tools
    controlled: Counter[str] = Counter()
    for control in graph.of("ControlAction"):
        action, step = graph.one(control, "object"), graph.one(control, "instrument")
        assert action in graph.actions and step in steps
        assert graph.one(action, "instrument") in graph.all(step, "workExample")
        controlled[action["@id"]] += 1
    assert controlled == Counter(action["@id"] for action in graph.actions)
    (organized,) = graph.of("OrganizeAction")
    assert "SoftwareApplication" in types(graph.one(organized, "instrument"))
    assert graph.one(graph.one(organized, "result"), "instrument") is graph.workflow
    assert {each["@id"] for each in graph.all(organized, "object")} == {c["@id"] for c in graph.of("ControlAction")}


def test_values_stand_for_parameters_of_the_tool_that_took_them(graph: Graph) -> None:
    formals = graph.of("FormalParameter")
    assert formals and all(formal["additionalType"] for formal in formals)
    for action in graph.of("CreateAction"):
        slots = [formal["@id"] for formal in graph.all(graph.one(action, "instrument"), "input")]
        assert len(slots) == len(set(slots))
        for entity in graph.all(action, "object"):
            examples = graph.all(entity, "exampleOfWork")
            assert all("FormalParameter" in types(formal) for formal in examples)
            if "PropertyValue" in types(entity):
                assert examples and {formal["@id"] for formal in examples} <= set(slots)


def test_everything_behind_a_cell_is_an_action_as_its_record_says(
    graph: Graph, records: dict[str, Any], made: dict[str, Any]
) -> None:
    kinds = {"data", "backbones", "pixels", "features", "runs", "evaluations"}
    assert {key.partition("/")[0] for key in records} == kinds
    for key, record in records.items():
        action = graph.by_id[f"#action/{key}"]
        assert action["identifier"] == record["digest"] and action["startTime"] == made[key]["started"]
        assert datetime.fromisoformat(action["endTime"]) == ends(made[key])
        (folder,) = graph.all(action, "result")
        assert (folder["name"], folder["identifier"]) == (f"results/{key}", record["digest"])
        results = {entity["name"]: (entity["sha256"], entity["contentSize"]) for entity in graph.all(folder, "hasPart")}
        assert results == {
            f"results/{key}/{name}": (entry["sha256"], str(entry["bytes"])) for name, entry in record["files"].items()
        }
        taken = {entity["name"]: entity for entity in graph.all(action, "object")}
        for need in record["needs"].values():
            assert taken[f"results/{need['kind']}/{need['digest'][:12]}"]["identifier"] == need["digest"]
        values = {name.partition("/")[2]: e["value"] for name, e in taken.items() if e["@type"] == "PropertyValue"}
        for name, value in record["document"].items():
            if not isinstance(value, dict) or not value:
                assert values[name] == value or json.loads(values[name]) == value
        about = {fact["name"]: fact["value"] for fact in graph.all(action, "additionalProperty")}
        assert about["device"] == made[key]["device"] and made[key]["commit"] in about["commit"]


def test_a_method_is_a_tool_with_the_packages_that_it_ran_with(
    graph: Graph, records: dict[str, Any], made: dict[str, Any]
) -> None:
    """Packages are named as package URLs are, whatever registry delivers them."""
    for key, record in records.items():
        if "method" in record["labels"]:
            tool = graph.one(graph.by_id[f"#action/{key}"], "instrument")
            packages = {p["name"]: p["softwareVersion"] for p in graph.all(tool, "softwareRequirements")}
            assert tool["name"] == record["labels"]["method"]
            assert packages == {**made[key]["packages"], "python": made[key]["python"]}
    purls = {entity["@id"] for entity in graph.of("SoftwareApplication") if entity["@id"].startswith("pkg:")}
    assert purls == {"pkg:pypi/torch@2.13.0", "pkg:pypi/open-clip-torch@3.3.0", "pkg:generic/python@3.11.7"}


def test_no_address_of_a_registry_stands_in_it(folder: Path) -> None:
    text = (folder / "ro-crate-metadata.json").read_text()
    assert "pkg:pypi/torch@" in text
    for registry in ("pypi.org", "pythonhosted", "anaconda.org", "conda-forge", "simple/", "index-url"):
        assert registry not in text


def test_a_scored_checkpoint_is_in_the_folder_that_its_run_gave(graph: Graph, records: dict[str, Any]) -> None:
    scored = {key: record for key, record in records.items() if "run" in record["needs"]}
    assert scored
    for key, record in scored.items():
        run = f"runs/{record['needs']['run']['digest'][:12]}"
        (taken,) = [e for e in graph.all(graph.by_id[f"#action/{key}"], "object") if e["name"] == f"results/{run}"]
        assert taken in graph.all(graph.by_id[f"#action/{run}"], "result")


def test_two_codes_of_a_method_are_two_tools(graph: Graph, records: dict[str, Any]) -> None:
    expected: dict[str, set[str]] = {}
    for key, record in records.items():
        if "method" in record["labels"]:
            code = json.dumps([record["kind"], record["labels"]["method"], record["code"]], sort_keys=True)
            expected.setdefault(code, set()).add(graph.by_id[f"#action/{key}"]["instrument"]["@id"])
    tools = [tool for used in expected.values() for tool in used]
    assert len(tools) == len(set(tools))


def test_every_report_is_what_some_tool_gave_from_the_runs_behind_it(
    graph: Graph, clone: Path, lineages: dict[str, Any]
) -> None:
    given = Counter(unquote(entity["@id"]) for action in graph.actions for entity in graph.all(action, "result"))
    reports = [path.relative_to(clone).as_posix() for path in (clone / REPORTS).rglob("*") if path.is_file()]
    assert {name: given[name] for name in reports} == dict.fromkeys(reports, 1)
    for name, lineage in lineages.items():
        taken = {entity["name"] for entity in graph.all(graph.by_id[f"#action/artifacts/{name}"], "object")}
        assert taken == {f"results/{key}" for cell in lineage["cells"] for key in cell["made_from"]}


def everything(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_the_same_reports_give_the_same_bytes_elsewhere_and_over_an_older_crate(folder: Path, tmp_path: Path) -> None:
    root = project(tmp_path / "elsewhere")
    assert everything(written(root, tmp_path / "crate")) == everything(folder)
    (root / REPORTS / "metrics.json").write_text("{}\n")
    assert (written(root, tmp_path / "crate") / REPORTS / "metrics.json").read_text() == "{}\n"
    assert {path.name for path in tmp_path.iterdir()} == {"elsewhere", "crate"}


def test_of_two_crates_at_once_one_stays_whole_and_the_other_is_refused(tmp_path: Path) -> None:
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / METADATA).write_text(name)

    class Overtaken(type(tmp_path)):  # type: ignore[misc]
        """A target that another process fills between the look at it and the move to it."""

        def exists(self) -> bool:
            Path(tmp_path / "theirs").rename(self)
            return False

    with raises(BusyError, "busy", tmp_path / "crate"):
        _exchange(tmp_path / "mine", Overtaken(tmp_path / "crate"), tmp_path / "old")
    assert (tmp_path / "crate" / METADATA).read_text() == "theirs"


@pytest.mark.slow
def test_hostile_names_stay_within_their_values(clone: Path, tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    for path in (root / REPORTS).rglob("*.lineage.json"):
        text = (
            path.read_text()
            .replace('"csp"', r'"c/../<script>\n#[b] sp"')
            .replace('"name": "shapes-pairs"', '"name": "shapes pairs <b>"')
        )
        path.write_text(text)
    graph = Graph(written(root, tmp_path / "crate"))
    check_references(graph)
    assert "c/../<script>\n#[b] sp" in {tool["name"] for tool in graph.all(graph.workflow, "hasPart")}


def test_another_folder_is_not_replaced(clone: Path, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_json(other / "ro-crate-metadata.json", {"@graph": [{"@id": "./"}]})
    with raises(CrateError, "no-crate", other):
        written(clone, other)
    (tmp_path / "file").touch()
    with raises(CrateError, "no-folder", tmp_path / "file"):
        written(clone, tmp_path / "file")
    mine = shutil.copytree(folder, tmp_path / "mine")
    (mine / REPORTS / "notes.txt").write_text("mine")
    with raises(CrateError, "unlisted-file", mine / REPORTS / "notes.txt"):
        written(clone, mine)
    assert (mine / REPORTS / "notes.txt").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"other", "file", "mine"}


@pytest.mark.parametrize("inside", ["reports/demo/crate", "workflow", "reports/demo"])
def test_a_crate_is_not_put_into_what_it_is_made_from(clone: Path, inside: str) -> None:
    with raises(CrateError, "inside-crate", clone / inside):
        written(clone, clone / inside)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with raises(CrateError, "missing-file", "Snakefile"):
        written(tmp_path, tmp_path / "crate")
    root = project(tmp_path / "project")
    shutil.rmtree(root / "reports")
    with raises(CrateError, "missing-lineage", root / "reports"):
        written(root, tmp_path / "crate")
    assert not (tmp_path / "crate").exists()


def test_without_its_package_one_line_says_how_to_install_it(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("rocrate.") or name.endswith(".crate_graph")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rocrate", None)
    with raises(CrateError, "missing-package", "rocrate") as error:
        written(clone, tmp_path / "crate")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "crate").exists()
