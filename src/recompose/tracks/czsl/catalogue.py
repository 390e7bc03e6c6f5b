"""The track's methods with their settings, and the forms of data sets that it reads, without importing either."""

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
    """How a method is trained."""

    lr: Positive = Field(description="Learning rate.")
    weight_decay: Weight = Field(description="Weight decay, coupled with the gradient as Adam has it.")
    batch_size: Count = Field(description="PairImages of a batch.")
    accumulate: Count = Field(description="Batches whose gradients make one step.")
    epochs: Count = Field(description="Passes over the images of training.")
    precision: Precision | None = Field(
        default=None, description="Number format of its training, as Lightning calls it; null: the trainer's."
    )


class AugmentedTraining(PairTrainingSettings):
    """How a method is trained that may see images anew in each epoch."""

    halve_every: Count = Field(description="Epochs after which the learning rate is halved.")
    augment: bool = Field(description="Flip, tilt and rotate images of training.")


FusionForm = Literal["probabilities", "logits"]


class PairSelection(Section):
    """The score with which validation chooses the epoch; `scoring` is for testing."""

    fusion: FusionForm = Field(
        description="What of a pair as a whole goes into the score: its probability, or its logit."
    )
    weights: TwoWeights = Field(description="Of the pair as a whole and of p(state) p(object).")


class DuplexSelection(PairSelection):
    """The score with which Duplex' validation chooses the epoch."""

    weights: ThreeWeights = Field(description="Of p(c t), p(c h) and p(s) p(o).")


class ThreePathTraining(AugmentedTraining):
    """How a method of three paths is trained."""

    selection: PairSelection = Field(description="The score with which validation chooses the epoch.")


class DuplexTraining(ThreePathTraining):
    """How Duplex is trained."""

    selection: DuplexSelection = Field(description="The score with which validation chooses the epoch.")


class ThreePathScoring(Section):
    """How the paths make one score; a trained model is tested with other values without being trained again."""

    fusion: FusionForm = Field(
        description="What of a pair as a whole goes into its score: its probability, as the papers say, or its logit."
    )
    closed: TwoWeights = Field(
        description="In the closed world, the weights of the pair as a whole and of p(state) p(object)."
    )
    open: TwoWeights = Field(description="The same in the open world.")


class DuplexScoring(ThreePathScoring):
    """How Duplex' paths make one score (Eq. 21)."""

    closed: ThreeWeights = Field(description="In the closed world, the weights of p(c t), p(c h) and p(s) p(o).")
    open: ThreeWeights = Field(description="The same in the open world.")


class ChanceSettings(Section):
    """Scores drawn at random: no settings."""


class ZeroShotSettings(Section):
    """Zero-shot CLIP."""

    prompt: Template = Field(description="The text of a pair.")


class TrainedPairSettings(Section):
    """A method that is trained."""

    prompt: Template = Field(description="The text of a pair, at which training begins.")
    training: PairTrainingSettings = Field(description="How it is trained.")
    per_dataset: dict[Name, dict[str, Any]] = Field(
        default={},
        description="Data set -> settings that differ there; mappings merge, lists and other values replace.",
    )


class CoopSettings(TrainedPairSettings):
    """CoOp: learns the context before fixed names."""


class CspSettings(TrainedPairSettings):
    """CSP: also drops elements of what it learns."""

    dropout: Share = Field(description="Of the elements of learned vectors.")


class GipcolSettings(TrainedPairSettings):
    """GIPCOL: words go through a graph."""

    hidden: Count = Field(description="Width of the first convolution.")
    graph_dropout: Share = Field(description="Of the elements of what goes into each convolution.")
    dropout: Share = Field(description="Of the elements of the vectors that come out.")


class DfspSettings(TrainedPairSettings):
    """DFSP: decomposed texts and images are fused."""

    dropout: Share = Field(description="Of the elements of learned vectors.")
    fusion: Literal["t2i", "i2t", "BiF"] = Field(
        description="`t2i`: images look at texts; `i2t`: texts look at images; `BiF`: both."
    )
    fusion_dropout: Share = Field(description="In the fusion.")
    share: Fraction = Field(description="Of what is fused, in both modalities.")
    primitive_weight: Weight = Field(description="Of the losses of states and objects.")
    prompt_weight: Weight = Field(description="Of the loss of pairs before fusion.")
    training: AugmentedTraining = Field(description="How it is trained.")


