"""The report in a real browser."""

import base64
import json

import pytest
from browsers import emulate, needs_browser, start_browser, texts_outside
from pages import report

from ellzero.tables import example_table

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser():
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(hostile, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(hostile, encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser, address):
    emulate(browser)
    for log in ("browser", "performance"):
        browser.get_log(log)  # of the test before
    browser.get(address)
    yield browser
    assert browser.get_log("browser") == []


def script(page, code):
    return page.execute_script(f"return {code}")


def test_no_request_leaves_the_page(page, address):
    page.execute_script("document.getElementById('slider').dispatchEvent(new Event('input'))")
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    assert set(asked) <= {address, "data:,"}
    assert address in asked


def test_names_are_text_and_nothing_of_them_runs(page):
    assert page.title == "What goes with y \u2013 ellzero"
    assert script(page, "document.querySelectorAll('script').length") == 2
    assert script(page, "document.images.length") == 0
    table = script(page, "document.getElementById('model').innerText")
    assert "<script>document.title = 'owned'</script>" in table
    assert '"><img src=x onerror=' in table
    assert script(page, "document.getElementById('step-variables').innerText").startswith(
        "<script>"
    )


def test_the_slider_walks_the_models(page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    def shown():
        size = script(page, "document.getElementById('step-size').textContent")
        rows = script(page, "document.querySelectorAll('#step-variables tr').length")
        bands = script(
            page, "[...document.querySelectorAll('.step.on')].map(band => band.dataset.step)"
        )
        return size, rows, bands, script(page, "document.getElementById('step-price').textContent")

    chosen = shown()
    assert script(page, "document.getElementById('step-chosen').hidden") is False
    model = script(page, "document.querySelectorAll('#model tbody tr').length")
    assert chosen[1] == model
    slider = page.find_element(By.ID, "slider")
    slider.send_keys(Keys.HOME)
    first = shown()
    assert first[0] == "no variables"
    assert first[1] == 1  # the intercept
    assert set(first[2]) == {"0"}
    assert first[3].startswith("the solution at prices above")
    assert script(page, "document.getElementById('step-chosen').hidden") is True
    slider.send_keys(Keys.ARROW_RIGHT)
    second = shown()
    assert second[0] != first[0]
    assert second[1] > 1
    slider.send_keys(Keys.END)
    last = shown()
    assert last[1] > second[1]
    page.execute_script(
        "document.querySelector('.wide .step[data-step=\"1\"]').dispatchEvent(new Event('click'))"
    )
    assert shown() == second


def test_dark_light_and_paper(page):
    def colours():
        return [
            script(page, f"getComputedStyle(document.body).{name}")
            for name in ("backgroundColor", "color")
        ]

    def brightness(colour):
        return sum(int(part) for part in colour[4:-1].split(","))

    light = colours()
    assert brightness(light[0]) > 700 > 200 > brightness(light[1])
    emulate(page, "dark")
    dark = colours()
    assert brightness(dark[0]) < 200 < 600 < brightness(dark[1])
    emulate(page, "dark", media="print")
    assert brightness(colours()[0]) == 765
    assert script(page, "getComputedStyle(document.getElementById('walk')).display") == "none"
    emulate(page)
    printed = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert printed.startswith(b"%PDF")


def test_a_phone_needs_no_sideways_scrolling(page, address):
    emulate(page, width=360, mobile=True)
    page.get(address)
    assert script(page, "document.documentElement.scrollWidth") <= 360
    shown = "getComputedStyle(document.querySelector('svg.{}')).display"
    assert script(page, shown.format("narrow")) == "block"
    assert script(page, shown.format("wide")) == "none"


@pytest.fixture(scope="module")
def eleven(tmp_path_factory):
    """A report whose chosen model has eleven variables, and numbers of many digits."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    table = example_table("diabetes")
    page = report(table, target="progression", interactions=True, size=11)
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [360, 400])
def test_tables_of_coefficients_are_seen_whole_on_a_phone(page, eleven, width):
    emulate(page, width=width, mobile=True)
    page.get(eleven)
    for box in ("#walk .scroll", ".scroll:has(#model)"):
        inside, outside = script(
            page,
            f"(box => [box.scrollWidth, box.clientWidth])(document.querySelector('{box}'))",
        )
        assert inside <= outside
        heights = script(
            page,
            f"[...document.querySelectorAll('{box} tbody tr')].map(row => row.clientHeight)",
        )
        assert len(heights) == 12
        assert len(set(heights)) == 1  # (intercept) is on one line


def test_no_line_goes_through_the_words_of_a_chart(page, eleven):
    """They have a rim in the colour of the page, and come after the lines."""
    page.get(eleven)
    struck = script(
        page,
        """[...document.querySelectorAll('svg .note')].filter(text => {
             const style = getComputedStyle(text);
             let after = text.nextElementSibling;
             while (after && !(after.matches('path') && !after.matches('.thin'))) {
               after = after.nextElementSibling;
             }
             return after || !style.paintOrder.startsWith('stroke')
                 || style.stroke !== getComputedStyle(document.body).backgroundColor;
           }).map(text => text.textContent)""",
    )
    assert script(page, "document.querySelectorAll('svg .note').length") >= 2
    assert struck == []


@pytest.mark.parametrize(("kind", "width"), [("wide", 1000), ("narrow", 360)])
def test_everything_is_drawn_inside_its_frame(page, kind, width):
    """No text of a chart reaches out of it, long and odd names included."""
    emulate(page, width=width, mobile=kind == "narrow")
    assert texts_outside(page, kind) == []
