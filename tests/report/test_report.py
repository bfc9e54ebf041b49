import base64
import dataclasses
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import hostile_table, report

from ellzero._format import fixed, number, percent, plural, signed
from ellzero._shown import shown
from ellzero.report import make_report
from ellzero.report._path_chart import chart_path, far_out
from ellzero.report._svg import Axis, Canvas, linear_ticks, log_ticks
from ellzero.selection import Settings, prepare, select, summarise
from ellzero.tables import NumberColumn, Table, TextColumn, example_table


class Reader(HTMLParser):
    """Collects elements, attributes and text as a browser would see them."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        self.text.append(data)


def test_names_are_text(hostile):
    page = Reader(hostile)
    text = " ".join(page.text)
    assert page.tags.count("script") == 2
    assert not {"img", "i", "u", "b"} & set(page.tags)
    assert "<script>document.title = 'owned'</script>" in text
    assert "{{ 7 * 7 }}" in text
    assert "ellzero select 'a </script> b' --target y" in text
    assert not [a for a in page.attributes if a[1].startswith("on")]


# Escape, NUL, bell, carriage return, a C1 control, marks of direction
ODD = "\x1b[31m \x00 \a \r \x9b1m \u202e \u2066 \u200f \u2028 \ufeff"


def test_what_could_do_more_than_be_read_is_written_out():
    table = hostile_table()
    columns = {}
    for name, column in table.columns.items():
        odd = name if name == "y" else f"{ODD}{name}"
        columns[odd] = dataclasses.replace(column, name=odd)
        if isinstance(column, TextColumn):
            columns[odd].levels = [f"{level}{ODD}" for level in column.levels]
    columns[f"y{ODD}"] = dataclasses.replace(columns.pop("y"), name=f"y{ODD}")
    asked = Settings(f"y{ODD}", posterior=True, interactions=True)
    odd_table = dataclasses.replace(table, columns=columns, name=f"t{ODD}")
    chosen = select(prepare(odd_table, asked), asked)
    content = summarise(chosen, f"ellzero select {ODD}")
    page = make_report(chosen, content)
    text = " ".join([*Reader(page).text, *json_texts(page)])
    for char in ODD:
        assert char.isprintable() or char not in page
        assert char.isprintable() or repr(char)[1:-1] in text
        assert char.isprintable() or char not in text
    # What is for programs keeps the names as they are
    assert content["target"] == f"y{ODD}"
    assert any(v["name"].startswith(ODD) for v in content["model"]["variables"])


def test_sets_say_which_of_them_are_in_together():
    asked = Settings("progression", posterior=True)
    chosen = select(prepare(example_table("diabetes"), asked), asked)
    content = summarise(chosen, "command")
    found = {"inclusion": [0.6, 0.6, 0.4], "probability": 0.98, "purity": 0.7}
    sets = [{**found, "variables": ["hdl", "<b>", "tch"], "together": []}]
    content["posterior"]["credible_sets"] = sets
    text = " ".join(Reader(make_report(chosen, content)).text)
    assert "hdl, <b>, tch" in text
    assert "To predict, the average over all models usually does better" in " ".join(text.split())
    assert "usually in together" not in text
    sets[0]["together"] = [["hdl", "<b>"]]
    text = " ".join(Reader(make_report(chosen, content)).text)
    assert "usually in together" in text
    assert "hdl and <b>" in text


def json_texts(page):
    """Return the texts that the page's script shows."""
    found = re.search(r'id="steps">(.*?)</script>', page, re.DOTALL).group(1)
    return [v[0] for step in json.loads(found) for v in step["variables"]]


def test_letters_of_all_scripts_stay():
    persian, woman = "\u0645\u06cc\u200c\u062e", "\U0001f469\u200d\U0001f52c"
    for text in ("naïve", "größe (m²)", "年齢\u3000(歳)", persian, woman, "a\xa0b", "\\x1b"):
        assert shown(text) == text


