"""The checks of the audit."""

INSPECT = "look at `git diff` first; `snakemake --cores all` makes it again"  # of what somebody may have edited
REMAKE = "`snakemake --cores all`"  # the remedy of whatever the workflow can make again
