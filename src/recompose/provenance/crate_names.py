"""Names in a crate, which are known without the package that writes crates."""

WORKFLOW = "workflow/Snakefile"
PARAMETERS = "params.yaml"
RUN_OF_ALL = "#action/workflow"
