"""What ARO's captions speak of: a template and the annotation of an item tell it, and no parser is needed.

Captions are "the S is R the O" of a relation R, and "the A1 O1 and the A2 O2" of two attributes
(``dataset_zoo/aro_datasets.py`` of mertyg/vision-language-models-are-bows at 81fdd20, and its files). An item's group
is its relation, or its two attributes, in either order.
"""

import re

from recompose.tracks.vlc.attribution.token_labels import Concept

RELATIONS, ATTRIBUTES = "aro/vg_relation", "aro/vg_attribution"
_THE, _IS = re.compile(r"^the ", re.IGNORECASE), re.compile(r" (is|are)$")


def concepts_of(task: str, caption: str, group: str) -> list[Concept]:
    """The objects of a caption, and its relation or its attributes; nothing where it is not of its template.

    Args:
        task: ``RELATIONS`` or ``ATTRIBUTES``.
        caption: an item's true one.
        group: the item's.

    Example:
        >>> [(each.kind, each.text) for each in concepts_of(RELATIONS, "the cup is left of the red pan", "left of")]
        [('object', 'cup'), ('relation', 'left of'), ('object', 'red pan')]
        >>> [each.text for each in concepts_of(ATTRIBUTES, "the old cup and the red pan", "red_old")]
        ['old', 'cup', 'red', 'pan']
        >>> concepts_of(RELATIONS, "a cup, left of a pan", "left of")
        []
    """
    return _of_relation(caption, group) if task == RELATIONS else _of_attributes(caption, group)


def composition(concepts: list[Concept]) -> list[str]:
    """The relation or the attributes among what a caption speaks of, as they stand there."""
    return [concept.text for concept in concepts if concept.kind != "object"]


def _of_relation(caption: str, relation: str) -> list[Concept]:
    before, is_there, target = caption.partition(f" {relation} the ")
    subject = _IS.sub("", _THE.sub("", before))
    if not (is_there and subject and target):
        return []
    return [_concept("object", subject), _concept("relation", relation), _concept("object", target)]


def _of_attributes(caption: str, group: str) -> list[Concept]:
    one, _, other = group.partition("_")
    for first, second in ((one, other), (other, one)):
        parts = re.fullmatch(
            f"the ({re.escape(first)}) (.+) and the ({re.escape(second)}) (.+)", caption, re.IGNORECASE
        )
        if parts:
            kinds = ("attribute", "object") * 2
            return [_concept(kind, text) for kind, text in zip(kinds, parts.groups(), strict=True)]
    return []


def _concept(kind: str, text: str) -> Concept:
    return Concept(kind, text, text.lower())  # type: ignore[arg-type]
