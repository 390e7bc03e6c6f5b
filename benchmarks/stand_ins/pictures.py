"""Pictures that cost next to nothing: a few are drawn, and each file is one of them under its own name."""

import io
import struct
from zlib import crc32

import numpy as np
from PIL import Image

DRAWN = 32  # different pictures of a size
COARSE = 16  # pixels of a patch of one colour, which is blurred
QUALITY = 80
_START = b"\xff\xd8"  # of a JPEG
_COMMENT = b"\xff\xfe"


class Pictures:
    """JPEGs of one size; no two that have different names are the same bytes."""

    def __init__(self, width: int, height: int) -> None:
        rng = np.random.default_rng(width * 100_003 + height)
        self._drawn = [_drawn(rng, width, height) for _ in range(DRAWN)]

    def named(self, name: str) -> bytes:
        """Return the picture of a name, always the same one: the name is in it as a comment.

        Example:
            >>> picture = Pictures(32, 24).named("a.jpg")
            >>> Image.open(io.BytesIO(picture)).size, picture == Pictures(32, 24).named("a.jpg")
            ((32, 24), True)
        """
        text = name.encode()
        comment = _COMMENT + struct.pack(">H", len(text) + 2) + text
        return _START + comment + self._drawn[crc32(text) % DRAWN].removeprefix(_START)


def _drawn(rng: np.random.Generator, width: int, height: int) -> bytes:
    """Return a JPEG of blurred patches under fine noise: about as many bytes a pixel as a photograph."""
    patches = rng.integers(0, 256, (height // COARSE + 1, width // COARSE + 1, 3), dtype=np.uint8)
    blurred = np.asarray(Image.fromarray(patches).resize((width, height), Image.Resampling.BICUBIC), dtype=np.int16)
    noisy = np.clip(blurred + rng.integers(-12, 13, blurred.shape), 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(noisy).save(file, "jpeg", quality=QUALITY)
    return file.getvalue()
