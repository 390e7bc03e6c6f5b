"""WordNet's files, written by hand: what is unpacked, and what is refused."""

from codecs import BOM_UTF8
from pathlib import Path

import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from recompose.errors import DataError
from recompose.tracks.vlc.data.wordnet import FILES, check, unpack
from recompose.tracks.vlc.text.lexicon import WordNet
from tests.errors import raises
from tests.tracks.vlc.data.published import contents, lexicon_files, pack


def test_the_files_are_those_that_nltk_opens() -> None:
    """All but two, one of which names parts of Princeton's sources, and one of which the reader of the track can do
    without.
    """
    assert {*FILES, "lexnames", "index.sense"} == set(WordNetCorpusReader._FILES)


def test_they_are_those_that_the_track_reads(tmp_path: Path) -> None:
    unpack(pack(tmp_path / "wordnet.zip", lexicon_files()), tmp_path / "lexicon")
    assert WordNet(tmp_path / "lexicon").synsets("dogs", "n")[0].lemmas == ("dog",)


@pytest.mark.parametrize(("archive", "folder"), [("wordnet.zip", "wordnet"), ("WNdb-3.0.tar.gz", "dict")])
def test_archives_of_nltk_and_of_princeton_are_unpacked(tmp_path: Path, archive: str, folder: str) -> None:
    files = lexicon_files()
    more = {"wordnet/README": b"", f"{folder}/lexnames": b"", f"{folder}/frames.vrb": b""}
    path = pack(tmp_path / archive, {**{f"{folder}/{name}": content for name, content in files.items()}, **more})
    unpack(path, tmp_path / "corpus/lexicon")
    assert contents(tmp_path / "corpus") == {f"lexicon/{name}": content for name, content in files.items()}
    check(tmp_path / "corpus/lexicon")


def test_a_byte_order_mark_before_an_index_is_passed_over(tmp_path: Path) -> None:
    files = {name: BOM_UTF8 + file if name.startswith("index.") else file for name, file in lexicon_files().items()}
    unpack(pack(tmp_path / "wordnet.zip", files), tmp_path / "lexicon")
    assert WordNet(tmp_path / "lexicon").synsets("dogs", "n")[0].lemmas == ("dog",)


def check_refused(tmp_path: Path, files: dict[str, bytes], code: str, place: str) -> None:
    path = pack(tmp_path / "wordnet.zip", {f"wordnet/{name}": content for name, content in files.items()})
    with raises(DataError, code, f"{path}: {place}") as caught:
        unpack(path, tmp_path / "lexicon")
    assert not (tmp_path / "lexicon").exists() and [file.name for file in tmp_path.iterdir()] == ["wordnet.zip"]
    assert "\n" not in str(caught.value)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    name = "index.verb"
    files = lexicon_files()
    del files[name]
    check_refused(tmp_path, files, "missing-file", name)


def test_another_release_is_refused(tmp_path: Path) -> None:
    files = lexicon_files()
    files["data.adj"] = files["data.adj"].replace(b"3.0", b"3.1")
    check_refused(tmp_path, files, "other-release", "data.adj")
