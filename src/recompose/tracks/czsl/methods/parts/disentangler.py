"""Disentanglers: the parts of an image's embedding that belong to its state and to its object."""

from typing import Literal

from torch import Tensor, nn

from recompose.tracks.czsl.methods.parts.normalisation import BatchNorm

End = Literal["relu", "linear"]
Start = Literal["random", "residual", "residual-zero"]


class Disentangler(nn.Sequential):
    """Layers of a linear map, batch normalisation, ReLU and dropout; width in, width out.

    One layer in Troika at 1f3c546 and MSCI at 04cea14, two in Duplex's text.

    Args:
        end: the last layer is like the others (``relu``, as released), or a linear map alone (``linear``, as two-layer
            perceptrons usually end).
        start: ``random``, as released: before training it is a random map in front of an aligned embedding;
            ``residual``, the layers' output is added to the embedding; ``residual-zero``, in addition the last map
            begins at zero, so that training begins at the embedding itself.

    Raises:
        ValueError: the last map begins at zero and ends in ReLU, through which no gradient would pass.
    """

    def __init__(self, width: int, layers: int, dropout: float, *, end: End = "relu", start: Start = "random") -> None:
        if (start, end) == ("residual-zero", "relu"):
            raise ValueError("a disentangler that begins at zero cannot end in ReLU, which passes no gradient there")
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
