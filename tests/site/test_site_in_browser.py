"""The report site as people use it: in a browser, from disk, without a network."""

import csv
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from recompose.audit.audit import audit
from recompose.claims.verdicts import VERDICTS
from recompose.papers import declaration
from recompose.parts.cells import Cell
from recompose.recipes.state import STATES
from recompose.site.build import page_of
from recompose.tables.provenance import Provenance
from recompose.tables.published import Published
from recompose.tables.reports import Reports
from recompose.workspace import Workspace
from tests.audit.worlds import copy_of
from tests.conftest import Project
from tests.site.browsing import all_of, dialog, one, open_address, until, until_equal, until_focused
from tests.site.test_site import HOSTILE, Toy

CELL = ("msci/table-2", "chance", "shapes-pairs AUC", "exact")  # artifact, row, column, view
# of every text that is seen: what it is in, its colour, and that of the nearest ground below it
COLOURS = """
const ground = (node) => {
  for (let at = node; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (!colour.endsWith(", 0)")) return colour;
  }
};
const found = {};
for (const node of document.querySelectorAll("body *")) {
  const said = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
  if (!said || !node.checkVisibility() || node.closest("script, style, noscript")) continue;
  const place = `${node.closest("dialog") ? "dialog " : ""}${node.tagName} ${node.className}`;
  found[`${place} ${getComputedStyle(node).color} ${ground(node)}`] = [getComputedStyle(node).color, ground(node)];
}
return found;
"""


@pytest.fixture
def opened(browser: Chrome, chance_project: Project) -> Chrome:
    """The browser with the site of the finished project, which no test here changes."""
    return open_page(browser, chance_project.published)


def open_page(browser: Chrome, reports: Path, fragment: str = "") -> Chrome:
    open_address(browser, (reports / "index.html").as_uri() + fragment)
    until(browser, lambda each: all_of(each, "main article"))
    browser.execute_async_script("unpacked.then(arguments[0], arguments[0])")  # before, no address opens a number
    return browser


def cell_at(browser: Chrome, cell: tuple[str, str, str, str] = CELL) -> WebElement:
    """The button of a measured number, found by what stands beside and above it."""
    artifact, row, column, _ = cell
    table = all_of(one(browser, f"article#{artifact.replace('/', '-')}"), "table")[0]
    place = headers(table).index(("measured", column))
    line = next(each for each in all_of(table, "tbody tr") if one(each, "th .name").text == row)
    return one(all_of(line, "td")[place], "button")


def headers(table: WebElement) -> list[tuple[str, str]]:
    """Group and name of each column but the first."""
    found = all_of(table, "thead tr:last-child th")[1:]
    return [(str(each.get_attribute("class")), " ".join(one(each, "button").text.split())) for each in found]


def commands(browser: Chrome) -> list[str]:
    lines = [line for block in all_of(dialog(browser), "pre") for line in block.text.splitlines()]
    return [line.removesuffix(" &&") for line in lines]


def address(cell: tuple[str, str, str, str]) -> str:
    return "#" + "&".join(quote(part, safe="-_.!~*'()") for part in cell)


def cell_told(project: Project, cell: tuple[str, str, str, str] = CELL) -> Cell:
    artifact, *place = cell
    cells = Provenance.read(project.published).artifacts[artifact].cells
    return next(each for each in cells if [each.row, each.column, each.view] == place)


