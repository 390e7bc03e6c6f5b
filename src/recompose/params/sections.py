"""What params.yaml is made of: the base of all sections, kinds of values, and the sections that no track owns.

The description of a field is the one place where a knob is explained.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

Count = Annotated[int, Field(gt=0)]
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, lt=1)]
Weight = Annotated[float, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, lt=100_000)]
Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
# what users call their own things; without dots, which separate the keys of a dotted path
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]


def _distinct(items: list[Any]) -> list[Any]:
    repeated = sorted({str(item) for item in items if items.count(item) > 1})
    if repeated:
        raise ValueError(f"each may stand there once, but {', '.join(repeated)} does not")
    return items


Distinct = AfterValidator(_distinct)


class Section(BaseModel):
    """A part of params.yaml: unknown keys are errors, and nothing is converted from another type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _hyphens(field: str) -> str:
    return field.replace("_", "-")


class Names(Section):
    """A section whose keys are names of things: spelled with hyphens."""

    model_config = ConfigDict(alias_generator=_hyphens)

    def of(self, name: str) -> Any:
        """The entry called ``name``."""
        return getattr(self, name.replace("-", "_"))


Precision = Literal["32-true", "16-mixed", "bf16-mixed"]


class Trainer(Section):
    """How training runs on the hardware at hand."""

    precision: Precision = Field(
        description="Number format of training, as Lightning calls it, where a method's own training names none; "
        "validation and test are always in 32 bits."
    )
    threads: Count = Field(
        description="Of one process on CPU; fixed, so that sums do not depend on the machine's number of cores."
    )
    accelerator: Literal["auto", "cpu", "gpu"] = Field(
        description="What to train on; `auto` takes a GPU where there is one."
    )
    devices: Literal["auto"] | Count = Field(
        description="GPUs or processes of one run; a batch size is shared between them."
    )
    linear: Literal["auto", "torch", "onednn"] = Field(
        default="auto",
        description="What computes linear maps on CPU: `torch` its own kernel, `onednn` a 1 x 1 convolution for all "
        "large ones, `auto` oneDNN for those that gain clearly by it on this processor, as a probe measured once. "
        "Results differ by rounding; what was taken is recorded and no part of any identity.",
    )


class Archive(Section):
    """A file that upstream publishes."""

    file: FileName = Field(description="Its name among the downloaded files.")
    urls: list[str] = Field(min_length=1, description="Mirrors, in the order in which they are tried.")
    sha256: Digest | None = Field(
        description="Digest of the file; null where upstream publishes none: archives.lock then holds the file to what "
        "it was at first."
    )


class Weights(Archive):
    """Published weights: those that are no safetensors are code, so their digest is required."""

    @model_validator(mode="after")
    def _known(self) -> "Weights":
        if self.sha256 is None and not self.file.endswith(".safetensors"):
            raise ValueError(f"{self.file} may hold code: its sha256 is required")
        return self


class NamedWeights(Archive):
    """Published weights whose file is named after their digest, as torchvision's are."""

    file: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+-[0-9a-f]{8}\.pth$")] = Field(
        description="Its name among the downloaded files, which ends in the first eight digits of its SHA-256."
    )


class Clip(Section):
    """What all CLIPs have."""

    architecture: FileName = Field(description="One of ours, or of those that open_clip declares.")
    activation: Literal["gelu", "quick_gelu"] = Field(
        description="Which GELU its blocks take; OpenAI's weights were trained with `quick_gelu`."
    )


class Pretrained(Clip):
    """A small CLIP that the workflow pretrains on drawn scenes."""

    corpus: Literal["shapes-scenes", "shapes-sentences"] = Field(
        default="shapes-scenes",
        description="Drawn scenes to pretrain on: `shapes-scenes`, of one object mostly; `shapes-sentences`, of "
        "several in relations.",
    )
    seed: Seed = Field(description="Of the drawn scenes and of pretraining.")
    scenes: Count = Field(description="Drawn scenes to pretrain on.")
    epochs: Count = Field(description="Passes over the scenes.")
    batch_size: Count = Field(description="Scenes that are contrasted with each other.")
    lr: Positive = Field(description="Learning rate at its highest.")
    weight_decay: Weight = Field(description="Weight decay of the optimizer.")
    threads: Count = Field(description="On CPU: this is one process that others wait for.")


class Released(Clip):
    """A CLIP whose weights somebody published."""

    weights: Weights = Field(description="The file of the weights.")


class Asset(Section):
    """A file that is released with the project."""

    file: FileName = Field(description="Its name in assets/.")
    sha256: Digest = Field(description="Digest of the file.")


class Bundled(Clip):
    """A small CLIP whose weights are released with the project, in assets/, where it also says how they were made."""

    asset: Asset = Field(description="The file of the weights.")


class Classifier(Section):
    """A network of torchvision that others trained to tell classes of images."""

    architecture: FileName = Field(description="The network, by torchvision's name.")
    weights: NamedWeights = Field(description="The file of the weights, as torchvision publishes it.")


Backbone = Pretrained | Released | Bundled | Classifier


class GivenGrids(Section):
    """Grids of regions that somebody has made of a data set's images."""

    file: FileName = Field(
        description="An HDF5 file in data/archives whose `feature_map` [images, channels, height, width] has the data "
        "set's images in their order."
    )
    sha256: Digest | None = Field(
        default=None, description="Digest of the file; null: archives.lock holds the file to what it was at first."
    )
