"""The packages that only a part of the commands needs, and the extras of pyproject.toml that install them.

`pip install recompose` is models, data, metrics, `recompose evaluate` and `recompose compare`.
"""

from collections.abc import Mapping

EXTRAS: Mapping[str, str] = {  # module -> extra
    "snakemake": "workflow",
    "snakemake_logger_plugin_rich": "workflow",
    "dvc": "workflow",
    "kornia": "workflow",
    "sklearn": "workflow",
    "threadpoolctl": "workflow",
    "psutil": "workflow",
    "jinja2": "workflow",
    "markdown_it": "workflow",
    "spacy": "workflow",
    "nltk": "workflow",
    "lemminflect": "workflow",
    "pyarrow": "parquet",
    "snakemake_executor_plugin_slurm": "slurm",
}


def missing_package(module: str) -> str:
    """Return what is said of a module that is not installed, with the remedy.

    >>> missing_package("spacy.tokens")
    "spacy.tokens is not installed; `pip install 'recompose[workflow]'`, or `make environment` in a clone, installs it"
    >>> missing_package("torch")
    'torch is not installed; `make environment` installs it'
    """
    extra = EXTRAS.get(module.partition(".")[0])
    command = (
        f"`pip install 'recompose[{extra}]'`, or `make environment` in a clone," if extra else "`make environment`"
    )
    return f"{module} is not installed; {command} installs it"
