"""``python -m recompose.worker``: the same as ``python -m recompose``, in the server if there is one."""

from recompose.worker.client import main

main()
