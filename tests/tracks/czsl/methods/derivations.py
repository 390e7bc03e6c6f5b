"""What towers, prompts and interactions compute, written out with plain tensor operations and loops."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from recompose.backbones.clip import Backbone
from tests.tracks.czsl.methods.released import image_blocks, in_joint_space

STATES = ["red", "Faux.Leather", "striped"]
OBJECTS = ["circle", "Boots.Mid-Calf"]
PAIRS = [[0, 0], [2, 1], [1, 1], [0, 1], [2, 0]]
BLOCKS = [torch.tensor(PAIRS[:2]), torch.tensor(PAIRS[2:3]), torch.tensor(PAIRS[3:])]  # the same pairs
THREE_PATHS: dict[str, Any] = {  # without dropout
    "prompt": "a photo of {state} {object}",
    "prompts": "soft",
    "attribute_dropout": 0.0,
    "image_tower": "adapters",
    "adapter_bottleneck": 8,
    "adapter_dropout": 0.0,
    "disentangler_layers": 1,
    "disentangler_dropout": 0.0,
    "disentangler_end": "relu",
    "disentangler_start": "random",
    "loss_weights": [1.0, 0.5, 0.25],
}
SCORING: dict[str, Any] = {"fusion": "probabilities", "closed": [0.1, 0.9], "open": [0.3, 0.7]}
OWN: dict[str, dict[str, Any]] = {  # method -> what it adds to them
    "c-s-o": {},
    "troika": {"traction_layers": 2, "heads": 4, "traction_dropout": 0.0, "traction": 0.1, "token_norms": "each-path"},
    "msci": {
        "aggregated": 2,
        "aggregation": "learned",
        "stages": "both",
        "fusion_of_stages": "dynamic",
        "heads": 4,
        "interaction_dropout": 0.0,
        "pair_head": True,
        "share": 0.1,
    },
    "duplex": {
        "disentangler_layers": 2,
        "loss_weights": [1.0, 0.5, 0.25, 2.0],
        "target": "closed",
        "text_target": "target",
        "initial": "random",
        "unseen_start": "sum",
        "codebook": "buffer",
        "refinement": "graph",
        "momentum": 0.75,
        "edges": "posteriors",
        "writes_from": "training",
        "differentiable": True,
    },
}
UNEVEN = {  # a tower of each width, so that none can stand for another
    "embed_dim": 32,
    "vision_cfg": {"image_size": 32, "patch_size": 8, "layers": 4, "width": 48, "head_width": 16},
    "text_cfg": {"context_length": 24, "vocab_size": 49408, "width": 64, "heads": 4, "layers": 2},
}


def settings_of(method: str, **changed: Any) -> dict[str, Any]:
    """Return the settings of a method of three paths, some of them changed."""
    return THREE_PATHS | OWN[method] | changed


def method_of(kind: Any, backbone: Backbone, states: list[str], objects: list[str], **settings: Any) -> Any:
    """A method with these settings."""
    return kind(backbone, states, objects, kind.settings_class(**settings))


def new_method(kind: Any, backbone: Backbone, states: list[str], objects: list[str], settings: dict[str, Any]) -> Any:
    """A method of three paths with its own settings, and with those of its scores, which may stand among them."""
    model = {name: value for name, value in settings.items() if name not in SCORING}
    scoring = {name: settings.get(name, value) for name, value in SCORING.items()}
    method = method_of(kind, backbone, states, objects, **model)
    return method.set_scoring(kind.settings_class.scoring_class(**scoring))


def random_images(count: int) -> Tensor:
    """Bytes [images, 3, 32, 32]."""
    return torch.randint(0, 256, (count, 3, 32, 32), generator=torch.Generator().manual_seed(3), dtype=torch.uint8)


@torch.no_grad()
def unsettle(module: nn.Module, seed: int = 7, size: float = 0.1) -> None:
    """Move all that trains, and running statistics, away from where they begin: zeros and ones would hide what they
    do.
    """
    generator = torch.Generator().manual_seed(seed)
    for parameter in module.parameters():
        if parameter.requires_grad:
            parameter.add_(torch.randn(parameter.shape, generator=generator) * size)
    for part in module.modules():
        if isinstance(part, nn.BatchNorm1d):
            part.running_mean.add_(torch.randn(part.running_mean.shape, generator=generator) * size)
            part.running_var.mul_(torch.rand(part.running_var.shape, generator=generator) + 0.5)


def build_method(kind: Any, backbone: Backbone, settings: dict[str, Any], *, new: bool = False) -> Any:
    """A method of three paths in evaluation mode; unless it is to be new, nothing in it stands where it begins."""
    torch.manual_seed(5)
    method = new_method(kind, backbone, STATES, OBJECTS, settings).eval()
    if not new:
        unsettle(method)
    return method


def dense(method: Any, inputs: Tensor, blocks: list[Tensor], world: str = "closed") -> Tensor:
    """Return the scores [images, pairs] of all blocks of a world, side by side."""
    with torch.no_grad():
        return torch.cat(list(method.scores(inputs, method.encode_texts(blocks), world)), dim=1)


# images


def plain_linear(linear: Any, x: Tensor) -> Tensor:
    actual = torch.einsum("...i,oi->...o", x, linear.weight)
    return actual if linear.bias is None else actual + linear.bias


def plain_norm(norm: Any, x: Tensor) -> Tensor:
    """Layer normalisation."""
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True)
    return centred / (variance + 1e-5).sqrt() * norm.weight + norm.bias


def plain_weights(logits: Tensor) -> Tensor:
    """Softmax over the last dimension."""
    powers = (logits - logits.amax(dim=-1, keepdim=True)).exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def _tensors(backbone: Backbone, adapters: nn.Module | None = None) -> dict[str, Tensor]:
    """Return the tensors of a tower and its adapters under the names that a method has for them."""
    own = {f"backbone.{name}": tensor for name, tensor in backbone.named_parameters()}
    return own | {f"adapters.{name}": tensor for name, tensor in (adapters or nn.Module()).named_parameters()}


def plain_tower(backbone: Backbone, images: Tensor, adapters: nn.Module | None = None) -> list[Tensor]:
    """Each block's output [images, 1 + patches, width], of images in bytes."""
    heads = backbone.model.visual.transformer.resblocks[0].attn.num_heads
    return image_blocks(_tensors(backbone, adapters), images, heads, gelu)


