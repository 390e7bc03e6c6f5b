"""The schema of params.yaml: every knob, its meaning and what it may be.

``load_params`` gives the parameters of the chosen profile or one error that names file, key path, what is allowed
there and the nearest right name.
"""

import copy
import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

DatasetName = Literal["shapes-pairs", "mit-states", "ut-zappos", "cgqa"]
BackboneName = Literal["shapes-clip", "shapes-resnet", "clip-rn50", "clip-vit-b-32", "clip-vit-l-14"]
MethodName = Literal["chance", "clip", "coop", "csp", "gipcol", "dfsp", "c-s-o", "troika", "msci", "duplex"]
Precision = Literal["32-true", "16-mixed", "bf16-mixed"]
Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
NamePrompt = Annotated[str, StringConstraints(pattern=r"^[^{}]*\{name\}$")]
Template = Annotated[str, StringConstraints(pattern=r"^[^{}]*\{state\} \{object\}$")]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(gt=0)]
Share = Annotated[float, Field(ge=0, lt=1)]
Weight = Annotated[float, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, lt=100_000)]


def _distinct(items: list[Any]) -> list[Any]:
    repeated = sorted({str(item) for item in items if items.count(item) > 1})
    if repeated:
        raise ValueError(f"each may stand there once, but {', '.join(repeated)} does not")
    return items


Distinct = AfterValidator(_distinct)


def _spelling(field: str) -> str:
    return field.replace("_", "-")


