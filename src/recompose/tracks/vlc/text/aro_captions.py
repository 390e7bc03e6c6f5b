"""Concepts of ARO's captions, from their template and the annotation of an item, without a parser.

Captions have the form "the S is R the O" for a relation R, and "the A1 O1 and the A2 O2" for two attributes
(``dataset_zoo/aro_datasets.py`` of mertyg/vision-language-models-are-bows at 81fdd20, and its files). An item's group
is its relation, or its two attributes, in either order.
"""

import re

from recompose.tracks.vlc.text.concepts import Concept, Kind

RELATIONS, ATTRIBUTES = "aro/vg_relation", "aro/vg_attribution"
_THE, _IS = re.compile(r"^the ", re.IGNORECASE), re.compile(r" (is|are)$")


def concepts_of(task: str, caption: str, group: str) -> list[Concept]:
    """Return the objects of a caption, and its relation or its attributes; empty if it does not follow its template.

    Args:
        task: ``RELATIONS`` or ``ATTRIBUTES``.
        caption: the true caption of an item.
        group: of the item.

    Example:
        >>> concepts = concepts_of(RELATIONS, "the cup is left of the red pan", "left of")
        >>> [(concept.kind, concept.text) for concept in concepts]
        [('object', 'cup'), ('relation', 'left of'), ('object', 'red pan')]
        >>> [concept.text for concept in concepts_of(ATTRIBUTES, "the old cup and the red pan", "red_old")]
        ['old', 'cup', 'red', 'pan']
        >>> concepts_of(RELATIONS, "a cup, left of a pan", "left of")
        []
    """
    return _with_relation(caption, group) if task == RELATIONS else _with_attributes(caption, group)


def composition(concepts: list[Concept]) -> list[str]:
    """Return the texts of the relation or the attributes among a caption's concepts."""
    return [concept.text for concept in concepts if concept.kind != "object"]


def _with_relation(caption: str, relation: str) -> list[Concept]:
    before, separator, target = caption.partition(f" {relation} the ")
    subject = _IS.sub("", _THE.sub("", before))
    if not (separator and subject and target):
        return []
    return [_concept("object", subject), _concept("relation", relation), _concept("object", target)]


def _with_attributes(caption: str, group: str) -> list[Concept]:
    kinds: tuple[Kind, ...] = ("attribute", "object", "attribute", "object")
    attributes = group.partition("_")[::2]
    for first, second in (attributes, attributes[::-1]):
        parts = re.fullmatch(
            f"the ({re.escape(first)}) (.+) and the ({re.escape(second)}) (.+)", caption, re.IGNORECASE
        )
        if parts:
            return [_concept(kind, text) for kind, text in zip(kinds, parts.groups(), strict=True)]
    return []


def _concept(kind: Kind, text: str) -> Concept:
    return Concept(kind, text, text.lower())
