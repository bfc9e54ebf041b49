"""What results look like in a notebook: escaped, compact, beside scikit-learn's own box."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline

from ellzero import (
    BayesianBridgeRegressor,
    L0Classifier,
    L0Regressor,
    SpikeSlabRegressor,
    l0_frontier,
    segment,
    segment_path,
    stability,
)

HOSTILE = "<script>alert('x')</script>"
TAGS = {
    "div",
    "style",
    "p",
    "strong",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "span",
    "svg",
    "path",
}
WRITTEN = "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;"


class Balanced(HTMLParser):
    """Fails if an element is not closed where it should be."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags = [], set()
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in ("path", "input", "br", "meta", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("path", "br"):
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 5)), columns=[HOSTILE, "a\x1bb", "c", "d", "e"])
    return X, 2 * X[HOSTILE] - X["a\x1bb"] + rng.normal(size=60)


def results(X, y):
    frontier = l0_frontier(X, y)
    series = pd.Series(np.repeat([0.0, 5.0], 30) + np.random.default_rng(1).normal(size=60))
    series.index = [f"{HOSTILE} {k}" for k in range(60)]
    return [
        frontier,
        frontier.certify(size=2),
        l0_frontier(X, y, feature_groups={f"{HOSTILE} too": ["c", "d"]}),
        l0_frontier(X, (y > 0).astype(float), loss="logistic"),
        stability(X, y, max_size=3, n_pairs=5),
        segment(series),
        segment(np.full(5, 1.0)),
        segment_path(series),
    ]


def test_results_are_shown_with_every_text_escaped(table):
    for result in results(*table):
        text = result._repr_html_()
        assert Balanced(text).tags <= TAGS
        assert "\x1b" not in text
        assert "alert('x')" not in text


def test_a_frontier_names_its_variables_and_prices(table):
    frontier = l0_frontier(*table)
    text = frontier._repr_html_()
    assert WRITTEN in text
    assert "a\\x1bb" in text
    assert text.count("<tr>") == 1 + len(frontier.sizes)


def test_a_certificate_says_whether_it_is_proved(table):
    frontier = l0_frontier(*table)
    assert "Proved" in frontier.certify(size=2)._repr_html_()
    assert "not proved" in L0Regressor().fit(*table).certificate_._repr_html_()


def test_a_long_table_is_cut(table):
    X = pd.concat([table[0].add_suffix(str(k)) * (1 + k) ** np.arange(60)[:, None] ** 0.1
                   for k in range(4)], axis=1)  # fmt: skip
    frontier = l0_frontier(X, table[1], max_size=18)
    assert f"And {len(frontier.sizes) - 12} more." in frontier._repr_html_()


@pytest.mark.parametrize(
    "model",
    [
        L0Regressor(),
        L0Regressor(lam=1e9),
        L0Regressor(feature_groups={HOSTILE + "!": [HOSTILE, "c"]}),
        L0Classifier(),
        SpikeSlabRegressor(random_state=0),
        BayesianBridgeRegressor(n_draws=400, random_state=0),
    ],
    ids=["ebic", "nothing", "groups", "classes", "posterior", "bridge"],
)
def test_a_fitted_estimator_shows_its_variables_below_the_box_of_scikit_learn(model, table):
    X, y = table
    before = model._repr_mimebundle_()["text/html"]
    assert "ez-box" not in before
    model.fit(X, y > 0 if isinstance(model, L0Classifier) else y)
    for text in (model._repr_mimebundle_()["text/html"], model._repr_html_()):
        assert "sk-top-container" in text
        assert text.count('class="ez-box"') == 1
        ours = text[text.index('<div class="ez-box"') :]
        assert "alert('x')" not in ours
        Balanced(ours)
        assert (WRITTEN in ours) == (len(model.support_) > 0)
    shown = re.search(r"(\w+) columns? of 5", ours)[1]
    assert {"no": 0, "one": 1, "two": 2, "three": 3, "four": 4}[shown] == len(model.support_)


def test_scikit_learns_setting_decides_whether_there_is_html_at_all(table):
    model = L0Regressor().fit(*table)
    with config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(model, "_repr_html_")


def test_a_pipeline_shows_its_diagram_as_ever(table):
    pipeline = make_pipeline(L0Regressor()).fit(*table)
    assert "L0Regressor" in pipeline._repr_html_()
