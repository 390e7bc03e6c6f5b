"""Recompose: rebuilds the tables and figures of five papers, and traces every number to its runs."""

import os

# Waiting threads sleep: spinning would take cores from other processes. OpenMP reads these variables when it is loaded,
# which is later than this, since all imports of torch are in this package. Child processes inherit them.
for _name, _value in {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0"}.items():
    os.environ.setdefault(_name, _value)

from recompose import arithmetic  # noqa: E402, F401 - sets the variables of libraries before any is imported
