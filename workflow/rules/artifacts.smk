# Tables and figures: all of a paper in one process, or a single one where its file is asked for.

from recompose.report.kinds import artifact_files, is_figure

CATEGORIES = {"csv": "data", "svg": "figure"}
TABLES, FIGURES = (
    [f"{paper.name}/{name}" for paper in engine.planned_papers for name in paper.artifacts if is_figure(paper, name) == drawn]
    for drawn in (False, True)
)


def shown(paper):
    """The files of a paper's artifacts; those that people look at go into Snakemake's report."""
    for name, artifact in paper.artifacts.items():
        for file in artifact_files(paper, name):
            ending, path = file.rpartition(".")[2], f"reports/{paper.name}/{file}"
            if ending == "svg" or (ending == "csv" and not is_figure(paper, name)):
                labels = {"artifact": name, "as": CATEGORIES[ending], "about": artifact.caption}
                yield report(path, caption="../report/artifact.rst", category=paper.name, labels=labels)
            else:
                yield path


def of_one(artifact):
    """What has to be there before a single artifact: what it needs that is missing, and the file that says that it is due."""
    return [*engine.receipts(artifact.replace("/", ".")), engine.stamp(*artifact.split("/"))]


rule table:
    """A single table, by its file, such as reports/msci/table-2.csv: makes just what it needs."""
    input:
        lambda wildcards: of_one(wildcards.table),
    output:
        multiext("reports/{table}", ".csv", ".md", ".tex", ".lineage.json"),
    wildcard_constraints:
        table="|".join(TABLES) or "none",
    log:
        "results/logs/artifacts/{table}.log",
    message:
        "{wildcards.table}"
    shell:
        "python -m recompose artifacts {wildcards.table} 2>&1 | tee {log}"


rule figure:
    """A single figure, by its file, such as reports/msci/figure-4.svg: makes just what it needs."""
    input:
        lambda wildcards: of_one(wildcards.figure),
    output:
        multiext("reports/{figure}", ".svg", ".png", ".csv", ".lineage.json"),
    wildcard_constraints:
        figure="|".join(FIGURES) or "none",
    log:
        "results/logs/artifacts/{figure}.log",
    message:
        "{wildcards.figure}"
    shell:
        "python -m recompose artifacts {wildcards.figure} 2>&1 | tee {log}"


for _paper in engine.planned_papers:

    rule:
        name:
            f"artifacts_of_{_paper.name}"
        """All tables and figures of a paper, once everything is there."""
        input:
            ancient(engine.receipts(ALL)),
        output:
            receipt=engine.paper_receipt(ALL, _paper.name),
            files=list(shown(_paper)),
        log:
            f"results/logs/artifacts/{_paper.name}.log",
        params:
            paper=_paper.name,
        message:
            f"all tables and figures of {_paper.name}"
        shell:
            "python -m recompose artifacts {params.paper} --receipt {output.receipt} 2>&1 | tee {log}"

    # where a single file is asked for, a whole paper is not
    workflow.ruleorder("table", "figure", f"artifacts_of_{_paper.name}")

    rule:
        name:
            f"{_paper.name}_alone"
        """All tables and figures of a paper, once what they need is there."""
        input:
            lambda wildcards, scope=_paper.name: ancient(engine.receipts(scope)),
        output:
            receipt=engine.paper_receipt(_paper.name, _paper.name),
        log:
            f"results/logs/artifacts/{_paper.name}-alone.log",
        params:
            paper=_paper.name,
        message:
            f"all tables and figures of {_paper.name}"
        shell:
            "python -m recompose artifacts {params.paper} --receipt {output.receipt} 2>&1 | tee {log}"

    rule:
        name:
            _paper.name
        input:
            engine.paper_receipt(_paper.name, _paper.name),

    workflow.get_rule(_paper.name).docstring = f"The tables and figures of one paper, with just what they need: {_paper.title}."


rule artifacts:
    """The tables and figures of all papers, with their lineage."""
    input:
        engine.paper_receipts(),
