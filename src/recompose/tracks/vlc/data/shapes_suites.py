"""shapes-suites: synthetic suites of all kinds in the papers, in the files and folders of the published ones.

Each replicate has its own pictures, none of which is in a corpus. Suites share pictures where the published ones do:
Visual Genome's, COCO's, SWiG's, ... Each suite has the task of the published one of its name: binding of attributes,
relations and actions, counting, negation, the order of words.
"""

from collections.abc import Iterator
from pathlib import Path

from recompose.synthetic.sentences import Scene
from recompose.tracks.vlc.data.formats import aro
from recompose.tracks.vlc.data.shapes_captions import WEB
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.data.synthetic_suites import classification, coco, genome, similarity, standalone
from recompose.tracks.vlc.data.synthetic_suites.checklist import draw_checklist
from recompose.tracks.vlc.data.synthetic_suites.photos import SuiteReplicate, held_out_scenes
from recompose.tracks.vlc.data.synthetic_suites.valse import draw_valse
from recompose.tracks.vlc.suites.catalogue import DRAWN, read_suite

MIXED = {"one": 20, "many": 20, "placed": 15, "two": 70, "act": 35}


def draw_suites(replicate: SuiteReplicate) -> None:
    """Draw all pictures of a replicate, and write the files of all suites."""
    rng, share = replicate.rng("albums"), replicate.share

    def mixed() -> list[Scene]:
        scenes = held_out_scenes(rng, MIXED, share)
        return rng.sample(scenes, len(scenes))

    pictured = held_out_scenes(rng, {"two": 80, "act": 50, "many": 25, "placed": 25}, share)
    val2017 = replicate.album("images/coco/val2017/{:012d}.jpg", pictured)
    val2014 = replicate.album("images/coco/val2014/COCO_val2014_{:012d}.jpg", mixed())
    flickr = replicate.album("images/flickr30k/flickr30k-images/{:010d}.jpg", mixed()[: replicate.items(140)], WEB)
    swig = replicate.album("images/swig/{}.jpg", held_out_scenes(rng, {"act": 40}))
    hake = replicate.album("images/hake/vcoco/{:06d}.jpg", held_out_scenes(rng, {"act": 12, "two": 8}))
    visual_genome = genome.draw_genome(replicate)
    genome.draw_aro(replicate, visual_genome)
    genome.draw_order(replicate, "coco_order", val2014, aro.ORDERS["coco_order"])
    genome.draw_order(replicate, "flickr30k_order", flickr, aro.ORDERS["flickr30k_order"])
    genome.draw_crepe(replicate, visual_genome)
    genome.draw_comvg(replicate, visual_genome)
    coco.draw_questions(replicate, "vg", visual_genome)
    coco.draw_questions(replicate, "coco", val2017)
    coco.draw_sugarcrepe(replicate, val2017)
    coco.draw_retrieval(replicate, "coco", "coco_karpathy_test.json", val2014, "images/coco")
    coco.draw_retrieval(replicate, "flickr30k", "flickr30k_test.json", flickr, "images/flickr30k")
    coco.draw_counterfactuals(replicate)
    draw_valse(replicate, val2017, val2014, swig)
    draw_checklist(replicate, {"images/vg": visual_genome, "images/swig": swig, "images/hake": hake})
    classification.draw_classification(replicate)
    similarity.draw_similarity(replicate)
    for draw_suite in standalone.SUITES:
        draw_suite(replicate)


def draw(root: Path, *, seed: int, share: float) -> None:
    """Generate all suites in ``root``: the same seed gives the same bytes.

    Args:
        root: an empty folder.
        seed: the seed of the replicate.
        share: of the items of each suite at its full size; above 1 for more.
    """
    draw_suites(SuiteReplicate(root, seed, share))


def read(root: Path) -> Iterator[Suite]:
    """Read and check the suites.

    Raises:
        DataError: a file is absent or was changed.
    """
    for form in DRAWN:
        yield read_suite(form, root)
