"""``python -m recompose.worker``: a command that rebuilds papers, in the server if there is one."""

from recompose.worker.client import main

main()
