"""Recompose: rebuilds the tables and figures of five papers, and traces every number to its runs."""

import os

# A thread that waits for others sleeps: spinning takes the core from whoever shares the machine. OpenMP reads these
# when it is loaded, which is after this: whatever imports torch here lies in this package. Children inherit them.
for _name, _value in {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0"}.items():
    os.environ.setdefault(_name, _value)