class Section(BaseModel):
    """A part of params.yaml: unknown keys are errors, and nothing is converted from another type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Names(Section):
    """A section whose keys are names of things: spelled with hyphens."""

    model_config = ConfigDict(alias_generator=_spelling)

    def of(self, name: str) -> Any:
        """The entry called ``name``."""
        return getattr(self, name.replace("-", "_"))


class Trainer(Section):
    """How training runs on the hardware at hand."""

    precision: Precision
    threads: Count  # of one process on CPU; fixed, so that sums do not depend on the machine's number of cores
    accelerator: Literal["auto", "cpu", "gpu"]
    devices: Literal["auto"] | Count  # GPUs or processes of one run; a batch size is shared between them


class Profile(Section):
    """What a workflow covers and how much it spends."""

    datasets: Annotated[list[DatasetName], Field(min_length=1), Distinct]
    backbone: BackboneName
    other_backbone: BackboneName | None  # for the tables that compare backbones
    methods: Annotated[list[MethodName], Field(min_length=1), Distinct]
    seeds: Annotated[list[Seed], Field(min_length=1), Distinct]
    variant_seeds: Annotated[list[Seed], Field(min_length=1), Distinct]  # of ablations and sweeps
    runs_per_process: Count
    trainer: Trainer
    override: dict[str, Any] = {}  # dotted key -> value, in place of the sections below

    @model_validator(mode="after")
    def _one_run_on_several_devices(self) -> "Profile":
        if self.runs_per_process > 1 and self.trainer.devices != 1:
            raise ValueError(
                "runs_per_process has to be 1 where a run may take several devices (trainer.devices is not 1)"
            )
        return self


class Profiles(Section):
    """The profiles to choose from."""

    demo: Profile
    smoke: Profile
    paper: Profile


class Images(Section):
    """Images of a drawn data set, per split."""

    train: Annotated[int, Field(ge=83)]  # every pair of a split is shown at least once
    val: Annotated[int, Field(ge=30)]
    test: Annotated[int, Field(ge=36)]


class ShapesPairs(Section):
    """The drawn data set of state-object pairs."""

    seed: Seed
    images: Images


class Archive(Section):
    """A file that upstream publishes."""

    file: FileName
    urls: list[str] = Field(min_length=1)  # mirrors, in the order in which they are tried
    sha256: Digest | None  # null where upstream publishes none


class Weights(Archive):
    """Published weights: they are code, so their digest is required."""

    sha256: Digest


class Downloaded(Section):
    """A public data set: the archives it is unpacked from."""

    archives: list[Archive]


class Datasets(Names):
    """The data sets."""

    shapes_pairs: ShapesPairs
    mit_states: Downloaded
    ut_zappos: Downloaded
    cgqa: Downloaded


class Pretrained(Section):
    """A small CLIP that the workflow pretrains on drawn scenes."""

    architecture: FileName
    activation: Literal["gelu", "quick_gelu"]
    seed: Seed
    scenes: Count
    epochs: Count
    batch_size: Count
    lr: Positive
    weight_decay: Annotated[float, Field(ge=0)]
    threads: Count  # on CPU: this is one process that others wait for


class Released(Section):
    """A CLIP whose weights somebody published."""

    architecture: FileName
    activation: Literal["gelu", "quick_gelu"]
    weights: Weights


class Backbones(Names):
    """The backbones."""

    shapes_clip: Pretrained
    shapes_resnet: Pretrained
    clip_rn50: Released
    clip_vit_b_32: Released
    clip_vit_l_14: Released


class Chance(Section):
    """Scores drawn at random: no settings."""


class Clip(Section):
    """Zero-shot CLIP."""

    prompt: Template


class Trained(Section):
    """A method that is trained."""

    prompt: Template
    lr: Positive
    weight_decay: Annotated[float, Field(ge=0)]
    batch_size: Count
    accumulate: Count  # batches whose gradients make one step
    epochs: Count
    per_dataset: dict[DatasetName, dict[str, Any]] = {}  # settings that differ there


class Csp(Trained):
    """CSP: also drops elements of what it learns."""

    dropout: Share


class Gipcol(Trained):
    """GIPCOL: words go through a graph."""

    hidden: Count  # width of the first convolution
    graph_dropout: Share
    dropout: Share


class Augmented(Trained):
    """A method that sees images anew in each epoch."""

    augment: bool  # flip, tilt and rotate images of training
    halve_every: Count  # epochs after which the learning rate is halved


class Dfsp(Augmented):
    """DFSP: decomposed texts and images are fused."""

    dropout: Share
    fusion: Literal["t2i", "i2t", "BiF"]
    fusion_dropout: Share
    share: Annotated[float, Field(ge=0, le=1)]  # of what is fused
    primitive_weight: Weight
    prompt_weight: Weight


class ThreePath(Augmented):
    """Three paths from an image to a pair: as a whole, by its state, by its object."""

    prompts: Literal["soft", "fixed"]
    attribute_dropout: Share  # of the vectors of states and objects
    image_tower: Literal["adapters", "lora", "frozen"]
    adapter_bottleneck: Count  # of LoRA the rank
    adapter_dropout: Share
    disentangler_layers: Count
    disentangler_dropout: Share
    loss_weights: Annotated[list[Weight], Field(min_length=3, max_length=3)]  # of pair, state and object
    fusion: Literal["probabilities", "logits"]  # what of a pair as a whole goes into its score
    closed: Annotated[
        list[Weight], Field(min_length=2, max_length=2)
    ]  # its weight there, and that of p(state) p(object)
    open: Annotated[list[Weight], Field(min_length=2, max_length=2)]  # the same in the open world


class Troika(ThreePath):
    """Troika: texts look at the last layer's tokens."""

    traction_layers: Count
    heads: Count
    traction_dropout: Share
    traction: Positive  # what lambda begins as


class Msci(ThreePath):
    """MSCI: texts look at low, then at high features."""

    aggregated: Count  # N = M, first and last blocks
    aggregation: Literal["learned", "ends", "mean"]
    stages: Literal["both", "low", "high"]
    fusion_of_stages: Literal["dynamic", "last"]
    heads: Count
    interaction_dropout: Share
    pair_head: bool
    share: Positive  # what lambda 1 and lambda 2 begin as


class Duplex(ThreePath):
    """Duplex: a codebook of visual prototypes, refined on graphs of mini-batches."""

    loss_weights: Annotated[list[Weight], Field(min_length=4, max_length=4)]  # of pair, state, object and prototype
    closed: Annotated[list[Weight], Field(min_length=3, max_length=3)]  # of p(c t), p(c h) and p(s) p(o)
    open: Annotated[list[Weight], Field(min_length=3, max_length=3)]
    target: Literal["closed", "open"]  # which pairs compete in training
    initial: Literal["means", "random"]
    momentum: Annotated[float, Field(ge=0, le=1)]  # lambda
    edges: Literal["posteriors", "labels"]
    differentiable: bool  # the loss of prototypes reaches what refined them


