"""What planning has to know of each method, without importing it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A method's file in this folder, its class, and what its numbers depend on."""

    module: str
    class_name: str
    needs_backbone: bool  # no: it needs no torch either
    needs_seed: bool  # no: another seed gives the same numbers, so it is run once


METHODS = {
    "chance": Method("recompose.tracks.czsl.methods.chance", "Chance", needs_backbone=False, needs_seed=True),
    "clip": Method("recompose.tracks.czsl.methods.clip", "CLIP", needs_backbone=True, needs_seed=False),
    "coop": Method("recompose.tracks.czsl.methods.coop", "CoOp", needs_backbone=True, needs_seed=True),
    "csp": Method("recompose.tracks.czsl.methods.csp", "CSP", needs_backbone=True, needs_seed=True),
    "gipcol": Method("recompose.tracks.czsl.methods.gipcol", "GIPCOL", needs_backbone=True, needs_seed=True),
    "dfsp": Method("recompose.tracks.czsl.methods.dfsp", "DFSP", needs_backbone=True, needs_seed=True),
    "c-s-o": Method("recompose.tracks.czsl.methods.c_s_o", "CSO", needs_backbone=True, needs_seed=True),
    "troika": Method("recompose.tracks.czsl.methods.troika", "Troika", needs_backbone=True, needs_seed=True),
    "msci": Method("recompose.tracks.czsl.methods.msci", "MSCI", needs_backbone=True, needs_seed=True),
    "duplex": Method("recompose.tracks.czsl.methods.duplex", "Duplex", needs_backbone=True, needs_seed=True),
}
