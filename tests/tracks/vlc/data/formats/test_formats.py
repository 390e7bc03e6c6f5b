"""Small suites in the files that are published: what each format reads of them, and what it alone refuses.

What all formats refuse alike (a missing field, an empty text, an image outside of its folder) is in test_reading.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats import coco, coco_counterfactuals, sugarcrepe, sugarcrepe_pp, valse
from recompose.tracks.vlc.data.formats.crepe_systematicity import CORPORA, NEGATIVES, SPLITS
from recompose.tracks.vlc.data.formats.spec import SUBSETS as SPEC_SUBSETS
from recompose.tracks.vlc.suites.catalogue import read_suite
from recompose.tracks.vlc.suites.tasks import Choices
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import check_refused, items, pair, questions, write_files


def region(**more: Any) -> dict[str, Any]:
    """An item of ARO, with a field that nobody reads."""
    box = {"bbox_x": 3, "bbox_y": 0, "bbox_w": 20, "bbox_h": 30}
    captions = {"true_caption": "the dog is on the bed", "false_caption": "the bed is on the dog"}
    return {"image_id": "2353", "image_path": "2353.jpg", **box, **captions, **more}


def atoms(**more: Any) -> dict[str, Any]:
    """A row of CREPE."""
    box = {"x": 237.0, "y": 391.0, "width": 402.0, "height": 208.0}
    return {"image_id": 23, "caption": "a table", "n": 4, "hard_negs": "['a cat', \"it's a dog\"]", **box, **more}


def compound(caption: str, **more: Any) -> dict[str, Any]:
    """A row of CREPE's systematicity."""
    box = {"x": 1, "y": 2, "width": 30, "height": 40, "image_id": 2}
    return {"caption": caption, **box, **{name: str([f"{kind} {caption}"]) for kind, name in NEGATIVES.items()}, **more}


def probe(sentence: str, true: int, false: int, *differs: str) -> dict[str, Any]:
    """A row of SVO-Probes."""
    marks = {f"{name}_neg": name in differs for name in ("subj", "verb", "obj")}
    return {"sentence": sentence, "pos_url": "http://a/b,c.jpg", "pos_image_id": true, "neg_image_id": false, **marks}


def foil(dataset: str = "coco2017", image: str = "1.jpg", votes: int = 2, **more: Any) -> dict[str, Any]:
    """An item of VALSE."""
    captions = {"caption": "one field", "foil": "many fields"}
    return {"dataset": dataset, "image_file": image, **captions, "mturk": {"caption": votes, "foil": 0}, **more}


PLACES = [f"A mug {place} a table" for place in ("on", "under", "to the left of", "to the right of")]
MUG = {"image_path": "data/x/mug.jpeg", "caption_options": PLACES}
COMVG = "id,sentence,pos_image_id,neg_image_id,neg_value\n1,a man sits,11,12,subject\n2,a man sits,11,13,verb\n"
CUBES = {"file_name": "1.png", "pos": "red cube", **{f"neg_{place}": f"cube {place}" for place in range(4)}}
FALSE_CUBES = [f"cube {place}" for place in range(4)]
SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
SICK_FILE, STS_FILE = "sick/SICK_test_annotated.txt", "sts_b/sts-test.csv"
KARPATHY = [
    {"image": "val2014/2.jpg", "caption": ["a dog", "a dog runs"]},
    {"image": "val2014/1.jpg", "caption": ["a dog", " A cat. "]},
]
SYSTEMATICITY = "crepe_systematicity/syst_hard_negatives/syst_vg_hard_negs_{}_compounds_in_{}.csv"
CREPE = "crepe/prod_hard_negatives/prod_vg_hard_negs_{}_all.csv"