def test_nothing_is_asked_of_the_network(hostile):
    page = Reader(hostile)
    links = [(tag, value) for tag, name, value in page.attributes if name in ("src", "href")]
    assert links == [("link", "data:,")]
    assert "url(" not in hostile
    assert "@import" not in hostile


def test_the_policy_allows_only_what_is_there(hostile):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', hostile).group(1)
    policy = policy.replace("&#39;", "'").replace("&#43;", "+")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        inside = re.findall(rf"<{tag}>(.*?)</{tag}>", hostile, re.DOTALL)
        assert len(inside) == 1
        digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_what_a_report_says(hostile):
    for words in (
        "No standard errors or p-values are given here",
        "The whole choice was made anew in each of",
        "which answers which variables matter",
        "It is a search, not a proof",
        "took no part in any choice",
        "How probable each variable is",
        "variables been expected instead of 2: expected size",
        "SHA-256",
        "What nearly made it",
    ):
        assert words in hostile.replace("\n", " ")


@pytest.mark.parametrize(
    "settings",
    [
        {"size": 0},
        {"size": 3},
        {"size": 8, "interactions": True},
        {"lam": 1e9},
        {"criterion": "ebic", "ridge": 1.0},
        {"criterion": "1se", "force": ("age",), "test_share": 0.3},
    ],
)
def test_every_kind_of_selection_has_a_report(settings):
    page = report(example_table("diabetes"), target="progression", **settings)
    assert page.endswith("</html>")
    assert "None" not in " ".join(Reader(page).text)
    assert "nan" not in " ".join(Reader(page).text).split()


def test_the_same_selection_has_the_same_report():
    pages = [report(example_table("diabetes"), target="progression") for _ in range(2)]
    assert pages[0] == pages[1]


def test_extreme_numbers(rng):
    x = rng.normal(size=50)
    for scale in (1e-140, 1e140):
        columns = {
            "x": NumberColumn("x", x * scale),
            "z": NumberColumn("z", rng.normal(size=50)),
            "y": NumberColumn("y", (x + 0.01 * rng.normal(size=50)) * scale),
        }
        page = report(Table(columns, 50, "t", ""))
        assert "x" in page


def test_a_perfect_fit(rng):
    x = rng.normal(size=50)
    columns = {"x": NumberColumn("x", x), "y": NumberColumn("y", 2 * x + 1)}
    assert "100%" in report(Table(columns, 50, "t", ""))


def test_many_rows_are_sampled(rng):
    x = rng.normal(size=5000)
    columns = {"x": NumberColumn("x", x), "y": NumberColumn("y", x + rng.normal(size=5000))}
    page = report(Table(columns, 5000, "t", ""), criterion="bic")
    assert "A sample of the 5,000 rows" in page
    assert len(page) < 300_000


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_linear_ticks_are_round_and_inside(low, width):
    high = low + width
    ticks = linear_ticks(low, high)
    assert len(ticks) <= 13
    slack = 1e-6 * max(abs(low), abs(high), width)
    assert all(low - slack <= tick <= high + slack for tick in ticks)
    assert np.all(np.diff(ticks) > 0)


@given(st.floats(-150, 150), st.floats(0.01, 200))
def test_log_ticks_are_few_and_inside(start, decades):
    low, high = 10.0**start, 10.0 ** min(start + decades, 300)
    ticks = log_ticks(low, high)
    assert 1 <= len(ticks) <= 9
    assert all(low * 0.99 <= tick <= high * 1.01 for tick in ticks)


def test_numbers_for_people():
    assert number(None) == number(float("nan")) == "\u2013"
    assert number(-12345.6) == "\u221212,346"
    assert number(0.00001234) == "1.234e\u221205"
    assert number(0) == "0"
    assert percent(0.0123) == "1.2%"
    assert percent(0.5) == "50%"
    assert signed(-0.5) == "\u22120.500"
    assert fixed(-0.25) == "\u22120.250"
    assert fixed(None) == "\u2013"
    # No zero is negative.
    assert [fixed(-1e-4), signed(-1e-4), percent(-1e-5), number(-0.0)] == [
        "0.000",
        "+0.000",
        "0.0%",
        "0",
    ]
    assert [plural(k, "row") for k in (0, 1, 2, 1200)] == [
        "no rows",
        "one row",
        "two rows",
        "1,200 rows",
    ]


