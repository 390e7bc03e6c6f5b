"""Batch normalisation for several processes that share a batch."""

from torch import Tensor, nn

from recompose.nn.gathering import gather_batch, local_part


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation by the statistics of the whole batch, on devices of any kind; torch's own synchronised one
    needs GPUs.

    Its input here is one embedding of each image, small enough to send to all processes.
    """

    def forward(self, embeddings: Tensor) -> Tensor:
        """Return embeddings [images, E] of this process's part of the batch, normalised."""
        if not self.training:
            return super().forward(embeddings)
        return local_part(super().forward(gather_batch(embeddings)))