FILES: dict[str, dict[str, Any]] = {  # form -> the files below a root
    "aro": {
        "aro/visual_genome_relation.json": [region(relation_name="on"), region(relation_name="to the left of")],
        "aro/visual_genome_attribution.json": [region(attributes=["crouched", "open"])],
        "aro/coco_order.json": [{"image": "val2014/7.jpg", "caption_options": ["b", "a", "c", "d", "b"]}],
        "aro/flickr30k_order.json": [{"image": "flickr30k-images/7.jpg", "caption_options": [*"12345"]}],
    },
    "bivlc": {
        "bivlc/test.jsonl": [
            {
                **{"image": f"{number}.jpg", "negative_image": f"{number}_n.jpg", "type": kind},
                **{"caption": f"{number} dogs", "negative_caption": f"{number} cats"},
            }
            for number, kind in enumerate(("add", "replace", "swap", "add"))
        ]
    },
    "clip_binding": {"clip_binding/two_object/gen.csv": [CUBES]},
    "coco": {f"coco/{coco.FILE}": KARPATHY},
    "coco_counterfactuals": {"coco_counterfactuals/examples.jsonl": [pair(5, 0, "{}_img_{}"), pair(3, 0, "{}_img_{}")]},
    "colorswap": {"colorswap/test.json": [pair(9, 1, "images/img_{}_{}.png")]},
    "comvg": {"comvg/ComVG.csv": COMVG},
    "crepe": {
        CREPE.format(name): [
            atoms(),
            atoms(n=14, hard_negs="['one']", x=0.5, y=1.5),  # half of a pixel goes to the even one
            atoms(hard_negs="{'there is no dög', 'a cat'}"),  # a set, which has no order
        ]
        for name in ("atom", "swap", "negate")
    },
    "crepe_systematicity": {
        SYSTEMATICITY.format(split, corpus): [compound(f"{corpus} {split}"), compound("a cup")]
        for corpus in CORPORA
        for split in SPLITS
    },
    "sick": {SICK_FILE: f'{SICK}6\tno boy\tsome kids\t3.3\tNEUTRAL\r\n\n7\tA "kid\tno boy\t4.7\tNEUTRAL\n'},
    "spec": {
        f"spec/{subset}/{name}.json": [{"query": query, "keys": keys, "label": 1}]
        for subset in SPEC_SUBSETS
        for name, query, keys in (
            ("image2text", "image/7.jpg", ["one dog", "two dogs"]),
            ("text2image", "two dogs", ["image/1.jpg", "image/7.jpg"]),
        )
    },
    "sts_b": {STS_FILE: 'news\tMSR\t2012\t0024\t2.500\ta girl\t"Oil"\nnews\tMSR\t2012\t5\t5\tb\ta girl\tlicence\t\n'},
    "sugarcrepe": {
        f"sugarcrepe/{name}.json": {"7": {"filename": "1.jpg", "caption": "a cat ", "negative_caption": name}}
        for name in sugarcrepe.SETS
    },
    "sugarcrepe_pp": {
        f"sugarcrepe_pp/{name}.json": [
            {"id": 0, "filename": "1.jpg", "caption": "a", "caption2": "b", "negative_caption": "a"}
        ]
        for name in sugarcrepe_pp.SETS
    },
    "svo_probes": {
        "svo_probes/svo_probes.csv": [
            *(probe("a girl stands", 1, 2, "subj"), probe("a girl stands", 1, 3, "verb")),
            *(probe("a girl sits", 3, 4, "verb"), probe("a girl eats", 5, 1, "obj")),
            *(probe("of no set", 5, 2, "verb", "obj"), probe("of no set, either", 5, 3)),
        ],
        **{f"images/svo_probes/{number}.jpg": "" for number in range(1, 6)},
    },
    "valse": {
        **{f"valse/{name}.json": {"a": foil()} for name in valse.SETS},
        "valse/existence.json": {"a": foil(votes=1, caption="nobody agrees"), "b": foil(caption="a dog")},
    },
    "whatsup": {
        "whatsup/controlled_images_dataset.json": [MUG],
        "whatsup/controlled_clevr_dataset.json": [MUG],
        **{f"whatsup/coco_qa_{number}_obj.json": [[139, "left", "right"]] for number in ("one", "two")},
        **{
            f"whatsup/vg_qa_{number}_obj.json": [[2354, "left", "right"], ["n16", "a", "b"]]
            for number in ("one", "two")
        },
    },
    "winoground": {"winoground/examples.jsonl": [pair(0, 0, "ex_{}_img_{}", tag=""), pair(7, 0, "ex_{}_img_{}")]},
}
BED = (("images/vg/2353.jpg", (3, 0, 23, 30)), ["the bed is on the dog", "the dog is on the bed"], 1)
CUBE, TABLE = "images/clip_binding/two_object/images/gen/1.png", ("images/vg/23.jpg", (237, 391, 639, 599))
MEN = [("a man sits", ["images/vg/11.jpg", f"images/vg/{number}.jpg"], 0) for number in (12, 13)]


