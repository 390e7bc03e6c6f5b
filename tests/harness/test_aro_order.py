"""ARO's shuffled captions: the draws of the released code, and the command that writes them."""

import json
import random
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from recompose.cli import app
from recompose.harness import aro_order
from recompose.harness.aro_order import OrderShuffler, cut
from recompose.harness.survey import survey
from tests.tracks.vlc.data.formats.published import write_json
from tests.tracks.vlc.data.published import pack, save_model, wheel_files
from tests.tracks.vlc.parses import ELEPHANTS, RIDER, parsed

PUNKT = ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab")
CAPTIONS = ["Two dogs run (fast).", "A dog runs. It's a big dog!"]


def test_the_draws_come_in_the_order_of_the_released_code() -> None:
    """Its generators are those of the modules, seeded once; each of its functions starts from the caption."""
    random.seed(1)
    np.random.seed(1)
    shuffler = OrderShuffler()
    for sentence in (ELEPHANTS, RIDER):
        doc = parsed(sentence)
        words, tags = [word.text for word in doc], [word.tag_ for word in doc]
        first, second = words.copy(), words.copy()
        for copy, starts in ((first, ("NN",)), (first, ("JJ",)), (second, ("NN", "JJ"))):
            chosen = [row for row, tag in enumerate(tags) if tag.startswith(starts) == (copy is first)]
            for row, word in zip(chosen, np.random.permutation([words[row] for row in chosen]), strict=True):
                copy[row] = str(word)
        threes = [words[start : start + 3] for start in range(0, len(words), 3)]
        within = [three.copy() for three in threes]
        for three in within:
            random.shuffle(three)
        random.shuffle(threes)
        rows = (first, second, *(chain(*three) for three in (within, threes)))
        assert shuffler.shuffled(doc, words) == [" ".join(row) for row in rows]


def test_captions_are_cut_to_thirty_words() -> None:
    assert cut('A "Dog"  (small): #1 ~ sits;\n on 2.5 mats, red-hot!') == "a dog small 1 sits on 2 5 mats, red-hot"
    assert cut(" ".join(map(str, range(40)))) == " ".join(map(str, range(30)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with captions of COCO, and the archives of models, as the command finds them."""
    save_model(tmp_path / "model")
    monkeypatch.setattr(aro_order, "WORDS", aro_order.WORDS.model_copy(update={"sha256": None}))
    pack(tmp_path / "data/archives" / aro_order.WORDS.file, wheel_files(tmp_path / "model"))
    pack(tmp_path / "data/archives/punkt_tab.zip", {f"punkt_tab/english/{name}": b"" for name in PUNKT})
    images = [{"image": "val2014/7.jpg", "caption": CAPTIONS}]
    write_json(tmp_path / "data/vlc/coco/coco_karpathy_test.json", images)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data/vlc"


@pytest.mark.slow
def test_the_command_writes_those_parts_whose_captions_are_there(folder: Path) -> None:
    done = CliRunner().invoke(app, ["data", "aro-order"])
    assert done.exit_code == 0, done.output
    items = json.loads((folder / "aro/coco_order.json").read_text())
    assert [item["image"] for item in items] == ["val2014/7.jpg"] * 2
    assert [item["caption_options"][0] for item in items] == [cut(caption) for caption in CAPTIONS]
    for item in items:
        _, named, others, within, threes = (sorted(option.split()) for option in item["caption_options"])
        assert within == threes and named == others
    assert "flickr30k_order is not drawn" in done.output
    surveyed = survey("aro", folder, with_images=False)
    assert surveyed.suite and [*surveyed.suite.tasks] == ["aro/coco_order"]
    (folder / "aro/coco_order.json").write_text("mine")
    assert CliRunner().invoke(app, ["data", "aro-order"]).exit_code == 0
    assert (folder / "aro/coco_order.json").read_text() == "mine"
