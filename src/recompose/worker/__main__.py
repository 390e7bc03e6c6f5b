"""``python -m recompose.worker``: as ``python -m recompose``, in the server where there is one."""

from recompose.worker.client import main

main()
