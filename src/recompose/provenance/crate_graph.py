"""The graph of an RO-Crate: what the reports show, as actions on entities, in the terms of the profile Provenance Run Crate.

What is in the crate's folder is a ``File``. What stays in ``results/`` is described by its digest and size: it is no part of the crate, so it must be
no ``File`` (RO-Crate 1.1 wants every one of these to be there), but a contextual entity, a ``CreativeWork`` or a ``Collection`` of them, with an
identifier below ``#results/``.
"""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.rocrate import ROCrate

from recompose.digest import digest, sha256_file, short
from recompose.papers.declaration import Paper, artifact_files
from recompose.report.published import Shown

CONTEXT = "https://w3id.org/ro/terms/workflow-run/context"
WORKFLOW = "workflow/Snakefile"
PARAMETERS = "params.yaml"
REPORTS = "reports"
COMPLETED = "http://schema.org/CompletedActionStatus"
RUN_OF_ALL = "#action/workflow"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
STEPS = {  # step -> what it does, in the order of the workflow
    "acquire": "Raw data onto this disk, checked and indexed",
    "backbone": "The frozen backbone, pretrained here or released",
    "features": "The images of each data set, encoded once",
    "runs": "Every method trained and tested, with every seed",
    "artifacts": "Tables and figures of each paper, with their lineage",
    "report": "The index of the reports, and the numbers to compare",
}
FORMATS = {
    "": "text/plain",
    ".cff": "application/yaml",
    ".lock": "application/yaml",
    ".rst": "text/x-rst",
    ".smk": "text/plain",
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".yaml": "application/yaml",
}
TYPES = {bool: "Boolean", int: "Integer", float: "Float"}  # of values; any other is said in text
READ = (
    "metrics.json",
    "costs.json",
    "scores.safetensors",
    "embeddings.safetensors",
)  # of a run, by what makes artifacts
Record = dict[str, Any]


def ended(record: Record) -> str:
    """When what a record tells of was complete."""
    made = record["made"]
    return (datetime.fromisoformat(made["started"]) + timedelta(seconds=made["seconds"])).isoformat(timespec="seconds")


def build(root: Path, files: Iterable[str], citation: dict[str, Any], shown: Shown, papers: list[Paper]) -> ROCrate:
    """The crate of some files of a project, with all that its reports show.

    Args:
        root: the project's folder.
        files: what the crate is to hold, as paths below it; the workflow is among them.
        citation: the content of its CITATION.cff.
        shown: what the reports show: at least one record.
        papers: whose reports they are.
    """
    graph = _Graph(root, files, citation, shown)
    for key, record in sorted(shown.records.items()):
        graph.add_results(key, record)
    for key, record in sorted(shown.records.items()):
        if key.startswith("runs/"):
            graph.add_run(key, record)
    graph.add_inputs()
    for paper in papers:
        graph.add_artifacts(paper)
    graph.add_report({paper.name for paper in papers})
    graph.finish()
    graph.simplify()
    return graph.crate


def _id(*parts: str) -> str:
    """An identifier within the crate."""
    return "#" + quote("/".join(parts), safe="/@")


