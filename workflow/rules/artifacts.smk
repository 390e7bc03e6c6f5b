# Phase 5: tables and figures, all of a paper in one process.

for _paper in map(load_paper, PAPERS):

    rule:
        name:
            f"artifacts_{_paper.name}"
        input:
            ancient(receipts.before_artifacts()),
        output:
            receipt=receipts.of_artifacts(_paper.name),
            files=list(artifact_outputs(_paper)),
        log:
            f"results/logs/artifacts/{_paper.name}.log",
        params:
            paper=_paper.name,
        shell:
            "python -m recompose artifacts {params.paper} --receipt {output.receipt} 2>&1 | tee {log}"


rule artifacts:
    input:
        receipts.all("artifacts"),
