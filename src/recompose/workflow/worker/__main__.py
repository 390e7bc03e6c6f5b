"""``python -m recompose.workflow.worker``: a command that rebuilds papers, in the server if there is one."""

from recompose.workflow.worker.client import main

main()
