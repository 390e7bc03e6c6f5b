# Tables and figures: all of a paper in one process, or a single one where its file is asked for.


rule table:
    """A single table, by its file, such as reports/demo/msci/table-2.csv: makes just what it needs."""
    input:
        lambda wildcards: engine.artifact_prerequisites(wildcards.table),
    output:
        artifact_outputs("table", "csv", "md", "tex", "lineage.json"),
    wildcard_constraints:
        table="|".join(TABLES) or "none",
    log:
        "results/logs/artifacts/{table}.log",
    message:
        "{wildcards.table}"
    resources:
        **ROOM,
    shell:
        "python -m recompose.worker artifacts {wildcards.table} 2>&1 | tee {log}"


rule figure:
    """A single figure, by its file, such as reports/demo/msci/figure-4.svg: makes just what it needs."""
    input:
        lambda wildcards: engine.artifact_prerequisites(wildcards.figure),
    output:
        artifact_outputs("figure", "svg", "png", "csv", "lineage.json"),
    wildcard_constraints:
        figure="|".join(FIGURES) or "none",
    log:
        "results/logs/artifacts/{figure}.log",
    message:
        "{wildcards.figure}"
    resources:
        **ROOM,
    shell:
        "python -m recompose.worker artifacts {wildcards.figure} 2>&1 | tee {log}"


# A step of `all`: the table of a paper's headline, as soon as that can be made.
rule first_table:
    input:
        lambda wildcards: ancient(engine.paper_prerequisites(*FIRST_TABLES[wildcards.paper])),
    output:
        receipt="results/receipts/all/artifacts/{paper}-first-{digest}.json",
    log:
        "results/logs/artifacts/{paper}-first-{digest}.log",
    params:
        artifact=lambda wildcards: f"{wildcards.paper}/{FIRST_TABLES[wildcards.paper][1]}",
    message:
        "{params.artifact}"
    priority: FIRST
    resources:
        **ROOM,
    shell:
        "python -m recompose.worker artifacts {params.artifact} --receipt {output.receipt} 2>&1 | tee {log}"


for _paper in engine.papers:

    # a step of `all`: the tables and figures of a paper, once what they need is there
    rule:
        name:
            f"artifacts_of_{_paper.name}"
        input:
            lambda wildcards, paper=_paper: ancient(engine.paper_prerequisites(paper)),
        output:
            receipt=engine.receipts.paper(ALL, _paper.name),
            files=list(paper_outputs(_paper)),
        log:
            f"results/logs/artifacts/{_paper.name}.log",
        params:
            paper=_paper.name,
        message:
            f"all tables and figures of {_paper.name}"
        priority: FIRST
        resources:
            **ROOM,
        shell:
            "python -m recompose.worker artifacts {params.paper} --receipt {output.receipt} 2>&1 | tee {log}"

    # where a single file is asked for, a whole paper is not
    workflow.ruleorder("table", "figure", f"artifacts_of_{_paper.name}")

    rule:
        name:
            _paper.target
        input:
            lambda wildcards, scope=_paper.name: ancient(engine.job_receipts(scope)),
        output:
            receipt=engine.receipts.paper(_paper.name, _paper.name),
        log:
            f"results/logs/artifacts/{_paper.name}-alone.log",
        params:
            paper=_paper.name,
        message:
            f"all tables and figures of {_paper.name}"
        priority: FIRST
        resources:
            **ROOM,
        shell:
            "python -m recompose.worker artifacts {params.paper} --receipt {output.receipt} 2>&1 | tee {log}"

    workflow.get_rule(
        _paper.target
    ).docstring = f"One paper, its tables and figures with just what they need: {_paper.title}."


rule artifacts:
    """The tables and figures of all papers, with their lineage."""
    input:
        engine.paper_receipts(),