class _Graph:
    """An RO-Crate in the making."""

    def __init__(self, root: Path, files: Iterable[str], citation: dict[str, Any], shown: Shown) -> None:
        self.crate = ROCrate(version="1.1")
        self.crate.metadata.extra_contexts.append(CONTEXT)
        self.shown = shown
        self.tools: dict[str, dict[str, Entity]] = {}  # step -> its tools
        self.actions: dict[str, list[Entity]] = {}  # step -> what was done in it
        self.last = max(shown.records.values(), key=lambda record: (ended(record), record["digest"]))
        self.version = self.last["made"]["commit"] or str(citation["version"])
        self._add_files(root, files)
        self._describe(citation)

    def _add_files(self, root: Path, files: Iterable[str]) -> None:
        self.crate.add_workflow(
            root / WORKFLOW, WORKFLOW, main=True, lang="snakemake", properties=_about(root, WORKFLOW)
        )
        self.workflow = self.crate.mainEntity
        self.files = {
            name: self.crate.add_file(root / name, name, properties=_about(root, name))
            for name in files
            if name != WORKFLOW
        }

    def _describe(self, citation: dict[str, Any]) -> None:
        """What the crate is, by whom, under which license, and which profiles it keeps to."""
        dataset, license_ = self.crate.root_dataset, citation["license"]
        dataset["name"] = citation["title"]
        dataset["description"] = (
            "Tables, figures and claims, with all runs behind them: from what, by what and when they were made."
        )
        dataset["datePublished"] = ended(self.last)
        spdx = f"https://spdx.org/licenses/{quote(license_)}"
        dataset["license"] = self.entity(spdx, "CreativeWork", name=license_, description=f"The license {license_}")
        dataset["author"] = [self._author(author) for author in citation["authors"]]
        dataset["conformsTo"] = [
            self.entity(uri, "CreativeWork", name=name, version=uri.rpartition("/")[2])
            for uri, name in PROFILES.items()
        ]

    def _author(self, author: dict[str, str]) -> Entity:
        names = [author[part] for part in ("name", "given-names", "family-names") if part in author]
        kind = "Organization" if "name" in author else "Person"
        return self.entity(author.get("orcid") or _id("author", *names), kind, name=" ".join(names))

    def entity(self, identifier: str, kind: str, /, **properties: Any) -> Entity:
        """The entity of this identifier; made where there is none yet."""
        known = self.crate.get(identifier)
        return known or self.crate.add(ContextEntity(self.crate, identifier, {"@type": kind, **properties}))

    def stored(self, key: str, name: str, found: str, size: int | None = None) -> Entity:
        """A file that is kept in results/, with its digest; where other bytes were found there too, these are another entity."""
        identifier = _id("results", key, name)
        known = self.crate.get(identifier)
        if known and known["sha256"] != found:
            identifier = f"{identifier}@{short(found)}"
        more = {} if size is None else {"contentSize": str(size)}
        return self.entity(identifier, "CreativeWork", name=f"results/{key}/{name}", sha256=found, **more)

    def collection(self, kind: str, document: dict[str, str], parameter: str) -> Entity:
        """A folder that is kept in results/, which a recipe names with its digest; it takes the place of a parameter."""
        folder = f"{kind}/{document['name']}-{short(document['digest'])}"
        formal = self.formal(parameter, "Collection")
        return self.entity(
            _id("results", folder),
            "Collection",
            name=f"results/{folder}",
            identifier=document["digest"],
            exampleOfWork=formal,
        )

    def add_results(self, key: str, record: Record) -> None:
        """The files of a run or of an index."""
        for name, entry in sorted(record["files"].items()):
            self.stored(key, name, entry["sha256"], entry["bytes"])

    def results(self, key: str) -> list[Entity]:
        """The entities of these."""
        return [
            self.stored(key, name, entry["sha256"]) for name, entry in sorted(self.shown.records[key]["files"].items())
        ]

    def read(self, key: str) -> list[Entity]:
        """Of these the ones that artifacts are made from."""
        files = self.shown.records[key]["files"]
        names = (
            [name for name in READ if name in files] if key.startswith("runs/") else sorted(files.keys() - {"log.txt"})
        )
        return [self.stored(key, name, files[name]["sha256"]) for name in names]

    def formal(self, name: str, kind: str) -> Entity:
        """The parameter of this name; it may take values of several kinds."""
        found = self.entity(_id("parameter", name), "FormalParameter", name=name, additionalType=kind)
        kinds = {*_listed(found["additionalType"]), kind}
        found["additionalType"] = kind if len(kinds) == 1 else sorted(kinds)
        return found

    def value(self, name: str, value: Any) -> Entity:
        """A parameter's value."""
        plain = isinstance(value, str | bool | int | float)
        formal = self.formal(name, TYPES.get(type(value), "Text"))
        said = value if plain else json.dumps(value, sort_keys=True)
        identifier = _id("value", name, short(digest(value)))
        return self.entity(identifier, "PropertyValue", name=name, value=said, exampleOfWork=formal)

    def tool(self, step: str, identifier: str, name: str, version: str, **properties: Any) -> Entity:
        """A program that a step carries out."""
        made = self.entity(identifier, "SoftwareApplication", name=name, softwareVersion=version, **properties)
        return self.tools.setdefault(step, {}).setdefault(identifier, made)

    def subcommand(self, step: str) -> Entity:
        """The subcommand that a step carries out."""
        return self.tool(step, _id("recompose", step), f"recompose {step}", self.version)

    def act(
        self, step: str, called: str, tool: Entity, used: list[Entity], made: list[Entity], **properties: Any
    ) -> None:
        """Something that was done in a step."""
        inputs = [entity["exampleOfWork"] for entity in used if "exampleOfWork" in entity]
        known = {entity.id for entity in tool.get("input", [])}
        for formal in {formal.id: formal for formal in inputs if formal.id not in known}.values():
            tool.append_to("input", formal)
        action = self.entity(
            _id("action", step, called),
            "CreateAction",
            instrument=tool,
            result=made,
            actionStatus=COMPLETED,
            **properties,
        )
        if used:
            action["object"] = used
        self.actions.setdefault(step, []).append(action)

    def add_run(self, key: str, record: Record) -> None:
        """A run: what it read, what it was told, by what and where it was made, and what came out."""
        recipe, made = record["recipe"], record["made"]
        said = " = ".join(self.shown.names(key)) or recipe["method"]
        self.act(
            "runs",
            key.removeprefix("runs/"),
            self._method(recipe, made),
            [*self._taken(record), *self._values(recipe)],
            self.results(key),
            name=f"{said} on {recipe['dataset']['name']}, seed {recipe['seed']}",
            identifier=record["digest"],
            **self._circumstances(made),
        )

    def _method(self, recipe: Record, made: Record) -> Entity:
        """A method's code with the packages that it ran with."""
        packages = {"python": made["python"], **made["packages"]}
        name = f"{recipe['method']}-{short(digest({'code': recipe['code'], 'packages': packages}))}"
        needed = [self._package(*package) for package in sorted(packages.items())]
        version = short(digest(recipe["code"]))
        return self.tool("runs", _id("method", name), recipe["method"], version, softwareRequirements=needed)

    def _package(self, name: str, version: str) -> Entity:
        url = "https://www.python.org/" if name == "python" else f"https://pypi.org/project/{quote(name)}/"
        identifier = _id("package", f"{name}-{version}")
        return self.entity(identifier, "SoftwareApplication", name=name, softwareVersion=version, url=url)

    def _taken(self, record: Record) -> list[Entity]:
        """What a run took from the steps before it, and from another run."""
        recipe, found = record["recipe"], record["inputs"]
        taken = [self.collection("index", recipe["dataset"], "dataset")]
        if recipe.get("backbone"):
            taken.append(self.collection("backbones", recipe["backbone"], "backbone"))
            self._put(taken[-1], "weights", found.get("weights"))
        if recipe.get("features"):
            taken.append(self.collection("features", recipe["features"], "features"))
            for name in ("embeddings", "pixels"):
                self._put(taken[-1], f"{name}.npy", found.get(name))
        if recipe.get("checkpoint_of"):
            source = f"runs/{short(recipe['checkpoint_of']['digest'])}"
            taken.append(self.stored(source, "checkpoint.safetensors", found["checkpoint"]))
            taken[-1]["exampleOfWork"] = self.formal("checkpoint", "File")
        return taken

    def _put(self, collection: Entity, name: str, found: str | None) -> None:
        """State that a folder in results/ was found to hold a file."""
        if found:
            part = self.stored(collection["name"].removeprefix("results/"), name, found)
            if part.id not in {known.id for known in collection.get("hasPart", [])}:
                collection.append_to("hasPart", part)

    def _values(self, recipe: Record) -> list[Entity]:
        """What a run was told: its method's settings, and what is common to all methods."""
        own = {f"{recipe['method']}/{name}": value for name, value in recipe["settings"].items()}
        common = {
            f"{part}.{name}": value
            for part in ("trainer", "feasibility")
            for name, value in recipe.get(part, {}).items()
        }
        return [self.value(name, value) for name, value in {**own, **common, "seed": recipe["seed"]}.items()]

    def _circumstances(self, made: Record) -> dict[str, Any]:
        """When and where something was made, from which commit."""
        tree = {True: "a changed tree of", False: "", None: "an unknown tree of"}[made["dirty"]]
        facts = {"host": made["host"], "device": made["device"], "system": made["system"]}
        facts["commit"] = f"{tree} {made['commit'] or 'no commit'}".strip()
        return {
            "startTime": made["started"],
            "endTime": ended({"made": made}),
            "description": f"{made['seconds']} s on {made['device']}, from {facts['commit']}",
            "additionalProperty": [
                self.entity(_id("circumstance", name, fact), "PropertyValue", name=name, value=fact)
                for name, fact in facts.items()
            ],
        }

    def add_inputs(self) -> None:
        """How what the runs took was made: of a data set that an artifact shows there is a record, of the rest a digest."""
        recipes = [record["recipe"] for key, record in sorted(self.shown.records.items()) if key.startswith("runs/")]
        for key, record in sorted(self.shown.records.items()):
            if key.startswith("index/"):
                self._add_index(key, record)
        for recipe in recipes:
            index = self.collection("index", recipe["dataset"], "dataset")
            self._add_input("acquire", "Index", index, [])
            if recipe.get("backbone"):
                backbone = self.collection("backbones", recipe["backbone"], "backbone")
                self._add_input("backbone", "Backbone", backbone, [])
                if recipe.get("features"):
                    features = self.collection("features", recipe["features"], "features")
                    self._add_input("features", "Features", features, [index, backbone])

    def _add_index(self, key: str, record: Record) -> None:
        recipe, made = record["recipe"], record["made"]
        index = self.collection("index", {"name": recipe["dataset"], "digest": record["digest"]}, "dataset")
        index["hasPart"] = self.results(key)
        settings = {name: value for name, value in recipe.items() if name not in ("dataset", "code")}
        values = [self.value(f"{recipe['dataset']}/{name}", value) for name, value in settings.items()]
        self._add_input("acquire", "Index", index, values, **self._circumstances(made))

    def _add_input(self, step: str, what: str, made: Entity, used: list[Entity], **properties: Any) -> None:
        name = made["name"].split("/", 2)[2]
        if _id("action", step, name) not in self.crate:
            said = {"name": f"{what} {name}", "description": f"recompose {step}", **properties}
            self.act(step, name, self.subcommand(step), used, [made], **said)

    def add_artifacts(self, paper: Paper) -> None:
        """The artifacts of a paper that have a lineage, made from what is behind their cells."""
        for name, artifact in paper.artifacts.items():
            title = f"{paper.name}/{name}"
            paths = [f"{REPORTS}/{paper.name}/{file}" for file in artifact_files(name, artifact)]
            made = [self.files[path] for path in paths if path in self.files]
            if title in self.shown.lineages and made:
                keys = sorted({key for cell in self.shown.cells(title) for key in cell["made_from"]})
                used = [entity for key in keys for entity in self.read(key)]
                tool = self.subcommand("artifacts")
                said = {"name": f"{title}: {artifact.caption}", "description": f"recompose artifacts {paper.name}"}
                self.act("artifacts", title, tool, used, made, **said)

    def add_report(self, papers: set[str]) -> None:
        """What is made of all reports together: every file of theirs that is not in a paper's folder."""
        made = [self.files[name] for name in self._reports() if PurePosixPath(name).parts[1] not in papers]
        used = [entity for key in sorted(self.shown.records) for entity in self.read(key)]
        if made:
            said = {"name": "Index of the reports", "description": "recompose report"}
            self.act("report", "all", self.subcommand("report"), used, made, **said)

    def _reports(self) -> list[str]:
        return [name for name in self.files if name.startswith(f"{REPORTS}/")]

    def finish(self) -> None:
        """The workflow with its steps, and its run with the actions that it controlled."""
        done = {step: self.actions[step] for step in STEPS if step in self.actions}
        steps = {step: self._step(step, position) for position, step in enumerate(done, start=1)}
        whole = self._run_of_all()
        self.workflow["version"] = self.version
        self.workflow["step"] = list(steps.values())
        self.workflow["hasPart"] = [tool for step in done for tool in self.tools[step].values()]
        controls = [self._control(action, steps[step]) for step, actions in done.items() for action in actions]
        engine = self.entity(
            "#engine/snakemake", "SoftwareApplication", name="Snakemake", url="https://snakemake.github.io"
        )
        organized = self.entity(
            "#action/snakemake",
            "OrganizeAction",
            name="Snakemake carries the workflow out",
            instrument=engine,
            object=controls,
            result=whole,
        )
        taken = self.crate.get_by_type("Collection")
        actions = [each for actions in done.values() for each in actions]
        self.crate.root_dataset["mentions"] = [organized, whole, *actions, *taken]

    def simplify(self) -> None:
        """Say a list of one as that one, as RO-Crate wants it."""
        for entity in self.crate.get_entities():
            for name, value in list(entity.items()):
                if isinstance(value, list) and len(value) == 1 and not name.startswith("@"):
                    entity[name] = value[0]

    def _step(self, step: str, position: int) -> Entity:
        tools = list(self.tools[step].values())
        return self.entity(
            f"{WORKFLOW}#{step}",
            "HowToStep",
            name=step,
            description=STEPS[step],
            position=str(position),
            workExample=tools,
        )

    def _run_of_all(self) -> Entity:
        """From the parameters to the reports; from the first thing that was made to the last."""
        parameters, reports = self.files[PARAMETERS], [self.files[name] for name in self._reports()]
        self.workflow["input"] = [self.formal(PARAMETERS, "File")]
        self.workflow["output"] = [self.formal(REPORTS, "File")]
        parameters["exampleOfWork"] = self.workflow["input"]
        for file in reports:
            file["exampleOfWork"] = self.workflow["output"]
        return self.entity(
            RUN_OF_ALL,
            "CreateAction",
            name="From raw data to reports",
            description="snakemake --cores all",
            startTime=min(record["made"]["started"] for record in self.shown.records.values()),
            endTime=ended(self.last),
            actionStatus=COMPLETED,
            instrument=self.workflow,
            object=[parameters],
            result=reports,
        )

    def _control(self, action: Entity, step: Entity) -> Entity:
        identifier = "#control/" + action.id.removeprefix("#action/")
        return self.entity(
            identifier, "ControlAction", name=f"{step['name']} of the workflow", instrument=step, object=action
        )


def _about(root: Path, name: str) -> dict[str, Any]:
    """What is said of a file in the crate."""
    path = root / name
    types = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"] if name == WORKFLOW else "File"
    known = {"encodingFormat": FORMATS[path.suffix]} if path.suffix in FORMATS else {}
    size = str(path.stat().st_size)
    return {"@type": types, "name": name, "sha256": sha256_file(path), "contentSize": size, **known}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
