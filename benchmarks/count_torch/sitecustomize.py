"""Note every process that imports torch, in the file that TORCH_PROCESSES names, where this folder is on PYTHONPATH."""

import os
import sys
from importlib.abc import MetaPathFinder


class _Watch(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            with open(os.environ["TORCH_PROCESSES"], "a") as file:  # noqa: PTH123
                file.write(f"{os.getpid()} {' '.join(sys.argv)}\n")
            sys.meta_path.remove(self)


if "TORCH_PROCESSES" in os.environ:
    sys.meta_path.insert(0, _Watch())