def plain_joint(backbone: Backbone, tokens: Tensor) -> Tensor:
    """Tokens in the joint space."""
    return in_joint_space(_tensors(backbone), tokens)


def plain_layers(method: Any, images: Tensor) -> list[Tensor]:
    """Each block's output [images, 1 + patches, E] in the joint space, of images in bytes, by a method's adapted
    tower.
    """
    return [plain_joint(method.backbone, x) for x in plain_tower(method.backbone, images, method.adapters)]


def plain_disentangled(head: Any, x: Tensor, training: bool) -> Tensor:
    """Linear map, batch normalisation and ReLU, as often as the head has them, a linear map alone where it ends so,
    dropout left out.
    """
    steps, part = list(head), x
    for start in range(0, len(steps), 4):
        part = plain_linear(steps[start], part)
        if steps[start + 1 :]:
            norm = steps[start + 1]
            mean = part.mean(dim=0) if training else norm.running_mean
            variance = ((part - mean) ** 2).mean(dim=0) if training else norm.running_var
            part = ((part - mean) / (variance + 1e-5).sqrt() * norm.weight + norm.bias).clamp(min=0)
    return x + part if head.residual else part


# texts


def words(backbone: Backbone, text: str) -> list[int]:
    """The token ids of a text, between its start and its end."""
    ids = backbone.tokens([text])[0].tolist()
    return ids[1 : ids.index(max(ids))]


def plain_text(backbone: Backbone, vectors: list[Tensor]) -> Tensor:
    """The embedding [E] of one prompt of unpadded token embeddings, through the tower's own parts."""
    model = backbone.model
    x = torch.stack(vectors) + model.positional_embedding[: len(vectors)]
    mask = torch.full((len(vectors), len(vectors)), -math.inf).triu(1)
    return model.ln_final(model.transformer(x.unsqueeze(0), attn_mask=mask))[0, -1] @ model.text_projection


def plain_prompt(backbone: Backbone, context: list[Tensor], *contents: Tensor) -> Tensor:
    """The embedding [E] of a context with words [D] behind it."""
    start, end = backbone.embed_tokens(torch.tensor([49406, 49407]))
    return plain_text(backbone, [start, *context, *contents, end])


def plain_texts(method: Any, states: int, pairs: list[list[int]]) -> dict[str, Tensor]:
    """The texts of these pairs and of all states and objects, one prompt at a time, with a method's contexts and
    vectors.
    """
    vectors = method.prompts.primitives
    contents = {
        "pair": [(vectors[s], vectors[states + o]) for s, o in pairs],
        "state": [(vector,) for vector in vectors[:states]],
        "object": [(vector,) for vector in vectors[states:]],
    }
    return {
        path: torch.stack(
            [plain_prompt(method.backbone, list(method.prompts.contexts[path]), *each) for each in prompts]
        )
        for path, prompts in contents.items()
    }


# scores


def plain_logits(backbone: Backbone, views: Tensor, texts: Tensor) -> Tensor:
    """Cosines [images, texts] times CLIP's factor, of texts [texts, E], or [images, texts, E] as each image sees
    them.
    """
    scale = math.exp(float(backbone.model.logit_scale))
    rows = []
    for number, view in enumerate(views.detach()):
        seen = texts.detach() if texts.dim() == 2 else texts[number].detach()
        rows.append([scale * float(view @ text) / float(view.norm() * text.norm()) for text in seen])
    return torch.tensor(rows)
