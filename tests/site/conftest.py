"""A browser for all tests of pages."""

import shutil
from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

PROGRAMS = ("chromium", "chromedriver")
STARTED_WITH = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Chrome]:
    """A browser without a network, which reports what it asks for and what goes wrong."""
    paths = {name: path for name in PROGRAMS if (path := shutil.which(name))}
    if len(paths) < len(PROGRAMS):
        pytest.skip(f"no browser to test with: {PROGRAMS} are needed, and {[*paths]} found")
    options = Options()
    options.binary_location = paths["chromium"]
    for argument in STARTED_WITH:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(paths["chromedriver"]))
    driver.execute_cdp_cmd("Network.enable", {})
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    yield driver
    driver.quit()
