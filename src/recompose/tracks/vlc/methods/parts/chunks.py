"""Representation of a batch in chunks, which saves memory and leaves gradients unchanged."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from recompose.tracks.vlc.methods.parts.caption_method import AnyRepresentations, CaptionMethod


def represent(
    method: CaptionMethod, pixels: Tensor, ids: Tensor, valid: Tensor, chunk: int | None
) -> AnyRepresentations:
    """Return a method's representations of a whole batch, computed for ``chunk`` images with their texts at a time.

    Cached gradients (Gao et al., 2021): a chunk stores its representations, not the towers' activations. In the
    backward pass each chunk is computed again, and propagates the gradients of its representations. So a step needs a
    second forward pass and the memory of one chunk, and its gradients are those of the whole batch.

    Args:
        method: the method.
        pixels: [B, 3, H, W].
        ids: [B + valid.sum(), T], captions and then negatives, all of the first caption first.
        valid: [B, K] bool.
        chunk: images of a chunk; None: all.
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
    return type(parts[0])(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))
