"""The checks of the audit."""

REMAKE = "`snakemake --cores all`"  # the remedy of whatever the workflow can make again