def svo_probe(sentence: str, *numbers: int) -> tuple[str, list[str], int]:
    return sentence, [f"images/svo_probes/{number}.jpg" for number in numbers], 0


ITEMS: dict[str, dict[str, list[Any]]] = {  # form -> rest of the name of a sub-task -> its items
    "aro": {
        "/vg_relation": [BED, BED],
        "/vg_attribution": [BED],
        "/coco_order": [("images/coco/val2014/7.jpg", [*"bacdb"], 0)],
        "/flickr30k_order": [("images/flickr30k/flickr30k-images/7.jpg", [*"12345"], 0)],
    },
    "bivlc": {
        f"/{kind}": [
            ([f"images/bivlc/{n}.jpg", f"images/bivlc/{n}_n.jpg"], [f"{n} dogs", f"{n} cats"]) for n in numbers
        ]
        for kind, numbers in {"replace": (1,), "swap": (2,), "add": (0, 3)}.items()
    },
    "clip_binding": {
        "": [(CUBE, ["a photo ofred cube", *(f"a photo of{cube}" for cube in FALSE_CUBES)], 0)],  # as released
        "/plain": [(CUBE, ["red cube", *FALSE_CUBES], 0)],
    },
    "coco": {"": [(f"images/coco/{image['image']}", image["caption"]) for image in KARPATHY]},
    "coco_counterfactuals": {
        "": [
            (f"images/coco_counterfactuals/{n}_img_{side}.jpg", [f"{n} dogs, {side}"])
            for n in (5, 3)
            for side in (0, 1)
        ]
    },
    "colorswap": {"": [([f"images/colorswap/images/img_9_{side}.png" for side in (1, 2)], ["9 dogs, 1", "9 dogs, 2"])]},
    "comvg": {"": MEN, "/verb": MEN[1:]},
    "crepe": {
        f"/{name}": [
            (TABLE, ["a table", "a cat", "it's a dog"], 0),
            (("images/vg/23.jpg", (0, 2, 402, 210)), ["a table", "one"], 0),
            (TABLE, ["a table", "a cat", "there is no dög"], 0),
        ]
        for name in ("atom", "swap", "negate")
    },
    "crepe_systematicity": {
        f"/{corpus}_{split}_{kind}": [
            (("images/vg/2.jpg", (1, 2, 31, 42)), [caption, f"{kind} {caption}"], 0)
            for caption in (f"{corpus} {split}", "a cup")
        ]
        for corpus in CORPORA
        for split in SPLITS
        for kind in NEGATIVES
    },
    "sick": {"": [("no boy", "some kids", 3.3), ('A "kid', "no boy", 4.7)]},
    "spec": {
        f"/{way}/{subset}": [(f"images/spec/{subset}/image/7.jpg", ["one dog", "two dogs"], 1)]
        if way == "i2t"
        else [("two dogs", [f"images/spec/{subset}/image/{n}.jpg" for n in (1, 7)], 1)]
        for subset in SPEC_SUBSETS
        for way in ("i2t", "t2i")
    },
    "sts_b": {"": [("a girl", '"Oil"', 2.5), ("b", "a girl", 5.0)]},
    "sugarcrepe": {f"/{name}": [("images/coco/val2017/1.jpg", ["a cat ", name], 0)] for name in sugarcrepe.SETS},
    "sugarcrepe_pp": {f"/{name}": [("images/coco/val2017/1.jpg", [*"aba"])] for name in sugarcrepe_pp.SETS},
    "svo_probes": {
        "/subj_neg": [svo_probe("a girl stands", 1, 2)],
        "/verb_neg": [svo_probe("a girl stands", 1, 3), svo_probe("a girl sits", 3, 4)],
        "/obj_neg": [svo_probe("a girl eats", 5, 1)],
    },
    "valse": {
        f"/{name}": [("images/coco/val2017/1.jpg", ["a dog" if name == "existence" else "one field", "many fields"], 0)]
        for name in (*valse.SETS, "existence")
    },
    "whatsup": {
        "/a": [("images/whatsup/controlled_images/mug.jpeg", PLACES, 0)],
        "/b": [("images/whatsup/controlled_clevr/mug.jpeg", PLACES, 0)],
        **{
            f"/coco_qa_{number}": [("images/coco/val2017/000000000139.jpg", ["left", "right"], 0)]
            for number in ("one", "two")
        },
        **{
            f"/vg_qa_{number}": [("images/vg/2354.jpg", ["left", "right"], 0), ("images/vg/n16.jpg", ["a", "b"], 0)]
            for number in ("one", "two")
        },
    },
    "winoground": {
        "": [
            ([f"images/winoground/ex_{n}_img_{side}.png" for side in (0, 1)], [f"{n} dogs, 0", f"{n} dogs, 1"])
            for n in (0, 7)
        ]
    },
}
GROUPS = {
    "aro/vg_relation": ("on", "to the left of"),
    "aro/vg_attribution": ("crouched_open",),
    "aro/coco_order": None,
    "crepe/swap": ("4", "13", "4"),  # of 13 atoms and more
}


