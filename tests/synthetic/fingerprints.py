"""What pictures look like, as a number each."""

import numpy as np

ROUNDING = 60  # how far apart fingerprints are at most where another Pillow rounds some pixels another way


def fingerprint(pictures: np.ndarray) -> int:
    """A number that changes by more than ``ROUNDING`` where a few pixels change so that an eye would see it."""
    flat = pictures.astype(float).ravel()
    return round(float(flat @ np.cos(np.arange(flat.size) ** 1.5)))
