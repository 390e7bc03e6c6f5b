# Phase 5: tables and figures, all of a paper in one process.

CATEGORIES = {"md": "text", "tex": "LaTeX", "csv": "data", "svg": "figure", "png": "figure"}


def artifact_outputs(paper):
    """The files of a paper's artifacts; those that people look at go into Snakemake's report."""
    for name, artifact in paper.artifacts.items():
        for file in artifact_files(name, artifact):
            ending = file.rpartition(".")[2]
            path = f"reports/{paper.name}/{file}"
            shown = ending == "svg" or (ending == "csv" and artifact.kind != "curves")
            if shown:
                yield report(
                    path,
                    caption=f"../report/{artifact.kind}.rst",
                    category=paper.name,
                    labels={"artifact": name, "as": CATEGORIES[ending], "about": artifact.caption},
                )
            else:
                yield path


for _paper in map(load_paper, PAPERS):

    rule:
        name:
            f"artifacts_{_paper.name}"
        input:
            ancient(receipts.before_artifacts()),
        output:
            receipts.of_artifacts(_paper.name),
            list(artifact_outputs(_paper)),
        params:
            paper=_paper.name,
        shell:
            "{PYTHON} -m recompose artifacts {params.paper} --receipt {output[0]}"


rule artifacts:
    input:
        receipts.all("artifacts"),
