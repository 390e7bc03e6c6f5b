"""Take the README's picture of the page: ``python docs/picture.py``, once reports/demo is what is to be seen.

Chromium and its driver have to be on the path.
"""

import shutil
from pathlib import Path
from urllib.parse import quote

from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).parents[1]
CELL = ("msci/table-2", "MSCI", "shapes-pairs AUC", "exact")  # artifact, row, column, view: the pressed number
SIZE = (1280, 860)
PATIENCE = 60  # seconds


def main() -> None:
    """Open the page at the number, and save what is seen."""
    options = Options()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", f"--window-size={SIZE[0]},{SIZE[1]}"):
        options.add_argument(argument)
    browser = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        cell = "&".join(quote(part, safe="-_.!~*'()") for part in CELL)
        browser.get(f"{(ROOT / 'reports/demo/index.html').as_uri()}#{cell}")
        dialog = browser.find_element(By.CSS_SELECTOR, "dialog")
        WebDriverWait(browser, PATIENCE).until(lambda _: dialog.is_displayed())
        browser.save_screenshot(str(ROOT / "docs/images/page.png"))
    finally:
        browser.quit()


if __name__ == "__main__":
    main()
