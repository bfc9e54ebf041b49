"""The report on a series, as text and in a real browser."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest
from browsers import emulate, needs_browser, start_browser, texts_outside
from pages import IMAGE, SCRIPT
from test_report import ODD, Reader

from ellzero import segment
from ellzero.datasets import make_spikes
from ellzero.report import make_series_report
from ellzero.report._series_charts import times
from ellzero.segmentation._summary import MOST_FOLLOWED, follow_jumps, summarise_series


def series_report(y, lam="auto", *, column="level", time=None, label=str, **options):
    found = segment(y, lam, **options)
    positive = options.get("jumps") == "positive"
    content = {
        "ellzero": "1.0",
        "command": "ellzero segment 'a </style> b'",
        "data": {"name": "<b>t</b>.csv", "sha256": "0" * 64, "column": column, "time": time},
        **summarise_series(found, label, positive=positive, follow=True),
    }
    json.dumps(content, allow_nan=False)
    return make_series_report(found, content, label), content


def steps(n=300, seed=0):
    levels = np.repeat([1.0, 4.0, 2.0], n // 3)
    return levels + 0.5 * np.random.default_rng(seed).normal(size=len(levels))


@pytest.fixture(scope="module")
def hostile():
    """A series whose names would like to be more than text."""
    names = {"column": SCRIPT, "time": IMAGE}
    return series_report(steps(), label=lambda at: f"</td><i>{at}</i>", **names)[0]


def words(page):
    return " ".join(" ".join(Reader(page).text).split())


def test_names_are_text(hostile):
    page = Reader(hostile)
    assert "script" not in page.tags
    assert not {"img", "i", "b"} & set(page.tags)
    assert SCRIPT in words(hostile)
    assert "</td><i>100</i>" in words(hostile)
    assert not [a for a in page.attributes if a[1].startswith("on")]
    odd = series_report(steps(), column=ODD, label=lambda at: f"{ODD}{at}")[0]
    for char in ODD:
        assert char.isprintable() or char not in odd


def test_nothing_is_asked_of_the_network(hostile):
    links = [(t, v) for t, name, v in Reader(hostile).attributes if name in ("src", "href")]
    assert links == [("link", "data:,")]
    assert "url(" not in hostile
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', hostile).group(1)
    policy = policy.replace("&#39;", "'").replace("&#43;", "+")
    assert policy.startswith("default-src 'none'")
    assert "script-src" not in policy
    inside = re.findall(r"<style>(.*?)</style>", hostile, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy


def test_what_a_report_says():
    page, content = series_report(steps())
    text = words(page)
    assert "In 300 samples there are two jumps ." in text
    assert [jump["index"] for jump in content["changepoints"]] == [100, 200]
    weakest = min(content["changepoints"], key=lambda jump: jump["dropped_at"])
    assert f"The first to go is that of {weakest['label']}" in text
    assert f"{times(weakest['dropped_at'] / content['lam'])} \u00d7 the price" in text
    assert {jump["gone_below"] for jump in content["changepoints"]} == {None}
    assert content["followed_down_to"] == content["lam"] / 2
    assert "\u2264 0.5 \u00d7" in text
    assert "no correlation from one sample to the next" in text
    assert "the optimum of half the squared error" in text
    assert 'id="warnings"' not in page
    assert "None" not in text
    assert "nan" not in text.split()


@pytest.mark.filterwarnings("ignore::ellzero._warnings.PiecesWarning")
@pytest.mark.parametrize(
    ("y", "options", "said"),
    [
        (np.random.default_rng(1).normal(size=200), {}, "there is no jump"),
        (np.random.default_rng(1).normal(size=200).cumsum(), {}, "cannot be told from drift"),
        (steps(), {"lam": 3.0}, "It was given."),
        (steps(), {"lam": "bic"}, "It is that of BIC"),
        (steps(), {"lam": "cv"}, "odd and even samples"),
        (steps(), {"lam": 0.0}, "At no price nothing is dropped"),
        (make_spikes(4000, decay=0.95, random_state=1)[0], {"decay": 0.95}, "The spikes"),
        (np.r_[np.nan, np.nan, steps(), np.nan], {}, "three samples are missing"),
        (np.r_[np.full(5, np.nan), 1.0], {}, "there is no jump"),
        (np.zeros(30), {}, "there is no jump"),
        (np.repeat([0.0, 1.0], 20), {}, "one jump , at 20"),
        (steps() * 1e140, {}, "two jumps"),
        (steps() * 1e-140, {}, "two jumps"),
        ([2.0], {"lam": 1.0}, "there is no jump"),
        (np.tile([0.0, 9.0], 150), {"lam": 0.1}, "too many jumps to follow"),
    ],
)
def test_every_kind_of_series_has_a_report(y, options, said):
    page, content = series_report(y, **options)
    assert page.endswith("</html>")
    assert said in words(page)
    text = words(page)
    assert "None" not in text
    assert "nan" not in text.lower().split()
    if len(content["changepoints"]) > MOST_FOLLOWED:
        assert {jump["dropped_at"] for jump in content["changepoints"]} == {None}


def test_a_jump_that_gives_way_to_others():
    """At a low price two jumps take the place of one in between."""
    y = np.repeat([0.0, 0.6, 1.4, 2.0], [100, 5, 5, 100])
    found = segment(y, 1.5)
    assert found.changepoints.tolist() == [105]
    lowest, ends = follow_jumps(found, positive=False)
    assert lowest == 0.75
    for (low, high), (first, last) in zip(ends, found.locations(), strict=True):
        for price, there in ((low * 1.001, True), (low * 0.999, low == lowest)):
            jumps = segment(y, price).changepoints
            assert ((jumps >= first) & (jumps <= last)).any() == there
        above = segment(y, high * 1.001).changepoints
        assert not ((above >= first) & (above <= last)).any()
    assert (ends[:, 0] > lowest).any()


def test_correlated_noise_is_said():
    e = np.random.default_rng(2).normal(size=400)
    for t in range(1, 400):
        e[t] += 0.7 * e[t - 1]
    page, content = series_report(e + 8.0 * (np.arange(400) >= 200))
    text = words(page)
    assert content["phi"] == content["noise_correlation"] > 0.5
    assert f"each residual less {content['phi']:.2f} times the one before" in text
    assert "the variance of its innovations" in text
    assert "squared innovations" in text


def test_ratios_of_prices():
    assert [times(r) for r in (1.04, 1.25, 7.77, 10.2, 780.4, 12_345.6, 1e9)] == [
        "1", "1.2", "7.8", "10", "780", "12,346", "1e+09"
    ]  # fmt: skip


def test_long_series_are_drawn_by_their_range():
    page, _ = series_report(steps(30_000))
    assert len(page) < 200_000
    assert "their range in every pixel" in page
    assert page == series_report(steps(30_000))[0]


@pytest.fixture(scope="module")
def browser():
    driver = start_browser()
    yield driver
    driver.quit()


@needs_browser
@pytest.mark.parametrize(("kind", "width"), [("wide", 1000), ("narrow", 360)])
def test_in_a_browser(browser, hostile, tmp_path, kind, width):
    """Nothing runs or is asked for, nothing reaches out of its frame or of the page."""
    long = series_report(
        steps(3000), column="a" * 90, time="t" * 90, label=lambda at: f"2020-01-01T00:00:{at:05}"
    )[0]
    for place, page in enumerate((hostile, long)):
        file = tmp_path / f"{place}.html"
        file.write_text(page, encoding="utf-8")
        emulate(browser, width=width, mobile=kind == "narrow")
        browser.get_log("browser")
        browser.get(file.as_uri())
        assert browser.get_log("browser") == []
        assert browser.execute_script("return document.scripts.length") == 0
        assert browser.execute_script("return document.images.length") == 0
        assert browser.title.startswith("Where ")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert texts_outside(browser, kind) == []
