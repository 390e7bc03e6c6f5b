# What rules of artifacts share: their names, and what Snakemake's report shows of them.

from recompose.report.kinds import artifact_files, is_figure

CATEGORIES = {"csv": "data", "svg": "figure"}
TABLES, FIGURES = (
    [f"{paper.name}/{name}" for paper in engine.papers for name in paper.artifacts if is_figure(paper, name) == drawn]
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
