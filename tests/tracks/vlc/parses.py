"""Sentences with their words, kinds, lemmas, heads and dependencies written by hand, in spaCy's terms."""

from functools import cache

import spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab

KINDS = {  # tag: part of speech
    **{"DT": "DET", "CD": "NUM", "IN": "ADP", "CC": "CCONJ", ".": "PUNCT", ",": "PUNCT", "AUX": "AUX"},
    **{"NN": "NOUN", "NNS": "NOUN", "NNP": "PROPN", "PRP": "PRON", "PRP$": "PRON"},
    **{"VBZ": "VERB", "VBP": "VERB", "VBG": "VERB", "VBN": "VERB", "VBD": "VERB"},
    **{"JJ": "ADJ", "JJR": "ADJ", "RB": "ADV"},
}

ELEPHANTS = """Three/CD/1/nummod statues/NNS/1/ROOT of/IN/1/prep elephants/NNS/2/pobj on/IN/1/prep the/DT/6/det
    steps/NNS/4/pobj in/IN/6/prep front/NN/7/pobj of/IN/8/prep an/DT/12/det old/JJ/12/amod building/NN/9/pobj
    ././1/punct"""
SANDALS = """Four/CD/2/nummod different/JJ/2/amod types/NNS/2/ROOT of/IN/2/prep sandals/NNS/3/pobj with/IN/2/prep
    laces/NNS/5/pobj ././2/punct"""
VAN = """The/DT/3/det small/JJ/3/amod blue/JJ/3/amod van/NN/5/nsubjpass is/AUX/5/auxpass parked/VBN/5/ROOT in/IN/5/prep
    front/NN/6/pobj of/IN/7/prep a/DT/10/det fence/NN/8/pobj ././5/punct"""
MATS = """A/DT/1/det dog/NN/6/nsubj and/CC/1/cc a/DT/5/det tall/JJ/5/amod cat/NN/1/conj sit/VBP/6/ROOT on/IN/6/prep
    mats/NNS/7/pobj"""
RIDER = """A/DT/1/det man/NN/7/nsubj quickly/RB/3/advmod eating/VBG/1/acl RED/JJ/5/amod apples/NNS/3/dobj
    slowly/RB/7/advmod rides/VBZ/7/ROOT his/PRP$/10/poss brown/JJ/10/amod Horse/NN/7/dobj"""
PIANO = """The/DT/1/det piano/NN/3/nsubjpass is/AUX/3/auxpass played/VBN/3/ROOT by/IN/3/agent a/DT/6/det woman/NN/4/pobj
    next/RB/6/advmod to/IN/7/prep me/PRP/8/pobj"""
BUS = (
    "a/DT/4/det red/JJ/4/amod and/CC/1/cc white/JJ/1/conj bus/NN/5/nsubj is/AUX/5/ROOT near/IN/5/prep trees/NNS/6/pobj"
)
STANDING = "A/DT/1/det woman/NN/2/nsubj stands/VBZ/2/ROOT next/RB/2/advmod to/IN/3/prep pianos/NNS/4/pobj"
TWICE = "A/DT/1/det dog/NN/2/nsubj sees/VBZ/2/ROOT a/DT/4/det dog/NN/2/dobj"
BARE = "dogs/NNS/1/nsubj chase/VBP/1/ROOT cats/NNS/1/dobj"
SCENES = (ELEPHANTS, SANDALS, VAN, MATS, RIDER, PIANO, BUS, STANDING, TWICE, BARE)
LEMMAS = {"sit": "sit", "played": "play", "is": "be", "rides": "ride", "eating": "eat", "parked": "park", "me": "I"}


@cache
def english() -> Vocab:
    """The words of a pipeline without models: it knows what a noun chunk is."""
    return spacy.blank("en").vocab


def parsed(sentence: str) -> Doc:
    """A sentence whose words are written word/tag/head/dependency."""
    words, tags, heads, dependencies = zip(*(word.rsplit("/", 3) for word in sentence.split()), strict=True)
    follows = [tag not in (".", ",") for tag in tags[1:]] + [False]
    lemmas = [LEMMAS.get(word, word.lower().removesuffix("s")) for word in words]
    return Doc(
        english(),
        words=list(words),
        spaces=follows,
        tags=[tag if tag != "AUX" else "VBZ" for tag in tags],
        pos=[KINDS[tag] for tag in tags],
        heads=[int(head) for head in heads],
        deps=list(dependencies),
        lemmas=lemmas,
    )
