"""Write the stand-ins of a track: ``python -m benchmarks.stand_ins.writing TRACK SHARE MIRROR COUNTS``."""

import os
import sys
from importlib import import_module
from pathlib import Path

from recompose.files import write_json

TRACKS = {"czsl": "pairs", "gzsl": "classes", "vlc": "captions"}  # the module that writes them


def main() -> None:
    """Write archives where they are not there yet, and the counts of their images."""
    track, share, mirror, counts = sys.argv[1:]
    writer = import_module(f"benchmarks.stand_ins.{TRACKS[track]}")
    write_json(Path(counts), writer.write(Path(os.environ["RECOMPOSE_REAL_DATA"]), float(share), Path(mirror)))


if __name__ == "__main__":
    main()
