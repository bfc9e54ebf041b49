"""The page in a real browser."""

import pytest
from browsers import emulate, needs_browser, start_browser

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser():
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 360])
def test_the_page_shows_its_figures_and_fits(browser, pages, scheme, width):
    emulate(browser, scheme=scheme, width=width, mobile=width < 500)
    browser.get(pages.as_uri())
    widths = browser.execute_script("return [...document.images].map(i => i.naturalWidth)")
    assert len(widths) == 2
    assert min(widths) > 300
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.get_log("browser") == []
    sent = [entry["message"] for entry in browser.get_log("performance")]
    assert not any('"url":"http' in message for message in sent)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    from ellzero.paper import reproduce

    return reproduce(["posterior-means", "penalties"], tmp_path_factory.mktemp("paper"))
