"""Captions as spaCy sees them, by a pipeline that has learnt nothing and is packed as the published one is."""

from pathlib import Path

import pytest
from spacy.language import Language

from recompose.errors import DataError
from recompose.tracks.vlc.data.analysis import CONFIG, annotate, unpack_model
from recompose.tracks.vlc.data.captions import read_docs, write_docs
from tests.errors import raises
from tests.tracks.vlc.data.published import contents, pack, save_model, wheel_files

CAPTIONS = ["Two dogs run on a field.", "a dog runs ", "  ", 'A sign says\t"Go" \n']


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Language]:
    folder = tmp_path_factory.mktemp("saved") / "model"
    return folder, save_model(folder)


@pytest.fixture
def model(saved: tuple[Path, Language], tmp_path: Path) -> Path:
    """The model, unpacked from a wheel."""
    unpack_model(pack(tmp_path / "en_core_web_sm-3.8.0-py3-none-any.whl", wheel_files(saved[0])), tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.slow
def test_the_data_of_a_wheel_is_unpacked_and_nothing_else(saved: tuple[Path, Language], model: Path) -> None:
    assert contents(model) == contents(saved[0])
    assert sorted(path.name for path in model.parent.iterdir()) == ["en_core_web_sm-3.8.0-py3-none-any.whl", "model"]


@pytest.mark.slow
def test_captions_are_seen_as_the_pipeline_sees_them_one_by_one(saved: tuple[Path, Language], model: Path) -> None:
    docs = list(annotate(CAPTIONS, model))
    assert [doc.text for doc in docs] == CAPTIONS
    for doc, caption in zip(docs, CAPTIONS, strict=True):
        alone = saved[1](caption)
        for seen, expected in zip(doc, alone, strict=True):
            assert seen.text_with_ws == expected.text_with_ws
            assert (seen.tag_, seen.pos_, seen.lemma_) == (expected.tag_, expected.pos_, expected.lemma_)
            assert (seen.head.i, seen.dep_) == (expected.head.i, expected.dep_)
    word = docs[0][1]
    assert (word.text, word.tag_, word.pos_, word.lemma_) == ("dogs", "NNS", "NOUN", "dog")  # as ruled


@pytest.mark.slow
def test_they_are_kept_in_an_index(model: Path, tmp_path: Path) -> None:
    docs = list(annotate(CAPTIONS, model))
    write_docs(docs, tmp_path)
    for kept, doc in zip(read_docs(tmp_path), docs, strict=True):
        assert kept.text == doc.text
        assert [(w.tag_, w.pos_, w.lemma_, w.dep_, w.head.i) for w in kept] == [
            (w.tag_, w.pos_, w.lemma_, w.dep_, w.head.i) for w in doc
        ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("captions", "code", "place"),
    [
        (["a dog", None], "no-text", "caption 2"),
        (["a" * 1_000_001], "long-text", "caption 1"),
    ],
)
def test_captions_that_are_no_texts(model: Path, captions: list[str], code: str, place: str) -> None:
    with raises(DataError, code, place):
        annotate(captions, model)  # at once, before the first is asked for


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "code"), [('"tagger", "parser"', '"tagger"', "missing-part"), ("[nlp]", "[nlp", "no-model")]
)
def test_a_model_without_a_part_is_refused(model: Path, old: str, new: str, code: str) -> None:
    config = model / CONFIG
    text = config.read_text()
    assert old in text
    config.write_text(text.replace(old, new, 1))
    with raises(DataError, code, model) as error:
        annotate(["a dog"], model)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_damaged_model_is_refused(model: Path) -> None:
    (model / "tagger" / "model").write_bytes(b"nonsense")
    with raises(DataError, "no-model", model) as caught:
        annotate(["a dog"], model)
    assert "\n" not in str(caught.value)
    with raises(DataError, "missing-file", model.parent / "absent"):
        annotate(["a dog"], model.parent / "absent")


@pytest.mark.parametrize("number", [0, 2])
def test_a_wheel_with_no_model_or_two(saved: tuple[Path, Language], tmp_path: Path, number: int) -> None:
    config = (saved[0] / CONFIG).read_bytes()
    files = {f"{place}/{CONFIG}": config + b"\n" * place for place in range(number)} or {"a/meta.json": b""}
    with pytest.raises(DataError) as caught:
        unpack_model(pack(tmp_path / "model.whl", files), tmp_path / "model")
    assert CONFIG in str(caught.value)
    assert not (tmp_path / "model").exists()
