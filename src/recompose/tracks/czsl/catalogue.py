"""The track's methods with their settings, and its data sets, without importing either."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationInfo, field_validator

from recompose.params.sections import Archive, Count, Name, Positive, Precision, Section, Seed, Share, Weight
from recompose.tracks.catalogue import DataAdapter, Method

Template = Annotated[str, StringConstraints(pattern=r"^[^{}]*\{state\} \{object\}$")]
Fraction = Annotated[float, Field(ge=0, le=1)]
TwoWeights = Annotated[list[Weight], Field(min_length=2, max_length=2)]
ThreeWeights = Annotated[list[Weight], Field(min_length=3, max_length=3)]
FourWeights = Annotated[list[Weight], Field(min_length=4, max_length=4)]


class PairTrainingSettings(Section):
    """The training of a method."""

    lr: Positive = Field(description="Learning rate.")
    weight_decay: Weight = Field(description="Weight decay, coupled with the gradient as Adam has it.")
    batch_size: Count = Field(description="PairImages of a batch.")
    accumulate: Count = Field(description="Batches whose gradients make one step.")
    epochs: Count = Field(description="Passes over the images of training.")
    precision: Precision | None = Field(
        default=None, description="Number format of its training, as Lightning calls it; null: the trainer's."
    )


class AugmentedTraining(PairTrainingSettings):
    """The training of a method that may augment images in each epoch."""

    halve_every: Count = Field(description="Epochs after which the learning rate is halved.")
    augment: bool = Field(description="Flip, tilt and rotate images of training.")


FusionForm = Literal["probabilities", "logits"]


class PairSelection(Section):
    """The score that chooses the epoch in validation; `scoring` is for testing."""

    fusion: FusionForm = Field(description="The pair's part of the score: its probability, or its logit.")
    weights: TwoWeights = Field(description="Weights of the pair as a whole and of p(state) p(object).")


class DuplexSelection(PairSelection):
    """The score that chooses the epoch in Duplex' validation."""

    weights: ThreeWeights = Field(description="Weights of p(c t), p(c h) and p(s) p(o).")


class ThreePathTraining(AugmentedTraining):
    """The training of a three-path method."""

    selection: PairSelection = Field(description="The score with which validation chooses the epoch.")


class DuplexTraining(ThreePathTraining):
    """The training of Duplex."""

    selection: DuplexSelection = Field(description="The score with which validation chooses the epoch.")


class ThreePathScoring(Section):
    """The fusion of the paths into one score; other values apply to a trained model without training it again."""

    fusion: FusionForm = Field(
        description="The pair's part of its score: its probability, as in the papers, or its logit."
    )
    closed: TwoWeights = Field(
        description="In the closed world, the weights of the pair as a whole and of p(state) p(object)."
    )
    open: TwoWeights = Field(description="The same in the open world.")


class DuplexScoring(ThreePathScoring):
    """The fusion of Duplex' paths into one score (Eq. 21)."""

    closed: ThreeWeights = Field(description="In the closed world, the weights of p(c t), p(c h) and p(s) p(o).")
    open: ThreeWeights = Field(description="The same in the open world.")


class ChanceSettings(Section):
    """Random scores: no settings."""


class ZeroShotSettings(Section):
    """Zero-shot CLIP."""

    prompt: Template = Field(description="The text of a pair.")


class TrainedPairSettings(Section):
    """A method that is trained."""

    prompt: Template = Field(description="The text of a pair, where training begins.")
    training: PairTrainingSettings = Field(description="Its training.")
    per_dataset: dict[Name, dict[str, Any]] = Field(
        default={},
        description="Data set -> settings that differ there; mappings merge, lists and other values replace.",
    )


class CoopSettings(TrainedPairSettings):
    """CoOp: a learned context before fixed names."""


class CspSettings(TrainedPairSettings):
    """CSP: a learned vector for each state and each object."""

    dropout: Share = Field(description="Dropout rate of learned vectors.")


