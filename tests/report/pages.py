import numpy as np

from ellzero.report import make_report
from ellzero.selection import Settings, prepare, select, summarise
from ellzero.tables import NumberColumn, Table, TextColumn

SCRIPT = "<script>document.title = 'owned'</script>"
IMAGE = '"><img src=x onerror="document.title = \'owned\'">'


def report(table, **settings):
    asked = Settings(**{"target": "y", **settings})
    chosen = select(prepare(table, asked), asked)
    return make_report(chosen, summarise(chosen, "ellzero select 'a </script> b' --target y"))


def hostile_table():
    """A table whose names and levels would like to be more than text."""
    rng = np.random.default_rng(3)
    n = 150
    X = rng.normal(size=(n, 6))
    X[:, 3] = X[:, 0] + 0.3 * rng.normal(size=n)
    names = [SCRIPT, IMAGE, "a&b;'\"`", "{{ 7 * 7 }}", "😀 \u202egnirts", "</script><b>"]
    levels = ["<i>", "</svg>", "plain"]
    codes = rng.integers(0, 3, n).astype(np.int32)
    y = 3 * X[:, 0] - 2 * X[:, 1] + X[:, 5] + 2.0 * (codes == 0) + rng.normal(size=n)
    columns = {name: NumberColumn(name, X[:, j].copy()) for j, name in enumerate(names)}
    columns["<u>level</u>"] = TextColumn("<u>level</u>", codes, levels)
    columns["y"] = NumberColumn("y", y)
    return Table(columns, n, "<b>table</b>.csv", "0" * 64)
