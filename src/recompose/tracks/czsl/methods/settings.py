"""The settings of the methods, in the order of the catalogue; those that several methods share come first."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints, ValidationInfo, field_validator

from recompose.params.method import MethodSettings
from recompose.params.sections import Count, Positive, Section, Share, TrainingPrecision, Weight

Template = Annotated[str, StringConstraints(pattern=r"^[^{}]*\{state\} \{object\}$")]
Fraction = Annotated[float, Field(ge=0, le=1)]
TwoWeights = Annotated[list[Weight], Field(min_length=2, max_length=2)]
ThreeWeights = Annotated[list[Weight], Field(min_length=3, max_length=3)]
FourWeights = Annotated[list[Weight], Field(min_length=4, max_length=4)]
FusionForm = Literal["probabilities", "logits"]
ImageTower = Literal["adapters", "lora", "frozen"]
End = Literal["relu", "linear"]
Start = Literal["random", "residual", "residual-zero"]


class PairTrainingSettings(Section):
    """The training of a method."""

    lr: Positive = Field(description="Learning rate.")
    weight_decay: Weight = Field(description="Weight decay, coupled with the gradient as Adam has it.")
    batch_size: Count = Field(description="Images of a batch.")
    accumulate: Count = Field(description="Batches whose gradients make one step.")
    epochs: Count = Field(description="Passes over the images of training.")
    precision: TrainingPrecision = None


class AugmentedTraining(PairTrainingSettings):
    """The training of a method that may augment images in each epoch."""

    halve_every: Count = Field(description="Epochs after which the learning rate is halved.")
    augment: bool = Field(description="Flip, tilt and rotate images of training.")


class PairSelection(Section):
    """The score that chooses the epoch in validation; `scoring` is for testing."""

    fusion: FusionForm = Field(description="The pair's part of the score: its probability, or its logit.")
    weights: TwoWeights = Field(description="Weights of the pair as a whole and of p(state) p(object).")


class ThreePathTraining(AugmentedTraining):
    """The training of a three-path method."""

    selection: PairSelection = Field(description="The score with which validation chooses the epoch.")


class ThreePathScoring(Section):
    """The fusion of the paths into one score; other values apply to a trained model without training it again."""

    fusion: FusionForm = Field(
        description="The pair's part of its score: its probability, as in the papers, or its logit."
    )
    closed: TwoWeights = Field(
        description="In the closed world, the weights of the pair as a whole and of p(state) p(object)."
    )
    open: TwoWeights = Field(description="The same in the open world.")


class TrainedPairSettings(MethodSettings):
    """A method that is trained."""

    training_class: ClassVar[type[Section]] = PairTrainingSettings

    prompt: Template = Field(description="The text of a pair, where training begins.")


class ThreePathSettings(TrainedPairSettings):
    """Three paths from an image to a pair: as a whole, by its state, by its object."""

    training_class: ClassVar[type[Section]] = ThreePathTraining
    scoring_class: ClassVar[type[Section]] = ThreePathScoring

    prompts: Literal["soft", "fixed"] = Field(
        description="Contexts and words are learned, or stay those of the template and the names."
    )
    attribute_dropout: Share = Field(description="Dropout rate of the vectors of states and objects.")
    image_tower: ImageTower = Field(description="The tuned parts of the image tower.")
    adapter_bottleneck: Count = Field(description="Width within an adapter; the rank of LoRA.")
    adapter_dropout: Share = Field(description="Dropout rate in adapters.")
    disentangler_layers: Count = Field(description="Layers of each disentangler.")
    disentangler_dropout: Share = Field(description="Dropout rate in the disentanglers.")
    disentangler_end: End = Field(
        description="The last layer of a disentangler is like the others, or only a linear map."
    )
    disentangler_start: Start = Field(
        description="Its output replaces the image's embedding, or is added to it, or is added and begins at zero."
    )
    loss_weights: ThreeWeights = Field(description="Weights of the losses of pair, state and object.")

    @field_validator("disentangler_start")
    @classmethod
    def _can_leave_zero(cls, start: str, earlier: ValidationInfo) -> str:
        if start == "residual-zero" and earlier.data.get("disentangler_end") == "relu":
            raise ValueError("residual-zero needs disentangler_end: linear, as no gradient passes a ReLU at zero")
        return start


class ChanceSettings(MethodSettings):
    """Random scores: no settings."""


class ZeroShotSettings(MethodSettings):
    """Zero-shot CLIP."""

    prompt: Template = Field(description="The text of a pair.")


class CoopSettings(TrainedPairSettings):
    """CoOp: a learned context before fixed names."""


class CspSettings(TrainedPairSettings):
    """CSP: a learned vector for each state and each object."""

    dropout: Share = Field(description="Dropout rate of learned vectors.")


class GipcolTraining(PairTrainingSettings):
    """The training of GIPCOL, whose graph may have a rate and a decay of its own."""

    graph_lr: Positive | None = Field(default=None, description="Learning rate of the graph; null: that of the prompt.")
    graph_weight_decay: Weight | None = Field(
        default=None, description="Weight decay of the graph; null: that of the prompt."
    )


class GipcolSettings(TrainedPairSettings):
    """GIPCOL: words that pass through a graph."""

    training_class: ClassVar[type[Section]] = GipcolTraining

    hidden: Count = Field(description="Width of the first convolution.")
    graph_dropout: Share = Field(description="Dropout rate of each convolution's input.")
    dropout: Share = Field(description="Dropout rate of the graph's output.")


class DfspSettings(TrainedPairSettings):
    """DFSP: decomposed texts fused with images."""

    training_class = AugmentedTraining

    dropout: Share = Field(description="Dropout rate of learned vectors.")
    fusion: Literal["t2i", "i2t", "BiF"] = Field(
        description="`t2i`: images attend to texts; `i2t`: texts attend to images; `BiF`: both."
    )
    fusion_dropout: Share = Field(description="Dropout rate in the fusion.")
    share: Fraction = Field(description="Share of the fused vectors in the result, in both modalities.")
    primitive_weight: Weight = Field(description="Weight of the losses of states and objects.")
    prompt_weight: Weight = Field(description="Weight of the loss of pairs before fusion.")


class CsoSettings(ThreePathSettings):
    """C-S-O: three paths from an image to a pair, as a whole, by its state, by its object, and nothing else."""


class TroikaSettings(ThreePathSettings):
    """Troika: texts that attend to the last layer's tokens."""

    traction_layers: Count = Field(description="Number of successive cross-attentions.")
    heads: Count = Field(description="Heads of each cross-attention.")
    traction_dropout: Share = Field(description="Dropout rate in the cross-attentions.")
    traction: Positive = Field(description="Initial value of lambda.")
    token_norms: Literal["once", "each-path"] = Field(
        description="All paths see the same normalised tokens; or each normalises them again, as in the released code."
    )


class MsciSettings(ThreePathSettings):
    """MSCI: texts attend to low, then to high features."""

    aggregated: Count = Field(description="N = M, the number of first and of last blocks that are aggregated.")
    # of Table 4: ends is "without Agg a", mean "without Agg b"
    aggregation: Literal["learned", "ends", "mean"] = Field(
        description="As in the paper; or only the first and the last block; or the mean of each group."
    )
    # of Table 4: high is "without Ms a", low "without Ms b"
    stages: Literal["both", "low", "high"] = Field(description="The features that texts attend to.")
    # of Table 4: last is "without Df"
    fusion_of_stages: Literal["dynamic", "last"] = Field(description="As in Eq. 9, or without the first stage's share.")
    heads: Count = Field(description="Heads of the cross-attentions.")
    interaction_dropout: Share = Field(description="Dropout rate in aggregators and interactions.")
    pair_head: bool = Field(
        description="Also a disentangler for the pair's embedding, as in the text; the released code has none."
    )
    share: Positive = Field(description="Initial value of lambda 1 and lambda 2.")


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
