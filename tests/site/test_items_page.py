"""The page of items: hostile names and captions stay text, nothing comes from elsewhere, absent images are said."""

import base64
import hashlib
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image
from selenium.webdriver import Chrome
from selenium.webdriver.support.ui import Select

from recompose.data.pictures import Picture
from recompose.harness.item_page import items_page, thumbnail
from recompose.harness.items import ItemOutcome, ItemSheet, differing_items, worst_items
from recompose.tracks.vlc.suites.judges import ItemContent, ScoredPair
from tests.site.browsing import all_of, one, open_address, until_equal

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \" onfocus='x' {{ 7 * 7 }}"


class Reader(HTMLParser):
    """All tags with their attributes, and the text outside of them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.inside: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self.tags and self.tags[-1][0] in ("script", "style"):
            self.inside.setdefault(self.tags[-1][0], data)


def sheet(root: Path, *, right: bool = False, title: str = HOSTILE) -> ItemSheet:
    """Two items with hostile texts: one with images, of which one is absent and one is outside; and one of texts."""
    outcomes = (
        ItemOutcome("mine/a", 0, f"a/{HOSTILE}", 0.1 if right else -0.5, right, False),
        ItemOutcome("mine/a", 1, "a/tie", 0.0, False, True),
    )
    images = (Picture("here.png"), Picture(f"absent {HOSTILE}.png"), Picture("../outside.png"))
    contents = [
        ItemContent(images, tuple(ScoredPair(place, f"{HOSTILE} {place}", 0.25, place == 0) for place in range(3))),
        ItemContent((), (ScoredPair(None, "one", None, True, HOSTILE),), HOSTILE),
    ]
    return ItemSheet(
        title, HOSTILE, outcomes, 3, "a difference", root, {"mine/a": ""}, lambda one: contents[one.number]
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    Image.new("RGB", (900, 300), "red").save(tmp_path / "raw" / "here.png")
    Image.new("RGB", (9, 9), "red").save(tmp_path / "outside.png")
    return tmp_path / "raw"


@pytest.mark.parametrize("differing", [False, True])
def test_hostile_texts_stay_texts(root: Path, differing: bool) -> None:
    first, second = sheet(root), sheet(root, right=True, title="other")
    page = items_page(differing_items(first, second, 9) if differing else worst_items(first, 9))
    reader = Reader(page)
    counts = [tag for tag, _ in reader.tags]
    assert counts.count("script") == 1 and counts.count("style") == 1 and counts.count("img") == 1
    assert not [name for _, attributes in reader.tags for name in attributes if name.startswith("on")]
    assert not [attributes for tag, attributes in reader.tags if tag in ("link", "iframe", "base", "object")]
    sources = [str(attributes["src"]) for _, attributes in reader.tags if "src" in attributes]
    assert len(sources) == 1 and sources[0].startswith("data:image/jpeg;base64,")
    assert f"{HOSTILE} 0" in reader.texts and HOSTILE in reader.texts
    assert len([text for text in reader.texts if text.startswith("No image: ")]) == 2
    articles = [attributes for tag, attributes in reader.tags if tag == "article"]
    assert [attributes["data-category"] for attributes in articles] == [f"a/{HOSTILE}", "a/tie"][
        : 1 if differing else 2
    ]
    assert articles[0]["data-outcome"] == ("wrong right" if differing else "wrong")


def test_only_its_own_style_and_script_may_run(root: Path) -> None:
    reader = Reader(items_page(worst_items(sheet(root), 9)))
    policy = next(str(attributes["content"]) for _, attributes in reader.tags if "http-equiv" in attributes)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["img-src"] == "data:"
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(reader.inside[tag].encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"


def test_thumbnails_are_small_and_faults_are_words(root: Path) -> None:
    small = thumbnail(Picture("here.png"), root)
    assert small.address and len(small.address) < 5_000
    (root / "damaged.png").write_bytes(b"x")
    faults = [thumbnail(Picture(name), root) for name in ("absent.png", "damaged.png", "../outside.png")]
    assert all(one.fault and not one.address for one in faults)
    assert faults[0].fault != faults[1].fault


def test_items_are_filtered_in_a_browser(browser: Chrome, root: Path, tmp_path: Path) -> None:
    file = tmp_path / "items.html"
    file.write_text(items_page(worst_items(sheet(root), 9)), encoding="utf-8")
    open_address(browser, file.as_uri())

    def shown() -> list[bool]:
        return [item.is_displayed() for item in all_of(browser, ".item")]

    until_equal(browser, shown, [True, True])
    for name, text, expected in (
        ("outcome", "ties", [False, True]),
        ("outcome", "right", [False, False]),
        ("category", "a/tie", [False, True]),
    ):
        choice = Select(one(browser, f"[name={name}]"))
        choice.select_by_visible_text(text)
        until_equal(browser, shown, expected)
        choice.select_by_index(0)
        until_equal(browser, shown, [True, True])
    one(browser, "[name=text]").send_keys("Mine/A, item 1")
    until_equal(browser, shown, [False, True])
    assert browser.get_log("browser") == []  # nothing was refused by the policy
