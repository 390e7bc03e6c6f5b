"""A batch that is represented a part at a time, in little memory, and trains as if it had been represented at once."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from recompose.tracks.vlc.methods.parts.caption_method import AnyRepresentations, CaptionMethod


def represent(
    method: CaptionMethod, pixels: Tensor, ids: Tensor, valid: Tensor, chunk: int | None
) -> AnyRepresentations:
    """What a method's loss is computed from, of a whole batch, ``chunk`` images with their texts at a time.

    Cached gradients (Gao et al., 2021): a part keeps what it gives, none of what towers computed on the way. Once the
    loss of all parts has given the gradients of what they give, each part is computed again and passes them on.
    So a step takes another pass forward, the memory of one part, and gives what one pass of the whole batch gives.

    Args:
        method: whose loss is asked for.
        pixels: [B, 3, H, W].
        ids: [B + valid.sum(), T], captions and then negatives, all of the first caption first.
        valid: [B, K] bool.
        chunk: images of a part; None: all.
    """
    batch = len(pixels)
    if chunk is None or chunk >= batch:
        return method.represent(pixels, ids)
    starts = range(0, batch, chunk)
    counts = [int(part.sum()) for part in valid.split(chunk)]
    texts = zip(ids[:batch].split(chunk), ids[batch:].split(counts), strict=True)
    parts: Sequence[AnyRepresentations] = [
        checkpoint(method.represent, pixels[start : start + chunk], torch.cat(both), use_reentrant=False)
        for start, both in zip(starts, texts, strict=True)
    ]
    return type(parts[0])(*(torch.cat(each) for each in zip(*parts, strict=True)))