class ThreePathSettings(TrainedPairSettings):
    """Three paths from an image to a pair: as a whole, by its state, by its object."""

    prompts: Literal["soft", "fixed"] = Field(
        description="Contexts and words are learned, or stay the template and the names."
    )
    attribute_dropout: Share = Field(description="Of the elements of the vectors of states and objects.")
    image_tower: Literal["adapters", "lora", "frozen"] = Field(description="What is tuned in it.")
    adapter_bottleneck: Count = Field(description="Width within an adapter; of LoRA the rank.")
    adapter_dropout: Share = Field(description="In adapters or LoRA.")
    disentangler_layers: Count = Field(description="Of what tells state and object apart.")
    disentangler_dropout: Share = Field(description="In the disentanglers.")
    disentangler_end: Literal["relu", "linear"] = Field(
        description="The last of their layers is like the others, or a linear map alone."
    )
    disentangler_start: Literal["random", "residual", "residual-zero"] = Field(
        description="What they tell replaces the image's embedding, or is added to it, or is added and begins at zero."
    )
    loss_weights: ThreeWeights = Field(description="Of the losses of pair, state and object.")
    training: ThreePathTraining = Field(description="How it is trained.")
    scoring: ThreePathScoring = Field(description="How the paths make one score.")

    @field_validator("disentangler_start")
    @classmethod
    def _can_leave_zero(cls, start: str, others: ValidationInfo) -> str:
        if start == "residual-zero" and others.data.get("disentangler_end") == "relu":
            raise ValueError("residual-zero needs disentangler_end: linear, for no gradient passes a ReLU at zero")
        return start


class TroikaSettings(ThreePathSettings):
    """Troika: texts look at the last layer's tokens."""

    traction_layers: Count = Field(description="Cross-attentions one after another.")
    heads: Count = Field(description="Of each cross-attention.")
    traction_dropout: Share = Field(description="In the cross-attentions.")
    traction: Positive = Field(description="What lambda begins as.")
    token_norms: Literal["once", "each-path"] = Field(
        description="The paths see the same normed tokens; or each path norms them once more, as in the released code."
    )


class MsciSettings(ThreePathSettings):
    """MSCI: texts look at low, then at high features."""

    aggregated: Count = Field(description="N = M, the number of first and of last blocks that are aggregated.")
    aggregation: Literal["learned", "ends", "mean"] = Field(
        description="As in the paper; or the first and the last block alone; or the mean of each group."
    )
    stages: Literal["both", "low", "high"] = Field(description="Which features texts look at.")
    fusion_of_stages: Literal["dynamic", "last"] = Field(description="As in Eq. 9, or without the first stage's share.")
    heads: Count = Field(description="Of the cross-attentions.")
    interaction_dropout: Share = Field(description="In aggregators and interactions.")
    pair_head: bool = Field(
        description="A disentangler for the pair's embedding, too, as the text says; the released code has none."
    )
    share: Positive = Field(description="What lambda 1 and lambda 2 begin as.")


class DuplexSettings(ThreePathSettings):
    """Duplex: a codebook of visual prototypes, refined on graphs of mini-batches."""

    loss_weights: FourWeights = Field(description="Of the losses of pair, state, object and prototype.")
    training: DuplexTraining = Field(description="How it is trained.")
    scoring: DuplexScoring = Field(description="How the paths make one score.")
    target: Literal["closed", "open"] = Field(
        description="The world whose pairs graphs may refine, and whose prototypes compete in training."
    )
    text_target: Literal["seen", "target"] = Field(
        description="Texts of pairs compete in training over the pairs that it shows, or over the target's."
    )
    initial: Literal["means", "random"] = Field(
        description="Where prototypes begin: at the means of CLIP's embeddings, or at random."
    )
    unseen_start: Literal["sum", "centred", "least-squares"] = Field(
        description=(
            "Where prototypes of unseen pairs begin among means: at the sum of their state's and object's mean; "
            "the same with the grand mean taken off; "
            "or at what an additive model says that was fitted to the seen pairs' means by least squares."
        )
    )
    codebook: Literal["buffer", "trained"] = Field(
        description="Prototypes are written to alone, or the optimiser moves them, too."
    )
    refinement: Literal["graph", "counterfactual", "none"] = Field(
        description="A batch refines prototypes by its local graph, by composed features of state and object "
        "alone, or not at all."
    )
    momentum: Fraction = Field(description="lambda of Eq. 17; at 1 prototypes stay where they begin.")
    edges: Literal["posteriors", "labels"] = Field(description="What joins states and objects in the graph.")
    writes_from: Literal["training", "evaluation"] = Field(
        description="Prototypes are written from features as training has them, or as evaluation does: nothing "
        "dropped, running statistics."
    )
    differentiable: bool = Field(description="The loss of prototypes reaches what refined them.")


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
    """Images of a drawn data set, per split; every pair of a split is shown at least once."""

    train: Annotated[int, Field(ge=83)] = Field(description="Of training, by a long tail over the pairs.")
    val: Annotated[int, Field(ge=79)] = Field(description="Of validation, the same number of each pair.")
    test: Annotated[int, Field(ge=113)] = Field(description="Of test, the same number of each pair.")


class ShapesPairs(Section):
    """A drawn data set of state-object pairs."""

    adapter: Literal["shapes-pairs"] = Field(description="What draws and reads it.")
    seed: Seed = Field(description="Of the drawing of world 0; a run's seed is the number of its world, and is added.")
    images: PairImages = Field(description="How many are drawn.")


class PublishedPairs(Section):
    """A public data set, unpacked from archives."""

    adapter: Literal["mit-states", "ut-zappos", "cgqa"] = Field(
        description="What reads it: the data set whose form it has."
    )
    archives: list[Archive] = Field(
        min_length=1,
        description="The files that it is unpacked from; none is downloaded where the data set is in `data/` already.",
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
