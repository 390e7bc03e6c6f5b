"""The packages that only a part of the commands needs, and the extras of pyproject.toml that install them.

`pip install recompose` is models, data, metrics, `recompose evaluate` and `recompose compare`.
"""

EXTRAS = {"pyarrow": "parquet", "snakemake_executor_plugin_slurm": "slurm"}  # module -> extra; of the others: workflow


def missing_package(module: str) -> str:
    """Return what is said of a module that is not installed, with the remedy.

    >>> missing_package("spacy.tokens")
    "spacy.tokens is not installed; `pip install 'recompose[workflow]'`, or `make environment` in a clone, installs it"
    """
    extra = EXTRAS.get(module.partition(".")[0], "workflow")
    return (
        f"{module} is not installed; `pip install 'recompose[{extra}]'`, or `make environment` in a clone, installs it"
    )
