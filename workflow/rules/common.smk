# What rules of artifacts share: their names, and what Snakemake's report shows of them.

from recompose.engine import count_of
from recompose.slurm_queue import dependency_option, queued_jobs
from recompose.report.kinds import artifact_files, is_figure

CATEGORIES = {"csv": "data", "svg": "figure"}
TABLES, FIGURES = (
    [f"{paper.name}/{name}" for paper in engine.papers for name in paper.artifacts if is_figure(paper, name) == figures]
    for figures in (False, True)
)
FIRST_TABLES = {paper.name: (paper, paper.first_artifact) for paper in engine.papers}

FIRST = 1000  # priority of tables, figures and pages, before all training

# the resources of a process that makes tables, figures or the report
ROOM = {
    "mem_mb": lambda wildcards, attempt: 6_000 * attempt,
    "runtime": lambda wildcards, attempt: job_resources.longer(60, attempt),
    "nodes": 1,
}

# jobs start after queued ones with the same recipes; a user's own options take precedence
QUEUED = queued_jobs(work.root) if workflow.is_main_process and workflow.nodes else {}
if QUEUED and "slurm_extra" not in (workflow.resource_settings.default_resources or {}):
    AFTER_QUEUED = {"slurm_extra": lambda wildcards: dependency_option(QUEUED, wildcards.job)}
    COUNT = count_of(sum(map(len, QUEUED.values())), "jobs")
    logger.info(f"Slurm has {COUNT} of this folder already; new jobs with the same recipes start after them")
else:
    AFTER_QUEUED = {}


def rule_suffix(stage):
    """Return the name of a stage as part of a rule's name."""
    return stage.replace(".", "_").replace("-", "_")


# Files below reports/ are in git and written whole. They are updated in place: neither a failed job nor another call of
# Snakemake removes them.


def artifact_outputs(wildcard, *endings):
    """Return the files of the artifact that a rule's wildcard names."""
    return [update(f"{work.reports_place}/{{{wildcard}}}.{ending}") for ending in endings]


def paper_outputs(paper):
    """Yield the files of a paper's artifacts, the main ones marked for Snakemake's report."""
    for name, artifact in paper.artifacts.items():
        for file in artifact_files(paper, name):
            ending, path = file.rpartition(".")[2], f"{work.reports_place}/{paper.name}/{file}"
            if ending == "svg" or (ending == "csv" and not is_figure(paper, name)):
                labels = {"artifact": name, "as": CATEGORIES[ending], "about": artifact.caption}
                yield report(update(path), caption="../report/artifact.rst", category=paper.name, labels=labels)
            else:
                yield update(path)
