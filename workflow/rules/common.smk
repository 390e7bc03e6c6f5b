# What rules of artifacts share: their names, and what Snakemake's report shows of them.

from recompose.engine import count_of
from recompose.slurm_queue import dependency_option, queued_jobs
from recompose.report.kinds import artifact_files, is_figure

CATEGORIES = {"csv": "data", "svg": "figure"}
TABLES, FIGURES = (
    [f"{paper.name}/{name}" for paper in engine.papers for name in paper.artifacts if is_figure(paper, name) == drawn]
    for drawn in (False, True)
)

FIRST = 1000  # priority of what shows something: it goes before all that is trained

# what a process that makes tables, figures or the report may take of a node
ROOM = {
    "mem_mb": lambda wildcards, attempt: 6_000 * attempt,
    "runtime": lambda wildcards, attempt: job_resources.longer(60, attempt),
    "nodes": 1,
}

# jobs go behind those with Slurm that make the same; options of a user's own keep their place
LEFT = queued_jobs(work.root) if workflow.is_main_process and workflow.nodes else {}
if LEFT and "slurm_extra" not in (workflow.resource_settings.default_resources or {}):
    BEHIND = {"slurm_extra": lambda wildcards: dependency_option(LEFT, wildcards.job)}
    logger.info(f"Slurm has {count_of(sum(map(len, LEFT.values())), 'jobs')} of this folder already: jobs that make the same begin after")
else:
    BEHIND = {}


def named(stage):
    """The name of a stage as part of a rule's."""
    return stage.replace(".", "_").replace("-", "_")


# Files below reports/ are in git and written whole: they are updated in place, so that a job that fails, or another call of
# Snakemake beside this one, takes none of them away.


def kept(wildcard, *endings):
    """The files of the artifact that a rule's wildcard names."""
    return [update(f"{work.reports_place}/{{{wildcard}}}.{ending}") for ending in endings]


def shown(paper):
    """The files of a paper's artifacts; those that people look at go into Snakemake's report."""
    for name, artifact in paper.artifacts.items():
        for file in artifact_files(paper, name):
            ending, path = file.rpartition(".")[2], f"{work.reports_place}/{paper.name}/{file}"
            if ending == "svg" or (ending == "csv" and not is_figure(paper, name)):
                labels = {"artifact": name, "as": CATEGORIES[ending], "about": artifact.caption}
                yield report(update(path), caption="../report/artifact.rst", category=paper.name, labels=labels)
            else:
                yield update(path)
