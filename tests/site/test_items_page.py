"""The page of items: hostile names and captions stay text, nothing comes from elsewhere, absent images are said."""

import base64
import hashlib
from pathlib import Path

import pytest
from PIL import Image
from selenium.webdriver import Chrome
from selenium.webdriver.support.ui import Select

from recompose.data.pictures import Picture
from recompose.harness.item_views import items_page
from recompose.harness.items import ItemOutcome, ItemSheet, differing_items, worst_items
from recompose.tracks.vlc.suites.judges import ItemContent, ScoredPair
from tests.site.browsing import all_of, one, open_address, until_equal
from tests.site.test_site import Reader, text_of

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \" onfocus='x' {{ 7 * 7 }}"


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
    content = reader.root
    loading = ("script", "style", "img", "link", "iframe", "base", "object")
    assert sorted(tag for tag, *_ in reader.tags if tag in loading) == ["img", "script", "style"]
    assert not [name for _, *names in reader.tags for name in names if name.startswith("on")]
    (source,) = (each.attrib["src"] for each in content.iter("img"))
    assert source.startswith("data:image/jpeg;base64,") and len(source) < 5_000
    assert f"{HOSTILE} 0" in text_of(content) and text_of(content).count("No image: ") == 2
    articles = [each.attrib for each in content.iter("article")]
    assert [each["data-category"] for each in articles] == [f"a/{HOSTILE}", "a/tie"][: 1 if differing else 2]
    assert articles[0]["data-outcome"] == ("wrong right" if differing else "wrong")


def test_only_its_own_style_and_script_may_run(root: Path) -> None:
    content = Reader(items_page(worst_items(sheet(root), 9))).root
    (policy,) = (each.attrib["content"] for each in content.iter("meta") if "http-equiv" in each.attrib)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["img-src"] == "data:"
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(text_of(content.find(f".//{tag}")).encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"


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