class GipcolSettings(TrainedPairSettings):
    """GIPCOL: words that pass through a graph."""

    hidden: Count = Field(description="Width of the first convolution.")
    graph_dropout: Share = Field(description="Dropout rate of each convolution's input.")
    dropout: Share = Field(description="Dropout rate of the graph's output.")


class DfspSettings(TrainedPairSettings):
    """DFSP: decomposed texts fused with images."""

    dropout: Share = Field(description="Dropout rate of learned vectors.")
    fusion: Literal["t2i", "i2t", "BiF"] = Field(
        description="`t2i`: images attend to texts; `i2t`: texts attend to images; `BiF`: both."
    )
    fusion_dropout: Share = Field(description="Dropout rate in the fusion.")
    share: Fraction = Field(description="Share of the fused vectors in the result, in both modalities.")
    primitive_weight: Weight = Field(description="Weight of the losses of states and objects.")
    prompt_weight: Weight = Field(description="Weight of the loss of pairs before fusion.")
    training: AugmentedTraining = Field(description="Its training.")


class ThreePathSettings(TrainedPairSettings):
    """Three paths from an image to a pair: as a whole, by its state, by its object."""

    prompts: Literal["soft", "fixed"] = Field(
        description="Contexts and words are learned, or stay those of the template and the names."
    )
    attribute_dropout: Share = Field(description="Dropout rate of the vectors of states and objects.")
    image_tower: Literal["adapters", "lora", "frozen"] = Field(description="The tuned parts of the image tower.")
    adapter_bottleneck: Count = Field(description="Width within an adapter; the rank of LoRA.")
    adapter_dropout: Share = Field(description="Dropout rate in adapters.")
    disentangler_layers: Count = Field(description="Layers of each disentangler.")
    disentangler_dropout: Share = Field(description="Dropout rate in the disentanglers.")
    disentangler_end: Literal["relu", "linear"] = Field(
        description="The last layer of a disentangler is like the others, or only a linear map."
    )
    disentangler_start: Literal["random", "residual", "residual-zero"] = Field(
        description="Its output replaces the image's embedding, or is added to it, or is added and begins at zero."
    )
    loss_weights: ThreeWeights = Field(description="Weights of the losses of pair, state and object.")
    training: ThreePathTraining = Field(description="Its training.")
    scoring: ThreePathScoring = Field(description="The fusion of the paths into one score.")

    @field_validator("disentangler_start")
    @classmethod
    def _can_leave_zero(cls, start: str, earlier: ValidationInfo) -> str:
        if start == "residual-zero" and earlier.data.get("disentangler_end") == "relu":
            raise ValueError("residual-zero needs disentangler_end: linear, as no gradient passes a ReLU at zero")
        return start


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
    """MSCI: texts that attend to low, then to high features."""

    aggregated: Count = Field(description="N = M, the number of first and of last blocks that are aggregated.")
    aggregation: Literal["learned", "ends", "mean"] = Field(
        description="As in the paper; or only the first and the last block; or the mean of each group."
    )
    stages: Literal["both", "low", "high"] = Field(description="The features that texts attend to.")
    fusion_of_stages: Literal["dynamic", "last"] = Field(description="As in Eq. 9, or without the first stage's share.")
    heads: Count = Field(description="Heads of the cross-attentions.")
    interaction_dropout: Share = Field(description="Dropout rate in aggregators and interactions.")
    pair_head: bool = Field(
        description="Also a disentangler for the pair's embedding, as in the text; the released code has none."
    )
    share: Positive = Field(description="Initial value of lambda 1 and lambda 2.")