@pytest.mark.parametrize("form", FILES)
def test_items_are_those_of_the_published_files(form: str, tmp_path: Path) -> None:
    suite = read_suite(form, write_files(tmp_path, FILES[form]))
    assert {name.removeprefix(form): items(suite, name) for name in suite.tasks} == ITEMS[form]
    assert len({*suite.images}) == len(suite.images) and len({*suite.texts}) == len(suite.texts)  # each once


@pytest.mark.parametrize("name", GROUPS)
def test_items_have_the_groups_that_scores_are_means_over(name: str, tmp_path: Path) -> None:
    form = name.split("/")[0]
    task = read_suite(form, write_files(tmp_path, FILES[form])).tasks[name]
    assert isinstance(task, Choices) and task.groups == GROUPS[name]


BIVLC = FILES["bivlc"]["bivlc/test.jsonl"][0]
REFUSED: list[tuple[str, str, Any, str, str]] = [  # form, file, its content, code of the error, end of its place
    ("aro", "aro/visual_genome_relation.json", [region(relation_name="on", bbox_w=0)], "empty-box", "item 1"),
    ("aro", "aro/visual_genome_attribution.json", [region(attributes=["open"])], "wrong-count", "field 'attributes'"),
    ("bivlc", "bivlc/test.jsonl", [BIVLC | {"type": "delete"}], "unknown-name", "field 'type'"),
    ("comvg", "comvg/ComVG.csv", COMVG.replace("subject", "adverb"), "unknown-name", "row 1, field 'neg_value'"),
    ("crepe", CREPE.format("swap"), [atoms(hard_negs="[]")], "wrong-count", "field 'hard_negs'"),
    ("crepe", CREPE.format("swap"), [atoms(hard_negs="[open('a')]")], "wrong-kind", "field 'hard_negs'"),
    ("sick", SICK_FILE, f"{SICK}6\ta\tb\t0.9\tNEUTRAL\n", "wrong-number", "line 2, field 'relatedness_score'"),
    ("sick", SICK_FILE, SICK.replace("_B", "_C"), "missing-field", "line 1"),
    ("spec", "spec/count/image2text.json", [{"query": "7.jpg", "keys": ["a"], "label": 1}], "wrong-number", "'label'"),
    ("valse", "valse/plurals.json", {"a": foil("Flickr30k")}, "unknown-name", "item 'a'"),
    ("valse", "valse/plurals.json", {"a": foil(votes=1)}, "no-items", "plurals.json"),
    ("whatsup", "whatsup/controlled_clevr_dataset.json", [MUG | {"caption_options": ["a"]}], "wrong-count", "options'"),
    ("winoground", "winoground/examples.jsonl", [pair(3, 0, "{}_{}")] * 2, "duplicate-name", "line 2, field 'id'"),
]


