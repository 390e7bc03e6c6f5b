"""Disentanglers: the parts of an image's embedding that belong to its state and to its object."""

from torch import Tensor, nn

from recompose.tracks.czsl.methods.settings import End, Start
from recompose.training.gathering import gather_batch, local_part


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


class Disentangler(nn.Sequential):
    """Layers of a linear map, batch normalisation, ReLU and dropout; width in, width out.

    One layer in Troika at 1f3c546 and MSCI at 04cea14, two in Duplex's text.

    Args:
        end: the last layer is like the others (``relu``, as released), or a linear map alone (``linear``, as two-layer
            perceptrons usually end).
        start: ``random``, as released: before training it is a random map in front of an aligned embedding;
            ``residual``, the layers' output is added to the embedding; ``residual-zero``, in addition the last map
            begins at zero, so that training begins at the embedding itself; it needs a linear end, as no gradient
            passes a ReLU at zero.
    """

    def __init__(self, width: int, layers: int, dropout: float, *, end: End = "relu", start: Start = "random") -> None:
        steps: list[nn.Module] = []
        for number in range(layers):
            linear = nn.Linear(width, width)
            steps.append(linear)
            if number < layers - 1 or end == "relu":
                steps += [BatchNorm(width), nn.ReLU(), nn.Dropout(dropout)]
        super().__init__(*steps)
        self.residual = start != "random"
        if start == "residual-zero":
            nn.init.zeros_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, embeddings: Tensor) -> Tensor:
        """Return the part [images, E] of embeddings [images, E]."""
        part = super().forward(embeddings)
        return embeddings + part if self.residual else part
