# Tables and figures, and the page with the provenance of all. Files below reports/ are in git: updated in place.

REPORTS = graph.reports


def written(paper=None):
    """Return a file of each artifact, of one paper or of all."""
    return [f"{REPORTS}/{name}.csv" for name in graph.artifacts if paper in (None, name.partition("/")[0])]


def artifact_inputs(wildcards):
    """Return what an artifact waits for. Of a due one it is not `ancient`: Snakemake would not see that it is due."""
    artifact = graph.artifacts[wildcards.artifact]
    if artifact.is_due:
        return [*(f"results/{key}/record.json" for key in artifact.needs), DUE.name]
    return records(artifact.needs)


def names(is_figure):
    """Return a pattern of the names of all figures, or of all tables."""
    return "|".join(name for name, each in graph.artifacts.items() if each.is_figure == is_figure) or "none"


def shown(kind):
    """Return what `snakemake --report` shows of a file."""

    def labels(wildcards):
        name = wildcards.artifact
        return {"artifact": name, "as": kind, "about": graph.artifacts[name].caption}

    return {"caption": "../report/artifact.rst", "category": "tables and figures", "labels": labels}


rule table:
    input:
        artifact_inputs,
    output:
        report(update(f"{REPORTS}/{{artifact}}.csv"), **shown("data")),
        [update(f"{REPORTS}/{{artifact}}.{ending}") for ending in ("md", "tex")],
    wildcard_constraints:
        artifact=names(is_figure=False),
    log:
        "results/logs/artifacts/{artifact}.log",
    message:
        "table {wildcards.artifact}"
    priority: 1000
    shell:
        "python -m recompose.workflow.worker artifacts {wildcards.artifact} 2>&1 | tee {log}"


use rule table as figure with:
    output:
        report(update(f"{REPORTS}/{{artifact}}.svg"), **shown("figure")),
        [update(f"{REPORTS}/{{artifact}}.{ending}") for ending in ("png", "csv")],
    wildcard_constraints:
        artifact=names(is_figure=True),
    message:
        "figure {wildcards.artifact}"


def page_inputs(wildcards):
    """Return what the page waits for: `ancient`, unless it is due, or the call makes anew what it may show."""
    if graph.page_is_due:
        return [*written(), DUE.name]
    settings = workflow.dag_settings
    is_forced = settings.forceall or settings.forcetargets or settings.forcerun
    return written() if is_forced else ancient(written())


rule page:
    """The report site, the index for code hosts, and the numbers that DVC compares."""
    input:
        page_inputs,
    output:
        report(update(f"{REPORTS}/index.html"), caption="../report/page.rst", category="page"),
        report(update(f"{REPORTS}/metrics.json"), caption="../report/metrics.rst", category="page"),
    log:
        "results/logs/page.log",
    message:
        "the page, with an audit of everything in it"
    shell:
        "python -m recompose.workflow.worker report > results/logs/summary.txt 2> {log}"


rule artifacts:
    """The tables and figures of all papers."""
    message:
        "the tables and figures of all papers"
    input:
        written(),


for _paper in graph.papers:

    rule:
        name:
            _paper.target
        message:
            "the tables and figures of {params.title}"
        input:
            written(_paper.name),
        params:
            title=_paper.title,

    workflow.get_rule(_paper.target).docstring = f"One paper, with just what it needs: {_paper.title}."