@pytest.mark.parametrize(("form", "file", "content", "code", "place"), REFUSED)
def test_what_is_not_of_the_format_is_named(
    form: str, file: str, content: Any, code: str, place: str, tmp_path: Path
) -> None:
    root = write_files(tmp_path, FILES[form] | {file: content})
    check_refused(form, root, code, root / file, place)


# what single formats do


def test_parts_of_aro_are_read_where_their_files_are_there(tmp_path: Path) -> None:
    parts = dict(list(FILES["aro"].items())[:2])
    assert [*read_suite("aro", write_files(tmp_path, parts)).tasks] == ["aro/vg_relation", "aro/vg_attribution"]
    with raises(DataError, "missing-file", "visual_genome_relation.json"):
        read_suite("aro", tmp_path / "nowhere")


def test_a_region_of_crepe_without_a_negative_is_left_out_of_that_kind_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [compound("a", valid_hard_negs_comp="[]"), compound("b"), compound("c", valid_hard_negs_comp="set()")]
    files = FILES["crepe_systematicity"] | {SYSTEMATICITY.format("seen", "laion"): rows}
    suite = read_suite("crepe_systematicity", write_files(tmp_path, files))
    assert [len(questions(suite, f"crepe_systematicity/laion_seen_{kind}")) for kind in NEGATIVES] == [3, 1, 3]
    assert "2 of 3 regions" in capsys.readouterr().err


def test_as_many_pairs_of_counterfactuals_are_drawn_as_papers_take() -> None:
    places = coco_counterfactuals.pair_sample(17_410)
    assert len({*places}) == 5_223
    assert places == sorted(places) == coco_counterfactuals.pair_sample(17_410)
    assert abs(np.mean(places) - 17_409 / 2) < 300  # five standard deviations of their mean
    assert coco_counterfactuals.pair_sample(7) == [*range(7)]


def test_probes_that_lack_an_image_are_left_out_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = write_files(tmp_path, FILES["svo_probes"])
    read_suite("svo_probes", root)
    assert "left out" not in capsys.readouterr().err
    (root / "images/svo_probes/4.jpg").unlink()
    suite = read_suite("svo_probes", root)
    assert [sentence for sentence, _, _ in questions(suite, "svo_probes/verb_neg")] == ["a girl stands"]
    assert len(suite.images) == 4
    assert "left out without an image: 1 of 2 verb_neg\n" in capsys.readouterr().err
    (root / "images/svo_probes/5.jpg").unlink()
    with raises(DataError, "missing-image", root / "images/svo_probes"):
        read_suite("svo_probes", root)


@pytest.mark.parametrize(
    ("dataset", "path"),
    [
        ("coco_2017", "coco/val2017/1.jpg"),
        ("FOIL dataset", "coco/val2014/COCO_val2014_000000165831.jpg"),
        ("SWiG", "swig/exercising_255.jpg"),
        ("visual7w", "visual7w/v7w_1.jpg"),
        ("VisDial_v1.0", "coco/train2014/COCO_train2014_000000254009.jpg"),
        ("VisDial_v1.0", "coco/val2014/COCO_val2014_000000254009.jpg"),
        ("VisDial_v1.0", "visdial/VisualDialog_val2018/VisualDialog_val2018_000000284024.jpg"),
    ],
)
def test_an_image_of_valse_lies_in_the_folder_of_its_data_set(tmp_path: Path, dataset: str, path: str) -> None:
    files = FILES["valse"] | {"valse/plurals.json": {"a": foil(dataset, path.rpartition("/")[2])}}
    suite = read_suite("valse", write_files(tmp_path, files))
    assert questions(suite, "valse/plurals")[0][0] == f"images/{path}"