class DuplexSettings(ThreePathSettings):
    """Duplex: a codebook of visual prototypes, refined on graphs of mini-batches."""

    loss_weights: FourWeights = Field(description="Weights of the losses of pair, state, object and prototype.")
    training: DuplexTraining = Field(description="Its training.")
    scoring: DuplexScoring = Field(description="The fusion of the paths into one score.")
    target: Literal["closed", "open"] = Field(
        description="The world whose pairs the graphs may refine and whose prototypes compete in training."
    )
    text_target: Literal["seen", "target"] = Field(
        description="Texts of pairs compete in training over its own pairs, or over the target's."
    )
    initial: Literal["means", "random"] = Field(
        description="Where prototypes begin: at the means of CLIP's embeddings, or at random."
    )
    unseen_start: Literal["sum", "centred", "least-squares"] = Field(
        description=(
            "Where prototypes of unseen pairs begin among means: at the sum of their state's and object's mean; "
            "the same with the grand mean taken off; "
            "or at the prediction of an additive model, fitted to the seen pairs' means by least squares."
        )
    )
    codebook: Literal["buffer", "trained"] = Field(
        description="Prototypes change only by refinement, or also by the optimiser."
    )
    refinement: Literal["graph", "counterfactual", "none"] = Field(
        description="A batch refines prototypes by its local graph, only by composed features of state and "
        "object, or not at all."
    )
    momentum: Fraction = Field(description="lambda of Eq. 17; at 1 prototypes do not change.")
    edges: Literal["posteriors", "labels"] = Field(
        description="The source of the graph's edges between states and objects."
    )
    writes_from: Literal["training", "evaluation"] = Field(
        description="Refinement uses features as in training, or as in evaluation: no dropout, running statistics."
    )
    differentiable: bool = Field(description="The gradient of the prototypes' loss passes through their refinement.")


_IN = "recompose.tracks.czsl.methods"
METHODS = {
    "chance": Method(f"{_IN}.chance:Chance", ChanceSettings, needs_backbone=False),
    "clip": Method(f"{_IN}.clip:CLIP", ZeroShotSettings, needs_seed=False),
    "coop": Method(f"{_IN}.coop:CoOp", CoopSettings),
    "csp": Method(f"{_IN}.csp:CSP", CspSettings),
    "gipcol": Method(f"{_IN}.gipcol:GIPCOL", GipcolSettings),
    "dfsp": Method(f"{_IN}.dfsp:DFSP", DfspSettings),
    "c-s-o": Method(f"{_IN}.c_s_o:CSO", ThreePathSettings),
    "troika": Method(f"{_IN}.troika:Troika", TroikaSettings),
    "msci": Method(f"{_IN}.msci:MSCI", MsciSettings),
    "duplex": Method(f"{_IN}.duplex:Duplex", DuplexSettings),
}


class PairImages(Section):
    """The number of images of a synthetic data set, per split; every pair of a split is shown at least once."""

    train: Annotated[int, Field(ge=83)] = Field(description="Training images, by a long tail over the pairs.")
    val: Annotated[int, Field(ge=79)] = Field(description="Validation images, the same number of each pair.")
    test: Annotated[int, Field(ge=113)] = Field(description="Test images, the same number of each pair.")


class ShapesPairs(Section):
    """A synthetic data set of state-object pairs."""

    adapter: Literal["shapes-pairs"] = Field(description="The generator and reader.")
    seed: Seed = Field(description="Seed of replicate 0; a run's seed is the number of its replicate, and is added.")
    images: PairImages = Field(description="Number of images.")


class PublishedPairs(Section):
    """A published data set, unpacked from archives."""

    adapter: Literal["mit-states", "ut-zappos", "cgqa"] = Field(
        description="The reader: the data set whose format it has."
    )
    archives: list[Archive] = Field(
        min_length=1,
        description="The archives that it is unpacked from; none is downloaded if the data set is already in `data/`.",
    )


DataSet = Annotated[ShapesPairs | PublishedPairs, Field(discriminator="adapter")]


ADAPTERS = {
    "shapes-pairs": DataAdapter("recompose.tracks.czsl.data.shapes_pairs", ShapesPairs, synthetic=True),
    "mit-states": DataAdapter(
        "recompose.tracks.czsl.data.mit_states", PublishedPairs, sizes={"train": 30338, "val": 10420, "test": 12995}
    ),
    "ut-zappos": DataAdapter(
        "recompose.tracks.czsl.data.ut_zappos", PublishedPairs, sizes={"train": 22998, "val": 3214, "test": 2914}
    ),
    "cgqa": DataAdapter(
        "recompose.tracks.czsl.data.cgqa", PublishedPairs, sizes={"train": 26920, "val": 7280, "test": 5098}
    ),
}