def test_it_opens_from_disk_without_a_network_and_without_complaint(opened: Chrome) -> None:
    assert opened.title.startswith("Recompose")
    one(opened, "h1")
    assert all_of(opened, ".headline") == []  # chance is nobody's own method
    messages = [json.loads(each["message"])["message"] for each in opened.get_log("performance")]
    asked = [each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent"]
    assert any(url.endswith("index.html") for url in asked)
    assert {url.partition(":")[0] for url in asked} <= {"file", "data", "about"}
    assert opened.get_log("browser") == []


def column_shown(table: WebElement, place: int) -> list[str]:
    return [all_of(line, "td")[place].text for line in all_of(table, "tbody tr")]


def test_a_column_sorts(opened: Chrome, chance_project: Project) -> None:
    table = all_of(opened, "article#msci-table-2 table")[0]
    place = headers(table).index(("reported", "mit-states AUC"))
    header = all_of(table, "thead tr:last-child th")[place + 1]
    with (chance_project.published / "msci/table-2.csv").open(newline="") as file:
        lines = [each for each in csv.DictReader(file) if each["column"] == "mit-states AUC"]
    values = [each for each in lines if each["value"]]
    for key, order in ((Keys.ENTER, "descending"), (Keys.SPACE, "ascending"), (None, "descending")):
        button, falling = one(header, "button"), order == "descending"
        button.send_keys(key) if key else button.click()
        expected = [each["text"] for each in sorted(values, key=lambda each: float(each["value"]), reverse=falling)]
        until_equal(opened, lambda: header.get_attribute("aria-sort"), order)
        shown = column_shown(table, place)
        assert shown[: len(expected)] == expected
        assert set(shown[len(expected) :]) <= {"", "-"}  # rows without a number stay below, either way
        assert len(all_of(table, "[aria-sort]")) == 1


def test_rows_that_are_only_printed_stay_below_and_names_sort(opened: Chrome) -> None:
    table = all_of(opened, "article#msci-table-2 table")[0]
    place = headers(table).index(("measured", "shapes-pairs AUC"))
    button = one(all_of(table, "thead tr:last-child th")[place + 1], "button")
    for order in ("descending", "ascending"):
        button.click()
        until(opened, lambda _, order=order: all_of(table, f"[aria-sort={order}]"))
        has_number = [bool(text) and text != "not run" for text in column_shown(table, place)]
        assert has_number == sorted(has_number, reverse=True)
        assert any(has_number)
        assert not all(has_number)
    names = all_of(table, "thead tr:last-child th")[0]
    one(names, "button").click()
    until_equal(opened, lambda: names.get_attribute("aria-sort"), "ascending")
    shown = [each.text for each in all_of(table, "tbody th .name")]
    assert shown == sorted(shown, key=str.lower)


def test_a_number_leads_to_its_runs_and_esc_back_to_it(opened: Chrome, chance_project: Project) -> None:
    number, known = cell_at(opened), cell_told(chance_project)
    assert number.text == known.text
    number.send_keys(Keys.ENTER)
    shown = dialog(opened)
    assert shown.accessible_name == "chance, shapes-pairs AUC"
    assert one(shown, ".value").text == known.text
    recipes = Provenance.read(chance_project.published).recipes
    for closed in all_of(shown, "details:not([open]) summary"):
        closed.click()
    until_equal(opened, lambda: all_of(shown, "details:not([open])"), [])
    for key, value in zip(known.made_from, known.values, strict=True):
        for text in (key, recipes[key].digest, f"{value:.1f}"):  # an AUC has one digit
            assert text in shown.text
    assert "none: as in params.yaml" in shown.text
    ActionChains(opened).send_keys(Keys.ESCAPE).perform()
    until(opened, lambda _: not shown.is_displayed())
    until_focused(opened, number)
    until(opened, lambda each: "#" not in each.current_url)


def test_the_commands_shown_do_what_they_say(browser: Chrome, chance: Project) -> None:
    """One traces the number; what is discarded as another says is made again, by a third, to the same number."""
    cell_at(open_page(browser, chance.published)).click()
    table, known = chance.table(), cell_told(chance)
    details = all_of(dialog(browser), "details:not([open])")[0]
    one(details, "summary").click()
    until(browser, lambda _: details.get_attribute("open"))
    lines = commands(browser)
    (trace,) = [shlex.split(line) for line in lines if line.startswith("recompose trace")]
    traced = chance.recompose(*trace[1:], "--full").stdout
    assert all(text in traced for text in (*known.made_from, known.text))
    (made,) = [shlex.split(line) for line in lines if line.startswith("recompose make")]
    discard = [shlex.split(line) for line in lines if line.startswith("recompose store discard")]
    assert [line[-1] for line in discard] == known.made_from
    for line in discard:
        chance.recompose(*line[1:])
    assert not {*known.made_from} & chance.runs().keys()
    assert known.text in chance.recompose(*made[1:]).stdout
    assert {*known.made_from} <= chance.runs().keys()
    assert chance.table() == table


def test_a_command_is_selected_where_there_is_no_clipboard(opened: Chrome) -> None:
    opened.execute_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    cell_at(opened).click()
    block = all_of(dialog(opened), ".command")[0]
    one(block, "button").click()
    until(opened, lambda _: one(block, "button").text.startswith("selected"))
    assert opened.execute_script("return getSelection().toString()").strip() == one(block, "pre").text


def test_an_address_opens_its_number_also_where_it_is_folded_away(browser: Chrome, chance_project: Project) -> None:
    for view in ("exact", "field"):
        cell = (*CELL[:3], view)
        text = cell_told(chance_project, cell).text
        open_page(browser, chance_project.published, address(cell))
        assert one(dialog(browser), ".value").text == text
        assert f"--view {view}" in " ".join(commands(browser))
        one(dialog(browser), ".close").click()
        until_equal(browser, lambda: browser.switch_to.active_element.text, text)
        assert browser.switch_to.active_element.is_displayed()


def test_a_number_has_the_address_that_opens_it(opened: Chrome) -> None:
    cell_at(opened).click()
    until(opened, lambda each: each.current_url.endswith(address(CELL)))


def test_the_first_key_skips_to_the_papers(opened: Chrome) -> None:
    ActionChains(opened).send_keys(Keys.TAB).perform()
    until(opened, lambda each: "Skip" in each.switch_to.active_element.text)
    skip = opened.switch_to.active_element
    assert skip.rect["x"] >= 0  # it is seen as soon as it is reached
    skip.send_keys(Keys.ENTER)
    until_focused(opened, one(opened, "main"))


def test_the_first_screen_leads_to_an_outdated_number(browser: Chrome, chance_project: Project, tmp_path: Path) -> None:
    root = copy_of(chance_project.root, tmp_path / "project")
    Project(root).set({"profiles.smoke.czsl.seeds": [0]})
    reports = Reports(Workspace(root))
    published = Published.read(reports)
    audited = audit(reports, published, reports.work.papers, quick=True)
    (reports.work.reports / "index.html").write_text(page_of(reports, published, audited))
    open_page(browser, Project(root).published)
    assert "found problems" in one(browser, "#audit-heading").text
    lead = all_of(browser, "header a.mark.outdated")[0]
    lead.click()
    until(browser, lambda each: "#" in each.current_url)
    article = one(browser, browser.current_url.partition("#")[2].join(("[id='", "']")))
    marked = [each for each in all_of(article, "td, li") if each.is_displayed() and all_of(each, ".mark.outdated")]
    one(marked[0], "button").click()
    assert one(dialog(browser), ".mark").text == "outdated"
    assert "chance/shapes-pairs/1 is no longer planned" in dialog(browser).text
    assert "made.json" in dialog(browser).text


def brightness(colour: str) -> float:
    """The relative luminance of a colour, as WCAG 2 defines it."""
    channels = [float(each) / 255 for each in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    dark, light = sorted((brightness(first), brightness(second)))
    return (light + 0.05) / (dark + 0.05)


def show_as(browser: Chrome, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def test_texts_stand_out_in_light_and_in_dark(opened: Chrome) -> None:
    marks = [f"mark {state}" for state in STATES]
    marks += [f"verdict {verdict.replace(' ', '-')}" for verdict in VERDICTS]
    add = (
        "for (const name of arguments[0]) for (const at of document.querySelectorAll('main p, .facts p, dialog "
        "p')) at.insertAdjacentHTML('beforeend', `<span class='${name}'>x</span>`)"
    )
    cell_at(opened).click()
    opened.execute_script(add, marks)
    grounds = {}
    try:
        for scheme in ("light", "dark"):
            show_as(opened, scheme)
            found = opened.execute_script(COLOURS)
            assert len(found) > 40
            poor = {place: contrast(*pair) for place, pair in found.items() if contrast(*pair) < 4.5}
            assert not poor
            grounds[scheme] = opened.execute_script("return getComputedStyle(document.body).backgroundColor")
    finally:
        show_as(opened, "light")
    assert brightness(grounds["light"]) > 0.8 > 0.2 > brightness(grounds["dark"])


def test_paper_shows_everything_that_is_folded(opened: Chrome) -> None:
    opened.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    assert all_of(opened, "main details:not(.runs)")
    assert not all_of(opened, "main details:not(.runs):not([open])")


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which declarations are looked for."""
    monkeypatch.setattr(declaration, "FOLDER", tmp_path / "papers")
    return tmp_path


def test_the_first_screen_leads_to_the_runs_of_a_papers_own_method(browser: Chrome, toys: Path) -> None:
    toy = Toy(toys)
    for cell in toy.cells:
        cell["names"] = ["toy"] if cell["row"] == "A" else ["csp"]
    (toys / "reports/index.html").write_text(toy.html)
    number = one(open_page(browser, toys / "reports"), ".headline")
    assert number.rect["y"] + number.rect["height"] < browser.execute_script("return innerHeight")
    number.click()
    assert one(dialog(browser), ".value").text == "12.0 ± 1.0"
    found = [[each.text for each in all_of(line, "th, td")][:3] for line in all_of(dialog(browser), "tbody tr")]
    assert found == [[each.key, str(n), f"{10 + 2 * n}.0"] for n, each in enumerate(toy.evaluations)]
    assert "recompose make --cell 'reports/demo/toy/table-1#A/d AUC/exact'" in commands(browser)
    assert "settings.lr=0.5 (params.yaml: " in dialog(browser).text
    one(dialog(browser), ".close").click()
    until_focused(browser, number)


def test_hostile_names_run_nothing(browser: Chrome, toys: Path) -> None:
    text = " ".join(HOSTILE)
    toy = Toy(toys, lambda name: f"{text} {name}")
    toy.states[f"{text} B", f"{text} d AUC"] = "outdated"
    (toys / "reports/index.html").write_text(toy.html)
    open_page(browser, toys / "reports")
    all_of(browser, "article#toy-table-1 td .number")[0].click()
    assert one(dialog(browser), "h2").get_property("textContent") == f"{text} A, {text} d AUC"
    trace = next(each for each in all_of(dialog(browser), "pre") if each.text.startswith("recompose trace"))
    arguments = shlex.split(str(trace.get_property("textContent")))
    assert arguments[arguments.index("--row") + 1] == f"{text} A"
    assert arguments[arguments.index("--column") + 1] == f"{text} d AUC"
    assert browser.execute_script("return document.scripts.length") == 2
    assert browser.get_log("browser") == []


@pytest.fixture
def phone(opened: Chrome) -> Iterator[Chrome]:
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield opened
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_search_finds_rows_tables_claims_and_numbers(opened: Chrome) -> None:
    field = one(opened, "#search")

    def hits() -> list[str]:
        return [each.text for each in all_of(opened, "#hits .kind")]

    for text, kind in (("troika", "row"), ("msci table 2", "table"), ("best-auc-in-closed-world", "claim")):
        field.clear()
        field.send_keys(text)
        until(opened, lambda _, kind=kind: kind in hits())
    field.send_keys(Keys.ENTER)
    until(opened, lambda each: all_of(each, ".hit"))
    found = one(opened, ".hit")
    assert "closed world" in found.text or "close-world" in found.text
    until_focused(opened, found)
    shown = all_of(opened, "article td[data-value]")[0]
    field.clear()
    field.send_keys(shown.text)
    until(opened, lambda _: "number" in hits())
    assert all(hit.text.split()[1].startswith(shown.text.split()[0]) for hit in all_of(opened, "#hits button")[:1])
    field.clear()
    field.send_keys("zzzz")
    until_equal(opened, hits, [])
    assert one(opened, "#hits [role=status]").is_displayed()


def test_the_bar_says_in_which_paper_one_is(opened: Chrome) -> None:
    for paper in all_of(opened, "section.paper"):
        opened.execute_script("arguments[0].querySelector('article').scrollIntoView()", paper)
        name = paper.get_attribute("id")
        until_equal(opened, lambda: [each.text for each in all_of(opened, ".names [aria-current]")], [name])


@pytest.mark.parametrize("fragment", ["#nothing", "#msci%2Ftable-2&Nobody&x&exact", "#%E0%A4%A", "#a&b"])
def test_an_unknown_address_says_so(browser: Chrome, chance_project: Project, fragment: str) -> None:
    open_page(browser, chance_project.published, fragment)
    until(browser, lambda each: "nothing at" in one(each, "#notice").text)
    assert not one(browser, "dialog").is_displayed()


def test_a_phone_scrolls_tables_and_not_the_page(phone: Chrome) -> None:
    phone.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    assert phone.execute_script("return document.documentElement.scrollWidth") <= 390
    wide = "return [...document.querySelectorAll('.scroll')].some((each) => each.scrollWidth > each.clientWidth)"
    assert phone.execute_script(wide)
    region = one(phone, "article#msci-table-2 > .scroll")
    phone.execute_script("arguments[0].scrollLeft = 200", region)
    name = all_of(region, "tbody th .name")[0]
    assert 0 <= name.rect["x"] < 390  # the row's name stays
    phone.execute_script("arguments[0].scrollLeft = 0", region)
    cell_at(phone).click()
    assert dialog(phone).rect["width"] <= 390
    assert phone.execute_script("return document.documentElement.scrollWidth") <= 390


OVERFLOW = "return [...document.querySelectorAll(arguments[0])].map((each) => each.scrollWidth - each.clientWidth)"


def test_a_phone_shows_the_runs_and_the_drawing_of_a_lineage_whole(phone: Chrome) -> None:
    button = cell_at(phone)
    phone.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    assert phone.execute_script(OVERFLOW, "dialog .scroll") == [0, 0]  # the runs, and the drawing
    assert all(each.rect["x"] + each.rect["width"] <= 390 for each in all_of(dialog(phone), "thead th, .node rect"))
    boxes = [each.rect for each in all_of(dialog(phone), ".node rect")]
    places = {(round(box["x"]), round(box["y"])) for box in boxes}
    assert len(places) == len(boxes) > 3
    tops = {str(each.get_attribute("class")): each.rect["y"] for each in all_of(dialog(phone), ".node")}
    assert tops["node goal"] == max(tops.values())  # the number stands below what it was made from


def test_a_press_enlarges_a_figure(phone: Chrome) -> None:
    button = all_of(phone, ".enlarge")[0]
    phone.execute_script("arguments[0].scrollIntoView()", button)
    button.send_keys(Keys.ENTER)
    large = one(dialog(phone), "img")
    assert large.rect["width"] >= int(str(large.get_property("naturalWidth")))  # with its frame
    assert phone.execute_script("return document.documentElement.scrollWidth") <= 390


def test_the_drawing_of_a_lineage_leads_to_details_by_keyboard(opened: Chrome, chance_project: Project) -> None:
    cell_at(opened).click()
    nodes = all_of(dialog(opened), ".graph g[data-jump]")
    keys = [str(each.get_attribute("data-jump")) for each in nodes]
    known = cell_told(chance_project).made_from
    assert {*known} <= {*keys}
    assert any(key.startswith("data/") for key in keys)
    nodes[keys.index(known[-1])].send_keys(Keys.ENTER)
    until(opened, lambda each: known[-1] in each.switch_to.active_element.text)
    target = opened.switch_to.active_element
    assert target.find_element(By.XPATH, "..").get_attribute("open")
