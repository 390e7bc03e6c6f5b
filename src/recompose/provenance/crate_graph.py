"""The graph of an RO-Crate: the contents of the reports as actions on entities, in the terms of the profile Provenance
Run Crate.

Files in the crate's folder are ``File`` entities. Files that stay in ``results/`` are not part of the crate, and
RO-Crate 1.1 requires every ``File`` to exist in it; so they are contextual entities with digest and size, a
``CreativeWork`` or a ``Collection`` of these, with an identifier below ``#results/``.
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
from recompose.files import Document
from recompose.papers.declaration import Paper
from recompose.phases import PHASES
from recompose.provenance.crate_names import PARAMETERS, RUN_OF_ALL, WORKFLOW
from recompose.records import BuildInfo, StableRecord
from recompose.report.kinds import artifact_files
from recompose.report.published import PublishedLineage

CONTEXT = "https://w3id.org/ro/terms/workflow-run/context"
COMPLETED = "http://schema.org/CompletedActionStatus"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
STEPS = {
    **{kind: phase.about for kind, phase in PHASES.items()},
    "artifacts": "Tables and figures of each paper, with their lineage",
    "report": "The index of the reports, and the numbers to compare",
}  # step -> its description, in the order of the workflow
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
TYPES = {bool: "Boolean", int: "Integer", float: "Float"}  # of values; all others are text
ROLES = {
    "data": "dataset",
    "backbones": "backbone",
    "features": "features",
    "grids": "grids",
    "pixels": "pixels",
    "runs": "run",
    "evaluations": "evaluation",
}


def end_time(made: BuildInfo) -> str:
    """Return the time at which something was complete, from the record of its making."""
    return (datetime.fromisoformat(made.started) + timedelta(seconds=made.seconds)).isoformat(timespec="seconds")


def build(
    root: Path,
    files: Iterable[str],
    citation: Document,
    published: PublishedLineage,
    papers: list[Paper],
    reports: str,
) -> ROCrate:
    """Return the crate of a project's files, with everything that its reports show.

    Args:
        root: the project's folder.
        files: the files of the crate, as paths below the root; the workflow is among them.
        citation: the content of CITATION.cff.
        published: the lineage of the reports, with at least one record.
        papers: the papers with reports.
        reports: the folder of reports, below the project's.
    """
    graph = _Graph(root, files, citation, published, reports)
    for key, record in published.records.items():  # dependencies come first
        graph.add_stored(key, record)
    for paper in papers:
        graph.add_artifacts(paper)
    graph.add_report({paper.name for paper in papers})
    graph.finish()
    graph.simplify()
    return graph.crate


def _identifier(*parts: str) -> str:
    """Return an identifier within the crate."""
    return "#" + quote("/".join(parts), safe="/@")


class _Graph:
    """A builder of an RO-Crate."""

    def __init__(
        self, root: Path, files: Iterable[str], citation: Document, published: PublishedLineage, reports: str
    ) -> None:
        self.reports = reports
        self.crate = ROCrate(version="1.1")
        self.crate.metadata.extra_contexts.append(CONTEXT)
        self.published = published
        self.tools: dict[str, dict[str, Entity]] = {}  # step -> its tools
        self.actions: dict[str, list[Entity]] = {}  # step -> its actions
        made = sorted(published.made.values(), key=end_time)
        self.first: BuildInfo | None = made[0] if made else None
        self.last: BuildInfo | None = made[-1] if made else None
        self.version = (self.last and self.last.commit) or str(citation["version"])
        self._add_files(root, files)
        self._describe(citation)

    def _add_files(self, root: Path, files: Iterable[str]) -> None:
        self.crate.add_workflow(
            root / WORKFLOW, WORKFLOW, main=True, lang="snakemake", properties=_file_properties(root, WORKFLOW)
        )
        self.workflow = self.crate.mainEntity
        self.files = {
            name: self.crate.add_file(root / name, name, properties=_file_properties(root, name))
            for name in files
            if name != WORKFLOW
        }

    def _describe(self, citation: Document) -> None:
        """Set title, description, authors, license and profiles of the crate."""
        dataset, license_ = self.crate.root_dataset, citation["license"]
        dataset["name"] = citation["title"]
        dataset["description"] = (
            "Tables, figures and claims, with all runs behind them: their inputs, code, environment and time."
        )
        dataset["datePublished"] = end_time(self.last) if self.last else str(citation["date-released"])
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
        return self.entity(author.get("orcid") or _identifier("author", *names), kind, name=" ".join(names))

    def entity(self, identifier: str, kind: str, /, **properties: Any) -> Entity:
        """Return the entity of this identifier; it is created where there is none yet."""
        existing = self.crate.get(identifier)
        return existing or self.crate.add(ContextEntity(self.crate, identifier, {"@type": kind, **properties}))

    def stored(self, key: str, name: str, sha256: str, size: int | None = None) -> Entity:
        """Return the entity of a file in results/, with its digest; a file of the same name with another digest becomes
        another entity.
        """
        identifier = _identifier("results", key, name)
        existing = self.crate.get(identifier)
        if existing and existing["sha256"] != sha256:
            identifier = f"{identifier}@{short(sha256)}"
        more = {} if size is None else {"contentSize": str(size)}
        return self.entity(identifier, "CreativeWork", name=f"results/{key}/{name}", sha256=sha256, **more)

    def collection(self, key: str) -> Entity:
        """Return the entity of a folder in results/, which is the value of a parameter."""
        record = self.published.records[key]
        formal = self.formal(ROLES[record.kind], "Collection")
        return self.entity(
            _identifier("results", key),
            "Collection",
            name=f"results/{key}",
            identifier=record.digest,
            exampleOfWork=formal,
        )

    def results(self, key: str) -> list[Entity]:
        """Return the files of a stored result."""
        files = self.published.records[key].files.items()
        return [self.stored(key, name, entry.sha256, entry.bytes) for name, entry in sorted(files)]

    def formal(self, name: str, kind: str) -> Entity:
        """Return the parameter of this name; it may take values of several kinds."""
        formal = self.entity(_identifier("parameter", name), "FormalParameter", name=name, additionalType=kind)
        kinds = {*_as_list(formal["additionalType"]), kind}
        formal["additionalType"] = kind if len(kinds) == 1 else sorted(kinds)
        return formal

    def value(self, name: str, value: Any) -> Entity:
        """Return the entity of a parameter's value."""
        is_scalar = isinstance(value, str | bool | int | float)
        formal = self.formal(name, TYPES.get(type(value), "Text"))
        text = value if is_scalar else json.dumps(value, sort_keys=True)
        identifier = _identifier("value", name, short(digest(value)))
        return self.entity(identifier, "PropertyValue", name=name, value=text, exampleOfWork=formal)

    def tool(self, step: str, identifier: str, name: str, version: str, **properties: Any) -> Entity:
        """Return a program that a step runs."""
        made = self.entity(identifier, "SoftwareApplication", name=name, softwareVersion=version, **properties)
        return self.tools.setdefault(step, {}).setdefault(identifier, made)

    def subcommand(self, step: str) -> Entity:
        """Return the subcommand that a step runs."""
        return self.tool(
            step,
            _identifier("recompose", step),
            f"recompose make, {step}" if step in PHASES else f"recompose {step}",
            self.version,
        )

    def add_action(
        self, step: str, called: str, tool: Entity, used: list[Entity], made: list[Entity], **properties: Any
    ) -> None:
        """Add an action of a step."""
        inputs = [entity["exampleOfWork"] for entity in used if "exampleOfWork" in entity]
        present = {entity.id for entity in tool.get("input", [])}
        for formal in {formal.id: formal for formal in inputs if formal.id not in present}.values():
            tool.append_to("input", formal)
        action = self.entity(
            _identifier("action", step, called),
            "CreateAction",
            instrument=tool,
            result=made,
            actionStatus=COMPLETED,
            **properties,
        )
        if used:
            action["object"] = used
        self.actions.setdefault(step, []).append(action)

    def add_stored(self, key: str, record: StableRecord) -> None:
        """Add a stored result with its inputs, parameters, tool, environment and files."""
        folder = self.collection(key)
        folder["hasPart"] = self.results(key)
        made = self.published.made.get(key)
        trained = "method" in record.labels
        self.add_action(
            record.kind,
            key.partition("/")[2],
            self._method(record, made) if trained else self.subcommand(record.kind),
            [*self._needs(record), *self._values(record)],
            [folder],
            name=self._name(key, record),
            identifier=record.digest,
            **(self._environment(made) if made else {}),
        )

    def _name(self, key: str, record: StableRecord) -> str:
        names = self.published.names(key)
        return f"{' = '.join(names)}: {record.name}" if names else record.name

    def _needs(self, record: StableRecord) -> list[Entity]:
        """Return the folders that a result was made from."""
        return [self.collection(need.key) for need in record.needs.values()]

    def _method(self, record: StableRecord, made: BuildInfo | None) -> Entity:
        """Return the tool of a method: its code with the packages that it ran with."""
        packages = {"python": made.python, **made.packages} if made else {}
        method, code = record.labels["method"], record.code
        name = f"{record.kind}-{method}-{short(digest({'code': code, 'packages': packages}))}"
        needed = [self._package(*package) for package in sorted(packages.items())]
        more = {"softwareRequirements": needed} if needed else {}
        return self.tool(record.kind, _identifier("method", name), method, short(digest(code)), **more)

    def _package(self, name: str, version: str) -> Entity:
        kind = "generic" if name == "python" else "pypi"
        purl = f"pkg:{kind}/{quote(name.lower().replace('_', '-'))}@{quote(version)}"
        return self.entity(purl, "SoftwareApplication", name=name, softwareVersion=version, identifier=purl)

    def _values(self, record: StableRecord) -> list[Entity]:
        """Return the parameters of a result: each part of its document under its dotted name."""
        name = str(record.labels.get("method", record.name))
        return [self.value(f"{name}/{part}", value) for part, value in _flat(record.document)]

    def _environment(self, made: BuildInfo) -> Document:
        """Return time, machine and commit of a result as properties of its action."""
        tree = {True: "a changed tree of", False: "", None: "an unknown tree of"}[made.dirty]
        facts = {"host": made.host, "device": made.device, "system": made.system}
        facts["commit"] = f"{tree} {made.commit or 'no commit'}".strip()
        return {
            "startTime": made.started,
            "endTime": end_time(made),
            "description": f"{made.seconds} s on {made.device}, from {facts['commit']}",
            "additionalProperty": [
                self.entity(_identifier("circumstance", name, fact), "PropertyValue", name=name, value=fact)
                for name, fact in facts.items()
            ],
        }

    def add_artifacts(self, paper: Paper) -> None:
        """Add the artifacts of a paper that have a lineage, with the results behind their cells."""
        for name, artifact in paper.artifacts.items():
            title = f"{paper.name}/{name}"
            paths = [f"{self.reports}/{paper.name}/{file}" for file in artifact_files(paper, name)]
            made = [self.files[path] for path in paths if path in self.files]
            if title in self.published.lineages and made:
                keys = sorted({key for cell in self.published.cells(title) for key in cell.made_from})
                used = [self.collection(key) for key in keys]
                tool = self.subcommand("artifacts")
                about = {"name": f"{title}: {artifact.caption}", "description": f"recompose artifacts {paper.name}"}
                self.add_action("artifacts", title, tool, used, made, **about)

    def add_report(self, papers: set[str]) -> None:
        """Add the files that all reports share: those outside of the papers' folders."""
        made = [
            self.files[name]
            for name in self._reports()
            if PurePosixPath(name).relative_to(self.reports).parts[0] not in papers
        ]
        used = [self.collection(key) for key, record in self.published.records.items() if record.kind == "evaluations"]
        if made:
            about = {"name": "Index of the reports", "description": "recompose report"}
            self.add_action("report", "all", self.subcommand("report"), used, made, **about)

    def _reports(self) -> list[str]:
        return [name for name in self.files if name.startswith(f"{self.reports}/")]

    def finish(self) -> None:
        """Add the workflow with its steps, and its run with the actions that it controlled."""
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
            name="Snakemake runs the workflow",
            instrument=engine,
            object=controls,
            result=whole,
        )
        collections = self.crate.get_by_type("Collection")
        actions = [action for actions in done.values() for action in actions]
        self.crate.root_dataset["mentions"] = [organized, whole, *actions, *collections]

    def simplify(self) -> None:
        """Replace lists of one element by the element, as RO-Crate requires."""
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
        """Return the action of the whole workflow, from the first start to the last end."""
        parameters, reports = self.files[PARAMETERS], [self.files[name] for name in self._reports()]
        self.workflow["input"] = [self.formal(PARAMETERS, "File")]
        self.workflow["output"] = [self.formal(self.reports, "File")]
        parameters["exampleOfWork"] = self.workflow["input"]
        for file in reports:
            file["exampleOfWork"] = self.workflow["output"]
        return self.entity(
            RUN_OF_ALL,
            "CreateAction",
            name="From raw data to reports",
            description="snakemake --cores all",
            **({"startTime": self.first.started, "endTime": end_time(self.last)} if self.first and self.last else {}),
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


def _flat(document: Document, path: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in document.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _file_properties(root: Path, name: str) -> Document:
    """Return the properties of a file in the crate."""
    path = root / name
    types = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"] if name == WORKFLOW else "File"
    format_ = {"encodingFormat": FORMATS[path.suffix]} if path.suffix in FORMATS else {}
    size = str(path.stat().st_size)
    return {"@type": types, "name": name, "sha256": sha256_file(path), "contentSize": size, **format_}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
