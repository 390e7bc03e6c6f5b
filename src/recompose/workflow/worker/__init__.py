"""The worker: a server that imports torch once, and forks a child for each job of a workflow.

Imports take as long as the work of a small job. The server belongs to one call of Snakemake and ends with it. Without a
server, as on a cluster, a job makes its own imports.
"""
