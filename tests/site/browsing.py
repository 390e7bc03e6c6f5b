"""A page in a browser: what tests ask of it, and how they wait for its answers."""

from collections.abc import Callable
from typing import Any, TypeVar

from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

Answer = TypeVar("Answer")


def open_address(browser: Chrome, address: str) -> None:
    """Open a page; logs begin with it."""
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(address)


def until(browser: Chrome, condition: Callable[[Chrome], Answer]) -> Answer:
    """Wait for what is expected: beside busy processes a page or the answer to a click may take seconds."""
    return WebDriverWait(browser, 60).until(condition)


def until_equal(browser: Chrome, look: Callable[[], Answer], expected: Answer) -> None:
    """Wait until the page shows what is expected; what it shows in its place is the message of a failure."""
    try:
        until(browser, lambda _: look() == expected)
    except Exception:
        assert look() == expected
        raise


def until_focused(browser: Chrome, element: WebElement) -> None:
    """Wait until keys go to an element."""
    until(browser, lambda each: each.switch_to.active_element == element)


def one(within: Any, selector: str) -> WebElement:
    (found,) = within.find_elements(By.CSS_SELECTOR, selector)
    return found


def all_of(within: Any, selector: str) -> list[WebElement]:
    return list(within.find_elements(By.CSS_SELECTOR, selector))


def dialog(browser: Chrome) -> WebElement:
    """The dialog, which a press or an address opens."""
    shown = one(browser, "dialog")
    until(browser, lambda _: shown.is_displayed())
    return shown
