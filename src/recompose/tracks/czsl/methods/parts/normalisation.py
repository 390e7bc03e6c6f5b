"""Batch normalisation where several processes share a batch."""

from torch import Tensor, nn

from recompose.nn.gathering import gathered, own_part


class BatchNorm(nn.BatchNorm1d):
    """By the statistics of the whole batch, on devices of any kind: torch's own synchronised one is for GPUs alone.

    What it normalises here is one embedding of an image, little enough to send all of it to all.
    """

    def forward(self, embeddings: Tensor) -> Tensor:
        """Return embeddings [images, E] of this process' part of the batch, normalised."""
        if not self.training:
            return super().forward(embeddings)
        return own_part(super().forward(gathered(embeddings)))
