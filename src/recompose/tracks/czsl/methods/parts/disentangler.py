"""Disentanglers: what of an image's embedding tells its state, and what its object."""

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
            ``residual``, what the layers give is added to the embedding; ``residual-zero``, besides their last map
            begins at zero, so that training begins at the embedding itself.

    Raises:
        ValueError: it is to begin at zero and ends in ReLU, through which no gradient would ever come back.
    """

    def __init__(self, width: int, layers: int, dropout: float, *, end: End = "relu", start: Start = "random") -> None:
        if (start, end) == ("residual-zero", "relu"):
            raise ValueError("a disentangler that begins at zero cannot end in ReLU, which passes no gradient there")
        steps: list[nn.Module] = []
        for number in range(layers):
            steps.append(nn.Linear(width, width))
            if number < layers - 1 or end == "relu":
                steps += [BatchNorm(width), nn.ReLU(), nn.Dropout(dropout)]
        super().__init__(*steps)
        self.residual = start != "random"
        if start == "residual-zero":
            nn.init.zeros_(steps[-1].weight)  # type: ignore[arg-type]
            nn.init.zeros_(steps[-1].bias)  # type: ignore[arg-type]

    def forward(self, embeddings: Tensor) -> Tensor:
        """What of embeddings [images, E] it tells apart, [images, E]."""
        told = super().forward(embeddings)
        return embeddings + told if self.residual else told
