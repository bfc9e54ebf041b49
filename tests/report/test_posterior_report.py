"""The report on a posterior, as text and in a real browser."""

import re

import numpy as np
import pytest
from browsers import emulate, needs_browser, start_browser, texts_outside
from pages import SCRIPT, hostile_table
from test_report import ODD, Reader

from ellzero._format import fixed
from ellzero.cli._posterior import _report
from ellzero.report import policy_hash
from ellzero.report._posterior_charts import chart_prior, chart_trace
from ellzero.selection import Settings, prepare, summarise_posterior
from ellzero.selection._feature_matrix import make_feature_matrix
from ellzero.selection._posterior import fit_posterior
from ellzero.tables import NumberColumn, example_table


def posterior_report(table, family="auto", notes=(), **asked):
    settings = Settings("y" if "y" in table.columns else "progression", family=family)
    data = prepare(table, settings)
    matrix = make_feature_matrix(data, settings, lambda words: None)
    posterior = fit_posterior(matrix, data, settings, n_draws=200, n_warmup=100, **asked)
    content = {
        "ellzero": "1.0",
        "command": f"ellzero posterior 'a </style> b' {ODD}",
        "seed": 0,
        "target": f"y{ODD}",
        "labels": None if data.labels is None else list(data.labels),
        "notes": list(notes),
        "warnings": [SCRIPT],
        "data": {"name": "<b>t</b>.csv", "sha256": "0" * 64, "rows": len(data.y)},
        **summarise_posterior(posterior),
    }
    return _report(posterior, matrix, data, 0, content), posterior, content


@pytest.fixture(scope="module")
def hostile():
    return posterior_report(hostile_table(), solver="gibbs", notes=["<u>note</u>"])


def words(page):
    return " ".join(" ".join(Reader(page).text).split())


def test_names_are_text(hostile):
    page = Reader(hostile[0])
    assert not {"script", "img", "i", "b", "u"} & set(page.tags)
    assert SCRIPT in words(hostile[0])
    assert "<u>note</u>" in words(hostile[0])
    assert not [a for a in page.attributes if a[1].startswith("on")]
    for char in ODD:
        assert char.isprintable() or char not in hostile[0]


def test_the_policy_names_the_style_and_allows_nothing_else(hostile):
    style = re.search(r"<style>(.*?)</style>", hostile[0], re.DOTALL)[1]
    assert f"default-src 'none'; img-src data:; style-src '{policy_hash(style)}'" in hostile[0]
    assert "http" not in hostile[0].replace("http-equiv", "")


def test_it_has_probabilities_with_their_errors_and_how_chains_mixed(hostile):
    page, posterior, content = hostile
    text = words(page)
    first = content["variables"][0]
    assert f"{fixed(first['inclusion'])} {fixed(first['mcse'])}" in text
    assert f"The largest R-hat is {posterior.diagnostics_['r_hat'].max():.3f}" in text
    assert f"after them {content['size']:.1f}" in text
    assert content["sensitivity"]["sentence"] in text
    for title in ("number of variables", "sigma_e, the noise", "theta, the share that is in"):
        assert f"Trace of {title}" in page
    assert page.count('class="trace c3"') == 2 * 4  # two widths, four numbers


def test_where_all_models_are_visited_there_are_no_errors_to_show():
    table = example_table("diabetes")
    page, _, content = posterior_report(table, solver="enumerate")
    assert content["exact"]
    assert "All models were visited" in words(page)
    assert page == posterior_report(table, solver="enumerate")[0]


def test_two_classes():
    table = hostile_table()
    y = (table.columns["y"].values > 0).astype(float)
    table.columns["y"] = NumberColumn("y", y)
    page, _, content = posterior_report(table, family="binomial", solver="gibbs")
    assert f"log-odds of {content['labels'][1]}" in words(page)
    assert "sigma_e" not in page


def test_sizes_that_nobody_expected_are_drawn_within_the_chart():
    prior, posterior = np.array([[0, 1, 1, 1]]), np.array([[90, 91]])
    drawn = chart_prior(prior, posterior, 680).finish("wide")
    assert "3 to a bar" in drawn
    assert chart_trace("x", np.zeros((2, 1)), 340).finish("narrow")


@needs_browser
@pytest.mark.parametrize(("kind", "width"), [("wide", 1000), ("narrow", 360)])
def test_in_a_browser(hostile, tmp_path, kind, width):
    """Nothing runs or is asked for, nothing reaches out of its frame or of the page."""
    file = tmp_path / "page.html"
    file.write_text(hostile[0], encoding="utf-8")
    browser = start_browser()
    try:
        for scheme in ("light", "dark"):
            emulate(browser, scheme=scheme, width=width, mobile=kind == "narrow")
            browser.get(file.as_uri())
            assert browser.get_log("browser") == []
            assert browser.execute_script("return document.scripts.length") == 0
            assert browser.execute_script("return document.images.length") == 0
            assert browser.title.startswith("How probable ")
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width
            assert texts_outside(browser, kind) == []
    finally:
        browser.quit()
