"""A process that has imported torch and the rest once, and forks a child for each job of a workflow.

Importing takes as long as the work of a small job. The server belongs to one call of Snakemake: it ends with it. Where
there is none, as on a cluster, a job imports what it needs by itself.
"""