def path_of(values, chosen):
    """Return a path whose models are the rows of a table, zero for what is not in."""
    return [
        {
            "lam_low": 0 if place == len(values) - 1 else 10.0**-place,
            "lam_high": None if place == 0 else 10.0 ** (1 - place),
            "size": int(np.count_nonzero(row)),
            "chosen": place == chosen,
            "variables": [
                {"name": f"x{j:02}", "standardised": float(v)} for j, v in enumerate(row) if v
            ],
        }
        for place, row in enumerate(values)
    ]


def ends_of(page):
    """Return the names beside a path: height, text, class; and the thin lines to them."""
    names = re.findall(r'<text x="[\d.]+" y="([\d.]+)" class="(name c\d|note)"[^>]*>([^<]*)', page)
    thin = re.findall(r'<path d="M[\d.]+ ([\d.]+)L[\d.]+ ([\d.]+)" class="coefficient thin', page)
    return [(float(y), text, kind) for y, kind, text in names], np.array(thin, dtype=float)


@pytest.mark.parametrize("width", [680, 340])
@pytest.mark.parametrize("count", [3, 8, 9, 25])
def test_a_path_names_few_variables(rng, width, count):
    values = (0.1 + rng.random((3, count))) * rng.choice([-1, 1], count)
    for place in range(2):  # the last model has them all
        values[place, (place + 1) * count // 3 :] = 0
    page = str(chart_path(path_of(np.vstack([np.zeros(count), values]), 2), width).finish("k"))
    names, thin = ends_of(page)
    named = [(text, kind) for _, text, kind in names if kind != "note"]
    assert len(named) == min(count, 8)
    assert len({kind for _, kind in named}) == len(named)  # a colour each
    assert [text for _, text, kind in names if kind == "note"] == (
        [f"and {count - 8} more"] if count > 8 else []
    )
    last = dict(zip([f"x{j:02}" for j in range(count)], values[-1], strict=True))
    heights = [last[text] for _, text, kind in sorted(names) if kind != "note"]
    assert heights == sorted(heights, reverse=True)
    order = np.argsort(thin[:, 0], kind="stable")  # lines that start in order end in order
    assert (np.diff(thin[order, 1]) > 0).all()
    at = np.sort([y for y, _, _ in names])
    assert (np.diff(at) >= 14.9).all()


def test_variables_of_the_chosen_model_are_named_first():
    values = np.full((2, 20), 0.5)
    values[0, :] = 0
    values[0, 12:] = 0.1
    values[1, 12:] = 0.1
    names, _ = ends_of(
        str(chart_path(path_of(np.vstack([np.zeros(20), values]), 1), 680).finish(""))
    )
    assert {text for _, text, kind in names if kind != "note"} == {f"x{j}" for j in range(12, 20)}


def test_a_few_large_coefficients_do_not_stretch_the_axis():
    values = np.array([[0.0] * 10, [0.3] * 10, [0.3] * 8 + [20.0, -30.0]])
    path = path_of(values, 1)
    assert far_out(path) == ["x09 (\u221230)", "x08 (20)"]
    page = str(chart_path(path, 680).finish("k"))
    assert ">20<" not in page
    names, _ = ends_of(page)
    shown = {text for _, text, _ in names}
    assert {"x08 \u2191", "x09 \u2193"} <= shown
    # Those of the chosen model are drawn, however large they are.
    path = path_of(values, 2)
    assert far_out(path) == []
    assert ">20<" in str(chart_path(path, 680).finish("k"))


def test_canvas_escapes():
    canvas = Canvas(10, 10, "<t>")
    canvas.text(1, 2, '<b>"', '"')
    assert str(canvas.finish("k")).count("<") == 6
    assert Axis(1, 1, 0, 10)(1) == 5