class Methods(Names):
    """The methods and their settings."""

    chance: Chance
    clip: Clip
    coop: Trained
    csp: Csp
    gipcol: Gipcol
    dfsp: Dfsp
    c_s_o: ThreePath
    troika: Troika
    msci: Msci
    duplex: Duplex


class Feasibility(Section):
    """How near a pair's state and object are to ones that training shows together."""

    vectors: Literal["backbone", "glove"]  # texts of the backbone, or word vectors as in the released code
    prompt: NamePrompt  # of a state or an object alone, for the backbone
    glove: Archive


class Params(Section):
    """params.yaml, whole."""

    profile: Literal["demo", "smoke", "paper"]
    profiles: Profiles
    datasets: Datasets
    backbones: Backbones
    methods: Methods
    feasibility: Feasibility

    @property
    def chosen(self) -> Profile:
        """The profile in force."""
        profile: Profile = getattr(self.profiles, self.profile)
        return profile

    def settings(self, method: str, dataset: str, changed: dict[str, Any] | None = None) -> dict[str, Any]:
        """The settings of a method on a data set, as plain values, some of them changed.

        Raises:
            ParamsError: the changes do not fit into the method's section.
        """
        section = self.methods.of(method)
        whole = section.model_dump(by_alias=True)
        settings = whole | whole.pop("per_dataset", {}).get(dataset, {}) | (changed or {})
        try:
            type(section).model_validate(settings)
        except ValidationError as error:
            lines = [f"  {_explain(e, list(type(section).model_fields))}" for e in error.errors()]
            raise ParamsError("\n".join([f"a variant of {method} does not fit its settings:", *lines])) from None
        return settings


class ParamsError(ValueError):
    """params.yaml is wrong: the message says where and what is allowed."""


