"""The sections of params.yaml that no track owns, with their base class and the kinds of values.

The description of a field is the only explanation of a parameter.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator

from recompose.arithmetic import PORTABLE, Arithmetic
from recompose.params.mistakes import Keyed

Count = Annotated[int, Field(gt=0)]
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, lt=1)]
Weight = Annotated[float, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, lt=100_000)]
Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
# a name of the user's own; without dots, which separate the keys of a dotted path
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]


def _distinct(items: list[Any]) -> list[Any]:
    repeated = sorted({str(item) for item in items if items.count(item) > 1})
    if repeated:
        raise ValueError(f"the items must be distinct; repeated: {', '.join(repeated)}")
    return items


Distinct = AfterValidator(_distinct)


class Section(Keyed):
    """A part of params.yaml: unknown keys are errors, and values are not converted from other types."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class Names(Section):
    """A section whose keys are names, with underscores for hyphens in its fields."""

    def of(self, name: str) -> Any:
        """Return the entry of this name."""
        return getattr(self, name.replace("-", "_"))

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all entries."""
        return [field.alias or name for name, field in cls.model_fields.items()]


Precision = Literal["32-true", "16-mixed", "bf16-mixed"]
TrainingPrecision = Annotated[
    Precision | None,
    Field(description="Number format of its training, as Lightning calls it; null: the trainer's."),
]


class Trainer(Section):
    """The hardware settings of training."""

    precision: Precision = Field(
        description="Number format of training, by Lightning's name, unless a method's own training names one; "
        "validation and test always use 32 bits."
    )
    threads: Count = Field(
        description="Threads of one process on CPU; fixed, so that sums do not depend on the machine's number of cores."
    )
    accelerator: Literal["auto", "cpu", "gpu"] = Field(
        description="Hardware for training; `auto` uses a GPU if there is one."
    )
    devices: Literal["auto"] | Count = Field(description="GPUs or processes of one run, which share the batch size.")
    arithmetic: Arithmetic = Field(
        default=PORTABLE,
        description="Arithmetic of torch on CPU: `portable` gives the same bytes on every x86-64 processor with AVX2, "
        "`native` is the fastest of this one.",
    )


class Archive(Section):
    """A published file."""

    file: FileName = Field(description="Name of the downloaded file.")
    urls: list[str] = Field(
        min_length=1,
        description="Addresses, in the order in which they are tried; those of huggingface.co by huggingface_hub.",
    )
    sha256: Digest | None = Field(
        description="Digest of the file; null if upstream publishes none: archives.lock then records the digest of the "
        "first download."
    )


class PublishedWeights(Archive):
    """Published weights; formats other than safetensors may hold code, so their digest is required."""

    urls: list[str] = Field(default=[], description="Addresses that are tried before those of the tag.")
    tag: str | None = Field(
        default=None,
        description="Tag of open_clip for this architecture, which knows the addresses. OpenAI's weights are at two, "
        "as different files: a `.safetensors` at the hub, and a `.pt`.",
    )

    @model_validator(mode="after")
    def _require_source_and_digest(self) -> "PublishedWeights":
        if not self.urls and self.tag is None:
            raise ValueError(f"{self.file} has no source: give urls, or the tag of open_clip")
        if self.sha256 is None and not self.file.endswith(".safetensors"):
            raise ValueError(f"{self.file} may hold code: its sha256 is required")
        return self


class NamedWeights(Archive):
    """Published weights whose file is named after their digest, as torchvision's are."""

    file: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+-[0-9a-f]{8}\.pth$")] = Field(
        description="Name of the downloaded file, which ends in the first eight digits of its SHA-256."
    )


class Clip(Section):
    """The architecture of a CLIP."""

    architecture: FileName = Field(description="An architecture of this project or of open_clip.")
    activation: Literal["gelu", "quick_gelu"] = Field(
        description="The GELU of the blocks; OpenAI's weights were trained with `quick_gelu`."
    )


class Pretrained(Clip):
    """A small CLIP that the workflow pretrains on synthetic scenes."""

    corpus: Literal["shapes-scenes", "shapes-sentences"] = Field(
        default="shapes-scenes",
        description="Synthetic scenes for pretraining: `shapes-scenes`, mostly of one object; `shapes-sentences`, of "
        "several objects in relations.",
    )
    seed: Seed = Field(description="Seed of the synthetic scenes and of pretraining.")
    scenes: Count = Field(description="Number of synthetic scenes for pretraining.")
    epochs: Count = Field(description="Passes over the scenes.")
    batch_size: Count = Field(description="Scenes in a batch, which are contrasted with each other.")
    lr: Positive = Field(description="Peak learning rate.")
    weight_decay: Weight = Field(description="Weight decay of the optimizer.")
    threads: Count = Field(description="Threads on CPU; pretraining is one process, which others wait for.")


class Released(Clip):
    """A CLIP with published weights."""

    weights: PublishedWeights = Field(
        description="The file of the weights. Images are normalised as for OpenAI's, whatever the weights."
    )


class Asset(Section):
    """A file that is released with the project."""

    file: FileName = Field(description="Name of the file in assets/.")
    sha256: Digest = Field(description="Digest of the file.")


class Bundled(Clip):
    """A small CLIP whose weights are released with the project, see assets/README.md."""

    asset: Asset = Field(description="The file of the weights.")


class Classifier(Section):
    """A network of torchvision with published weights for classification."""

    architecture: FileName = Field(description="Name of the network in torchvision.")
    weights: NamedWeights = Field(description="The file of the weights.")


Backbone = Pretrained | Released | Bundled | Classifier


class GivenGrids(Section):
    """Ready-made grids of regions of a data set's images."""

    file: FileName = Field(
        description="HDF5 file in data/archives with a `feature_map` [images, channels, height, width] of the "
        "data set's images in their order."
    )
    sha256: Digest | None = Field(
        default=None, description="Digest of the file; null: archives.lock records the digest at the first use."
    )
