"""The settings of Duplex."""

from typing import Literal

from pydantic import Field

from recompose.tracks.czsl.methods.parts.settings import (
    FourWeights,
    Fraction,
    PairSelection,
    ThreePathScoring,
    ThreePathSettings,
    ThreePathTraining,
    ThreeWeights,
)

Initial = Literal["means", "random"]
UnseenStart = Literal["sum", "centred", "least-squares"]
Edges = Literal["posteriors", "labels"]


class DuplexSelection(PairSelection):
    """The score that chooses the epoch in Duplex' validation."""

    weights: ThreeWeights = Field(description="Weights of p(c t), p(c h) and p(s) p(o).")


class DuplexTraining(ThreePathTraining):
    """The training of Duplex."""

    selection: DuplexSelection = Field(description="The score with which validation chooses the epoch.")


class DuplexScoring(ThreePathScoring):
    """The fusion of Duplex' paths into one score (Eq. 21)."""

    closed: ThreeWeights = Field(description="In the closed world, the weights of p(c t), p(c h) and p(s) p(o).")
    open: ThreeWeights = Field(description="The same in the open world.")


class DuplexSettings(ThreePathSettings):
    """Duplex: a codebook of visual prototypes, refined on graphs of mini-batches."""

    training_class = DuplexTraining
    scoring_class = DuplexScoring

    loss_weights: FourWeights = Field(description="Weights of the losses of pair, state, object and prototype.")
    # the pairs that prototypes compete over (Eq. 19) and that graphs may refine (Eq. 13)
    target: Literal["closed", "open"] = Field(
        description="The world whose pairs the graphs may refine and whose prototypes compete in training."
    )
    text_target: Literal["seen", "target"] = Field(
        description="Texts of pairs compete in training over its own pairs, or over the target's."
    )
    initial: Initial = Field(description="Where prototypes begin: at the means of CLIP's embeddings, or at random.")
    unseen_start: UnseenStart = Field(
        description=(
            "Where prototypes of unseen pairs begin among means: at the sum of their state's and object's mean; "
            "the same with the grand mean taken off; "
            "or at the prediction of an additive model, fitted to the seen pairs' means by least squares."
        )
    )
    codebook: Literal["buffer", "trained"] = Field(
        description="Prototypes change only by refinement, or also by the optimiser."
    )
    # graph: Eqs. 12 to 16; counterfactual: Eq. 11 alone, the codebook without the local graph
    refinement: Literal["graph", "counterfactual", "none"] = Field(
        description="A batch refines prototypes by its local graph, only by composed features of state and "
        "object, or not at all."
    )
    momentum: Fraction = Field(description="lambda of Eq. 17; at 1 prototypes do not change.")
    edges: Edges = Field(description="The source of the graph's edges between states and objects.")
    writes_from: Literal["training", "evaluation"] = Field(
        description="Refinement uses features as in training, or as in evaluation: no dropout, running statistics."
    )
    differentiable: bool = Field(description="The gradient of the prototypes' loss passes through their refinement.")