class _Loader(yaml.SafeLoader):
    """Safe YAML in which a repeated key is an error and 1e-4 is a number."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    for index, key in enumerate(keys):
        if key in keys[:index]:
            line = node.value[index][0].start_mark.line + 1
            raise yaml.YAMLError(f"line {line}: the key {key} stands here for the second time")
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
# YAML 1.1, which PyYAML reads, takes 1e-4 for a string because the dot is missing
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def _nearest(name: str, allowed: list[str]) -> str:
    close = difflib.get_close_matches(name, allowed, n=1, cutoff=0.4)
    return f"; the nearest is '{close[0]}'" if close else ""


def _keys_at(path: tuple[str | int, ...]) -> list[str]:
    """The keys that the schema knows in the section at this path."""
    section: Any = Params
    for key in path:
        fields = {field.alias or name: field.annotation for name, field in section.model_fields.items()}
        section = fields.get(str(key))
        if not (isinstance(section, type) and issubclass(section, BaseModel)):
            return []
    return [field.alias or name for name, field in section.model_fields.items()]


def _place(location: tuple[str | int, ...]) -> str:
    """A dotted path; the names of a union's branches, which pydantic adds to it, are none of the file's keys."""
    parts = [str(part) for part in location if not str(part).startswith(("literal[", "constrained-"))]
    return ".".join(parts) or "the file"


def _explain(error: Any, allowed: list[str]) -> str:
    """One line for one error of the schema: the place, what is wrong, what is allowed, the nearest right name.

    ``allowed`` are the keys of the section in which the error is.
    """
    key = str(error["loc"][-1]) if error["loc"] else ""
    place = _place(error["loc"])
    if error["type"] == "extra_forbidden":
        return f"{place}: there is no key '{key}'{_nearest(key, allowed)}; allowed: {', '.join(allowed)}"
    if error["type"] == "missing":
        return f"{place}: this key is missing"
    if error["type"] == "literal_error":
        names = [name.strip(" '") for name in error["ctx"]["expected"].replace(" or ", ",").split(",")]
        return f"{place}: '{error['input']}' is not allowed{_nearest(str(error['input']), names)}; allowed: {', '.join(names)}"
    return f"{place}: {error['msg'][0].lower()}{error['msg'][1:]}, not {error['input']!r}"


def _validated(document: Any, source: str) -> Params:
    try:
        return Params.model_validate(document)
    except ValidationError as error:
        # a union reports every branch that did not fit: the first line of a place says enough
        lines = {_place(e["loc"]): _explain(e, _keys_at(e["loc"][:-1])) for e in reversed(error.errors())}
        raise ParamsError(
            "\n".join([f"{source} is wrong:", *(f"  {line}" for line in reversed(lines.values()))])
        ) from None


def _overridden(document: dict[str, Any], override: dict[str, Any], source: str) -> dict[str, Any]:
    """A copy of the document with the values at these dotted keys replaced."""
    document = copy.deepcopy(document)
    for dotted, value in override.items():
        *path, last = dotted.split(".")
        section = document
        for key in path:
            section = section.get(key, {}) if isinstance(section, dict) else {}
        if not isinstance(section, dict) or last not in section:
            nearest = _nearest(dotted, _dotted(document))
            raise ParamsError(f"{source} is wrong:\n  override.{dotted}: there is no such key to override{nearest}")
        section[last] = value
    return document


def _dotted(section: Any, prefix: str = "") -> list[str]:
    if not isinstance(section, dict):
        return []
    return [path for key, value in section.items() for path in (f"{prefix}{key}", *_dotted(value, f"{prefix}{key}."))]


def _read(text: str, source: str) -> Any:
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise ParamsError(f"{source} is not valid YAML: {error}") from None


def _edit(document: dict[str, Any], edit: str) -> None:
    """Carry out an edit, written ``path=value``, in the document. What does not belong there is left to the schema to find.

    Raises:
        ParamsError: it is not written like this.
    """
    dotted, equals, text = edit.partition("=")
    if not (dotted and equals):
        raise ParamsError(f"an edit is written path=value, such as methods.csp.lr=0.01, not '{edit}'")
    *path, last = _keys_of(dotted)
    value, section = _read(text, f"the value in '{edit}'"), document
    for key in path:
        if not isinstance(section.get(key), dict):
            section[key] = {}
        section = section[key]
    section[last] = value


def _keys_of(dotted: str) -> list[str]:
    """The keys of a dotted path; those of ``override`` are dotted themselves."""
    before, override, key = dotted.partition(".override.")
    return [*before.split("."), "override", key] if override else dotted.split(".")


def parse_params(
    text: str, source: str = "params.yaml", profile: str | None = None, edits: Sequence[str] = ()
) -> Params:
    """The parameters of the chosen profile from the text of params.yaml, its overrides carried out.

    Args:
        text: the YAML.
        source: how messages call it.
        profile: in place of the one that the text chooses.
        edits: of the text, each written ``path=value``, such as ``methods.csp.lr=0.01``.

    Raises:
        ParamsError: anything is wrong; every place that is wrong has a line in the message.
    """
    document = _read(text, source)
    if profile and isinstance(document, dict):
        document["profile"] = profile
    for edit in edits if isinstance(document, dict) else ():
        _edit(document, edit)
    source = f"{source} with {' and '.join(edits)}" if edits else source
    params = _validated(document, source)
    where = f"{source}, profiles.{params.profile}"
    params = _validated(_overridden(document, params.chosen.override, where), where)
    _check_per_dataset(params, source)
    return params


def _check_per_dataset(params: Params, source: str) -> None:
    """Settings per dataset are partial sections: each has to fit into the method's section."""
    for method in get_args(MethodName):
        section = params.methods.of(method)
        whole = section.model_dump(by_alias=True)
        for dataset, partial in whole.pop("per_dataset", {}).items():
            try:
                type(section).model_validate(whole | partial)
            except ValidationError as error:
                where = f"methods.{method}.per_dataset.{dataset}"
                lines = [f"  {where}.{_explain(e, list(type(section).model_fields))}" for e in error.errors()]
                raise ParamsError("\n".join([f"{source} is wrong:", *lines])) from None


def load_params(path: Path, profile: str | None = None, edits: Sequence[str] = ()) -> Params:
    """The parameters of the chosen profile, or of this one, from params.yaml, or as it would be with some edits.

    Raises:
        ParamsError: the file is missing or anything in it is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ParamsError(f"{path} cannot be read: {error}. Run in the root of the project.") from None
    return parse_params(text, str(path), profile, edits)
