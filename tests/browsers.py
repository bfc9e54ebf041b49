"""A real browser, for tests that look at pages."""

import shutil

import pytest
from patience import PATIENCE

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER),
    reason="no chromium and chromedriver here: make browser installs them",
)


def start_browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(DRIVER))
    browser.set_page_load_timeout(PATIENCE)
    browser.set_script_timeout(PATIENCE)
    return browser


def emulate(browser, scheme="light", media="", width=1000, mobile=False):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [feature]})
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": mobile},
    )


def texts_outside(browser, kind):
    """Return the texts of charts that reach out of their frame."""
    return browser.execute_script(
        f"""return [...document.querySelectorAll('svg.{kind}')].flatMap(svg => {{
             const frame = svg.getBoundingClientRect();
             return [...svg.querySelectorAll('text')].filter(text => {{
               const box = text.getBoundingClientRect();
               return box.left < frame.left - 1 || box.right > frame.right + 1
                   || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
             }}).map(text => text.textContent);
           }})"""
    )
