"""shapes-captions: synthetic corpora of images and captions, in the form of NegCLIP's list of COCO's captions.

Three corpora replace COCO, CC3M and LAION-COCO. They differ in the look of the pictures, in the share of pictures of
two entities, and in the detail of the captions. Beside the list are the parses of the captions, and a lexicon in
WordNet's form, from which hard negatives are generated.
"""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from random import Random

from recompose.synthetic import sentences
from recompose.synthetic.looks import Look
from recompose.synthetic.sentences import Scene, Style
from recompose.tracks.vlc.data import negclip_list
from recompose.tracks.vlc.data.captions import write_docs
from recompose.tracks.vlc.data.synthetic_suites.changes import swap_entities, swap_names, swap_states
from recompose.tracks.vlc.text.lexicon import PartOfSpeech
from recompose.tracks.vlc.text.small_lexicon import Meaning, write_lexicon

ANNOTATED = Look(
    palette={"red": (195, 60, 70), "blue": (60, 100, 190), "green": (80, 160, 65), "golden": (220, 160, 45)},
    ground=(95, 215),
    clutter=(3, 7),
    grain=120,
    turn=6,
    tilt=1,
    light=(106, 100, 90),
)
WEB = Look(
    palette={"red": (215, 40, 75), "blue": (40, 120, 200), "green": (105, 170, 50), "golden": (205, 145, 70)},
    ground=(50, 180),
    clutter=(6, 11),
    grain=90,
    turn=9,
    tilt=2,
    light=(96, 102, 106),
)
CRAWL = Look(
    palette={"red": (190, 45, 90), "blue": (65, 70, 180), "green": (45, 150, 95), "golden": (230, 175, 70)},
    ground=(110, 230),
    clutter=(2, 6),
    grain=130,
    turn=3,
    tilt=3,
    light=(100, 104, 112),
    blur=1,
)
CORPORA = {
    "shapes-coco": Style(ANNOTATED, {"one": 14, "many": 14, "placed": 8, "two": 44, "act": 20}),
    "shapes-cc3m": Style(WEB, {"one": 40, "many": 12, "placed": 8, "two": 28, "act": 12}, related=65, complete=70),
    "shapes-laion": Style(CRAWL, {"one": 26, "many": 14, "placed": 8, "two": 36, "act": 16}, related=80, opened=30),
}
COLUMNS = ("", "title", "filepath", "neg_caption", "neg_image")
FOLDER, IMAGES, LEXICON = "train2014", "images", "lexicon"
PARTS: Mapping[str, PartOfSpeech] = {"n": "n", "v": "v", "a": "a", "r": "r"}


def _exchanges(statement: Scene) -> list[Scene]:
    """Return the statement with entities, their states or their names exchanged, as NegCLIP exchanges words of one part
    of speech.
    """
    if statement.second is None or statement.second.count == sentences.NONE:
        return []
    return [change(statement, Random(0)) for change in (swap_entities, swap_states, swap_names)]


def draw(root: Path, *, seed: int, corpus: str, images: int) -> None:
    """Generate a corpus in ``root``: images, the list of their captions, the parses of these, and a lexicon. The same
    seed gives the same bytes.

    Args:
        root: the folder.
        seed: the seed of the scenes.
        corpus: one of CORPORA.
        images: the number of images, each with one caption.
    """
    import spacy

    (root / IMAGES / FOLDER).mkdir(parents=True)
    vocab, docs = spacy.blank("en").vocab, []
    table = io.StringIO(newline="")
    writer = csv.writer(table, delimiter="\t", lineterminator="\n")
    writer.writerow(COLUMNS)
    for number in range(images):
        picture, scene, statement, wording = sentences.draw_captioned_scene(
            CORPORA[corpus], Random(f"{corpus}/{seed}/{number}")
        )
        picture.save(root / IMAGES / FOLDER / f"{number:06d}.png", "png", compress_level=1)
        docs.append(sentences.document(sentences.phrase(statement, wording).words(), vocab))
        negatives = [
            sentences.caption(exchanged, wording)
            for exchanged in _exchanges(statement)
            if not sentences.is_true_of(exchanged, scene)
        ]
        writer.writerow((number, docs[-1].text, f"coco/{FOLDER}/{number:06d}.png", negatives, []))
    (root / negclip_list.LIST).write_text(table.getvalue(), encoding="utf-8")
    write_docs(docs, root)
    write_senses(root / LEXICON)


def write_senses(folder: Path) -> None:
    """Write the meanings of the words of captions, in WordNet's files."""
    senses = sentences.lexicon()
    meanings = [
        Meaning(sense.name, PARTS[sense.pos], sense.words, sense.above or None, dict.fromkeys(sense.words, sense.count))
        for sense in senses
    ]
    couples = {(sense.name, sense.antonym) for sense in senses if sense.antonym}  # each of both is the other's
    opposites = sorted(couple for couple in couples if couple[0] < couple[1])
    derived = [(sense.name, sense.derived) for sense in senses if sense.derived]
    write_lexicon(folder, meanings, antonyms=opposites, derived=derived, prepositions=sentences.PREPOSITIONS)


read = negclip_list.read
