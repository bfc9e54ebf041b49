"""
Text: which words say how many arguments a function takes
=========================================================

A table of words has more columns than rows, and next to nothing in it. Here are some four thousand
docstrings of scikit-learn and SciPy, read from their source files, and every word and pair of words
that two of them have: nearly 60,000 columns, of which a docstring has one in three hundred. How
many arguments does the function take that a docstring speaks of?
"""

import ast
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

from ellzero import l0_frontier

texts, arguments = [], []
for package in ("sklearn", "scipy"):
    for file in sorted(Path(find_spec(package).origin).parent.rglob("*.py")):
        if {"tests", "externals"} & set(file.parts):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            text = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
            if text is None or len(text) < 200:
                continue
            names = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            texts.append(text)
            arguments.append(sum(name.arg not in ("self", "cls") for name in names))

y = np.log2(1 + np.array(arguments))  # one more is twice as many
train, test = train_test_split(np.arange(len(y)), random_state=0)
words = CountVectorizer(ngram_range=(1, 2), min_df=2, binary=True)
X = words.fit_transform([texts[i] for i in train])
print(f"{X.shape[0]} texts, {X.shape[1]} words and pairs, {X.nnz / X.shape[0]:.0f} in a text")

# %%
# The best known model of every size up to thirty. The matrix stays as sparse as it is: a search
# costs by its entries, and most columns are never looked at again once it has begun.

frontier = l0_frontier(X.astype(float), y[train], max_size=30)
X_test = words.transform([texts[i] for i in test]).astype(float)


def share_explained(size):
    """Return R2 on the texts that were held out."""
    model = frontier.at(size=size)
    left = y[test] - model.intercept - X_test @ model.coef
    return 1 - (left @ left) / np.sum((y[test] - y[test].mean()) ** 2)


sizes = np.arange(1, 31)
shares = np.array([share_explained(size) for size in sizes])
print(f"R2 on {len(test)} other texts: {shares[9]:.2f} by ten words, {shares[29]:.2f} by thirty")
assert X.shape[1] > 20_000
assert 0.3 < shares[9] < shares[29]

# %%
# Ten words, and what each adds. A text that names types, or a maximum number, belongs to a function
# of many arguments. Other words are in few texts, which have a template in common: they pay for
# themselves by what they say of these, and of nothing else.

best = frontier.at(size=10)
vocabulary = words.get_feature_names_out()
order = best.support[np.argsort(best.coef[best.support])]
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4.2), width_ratios=[3, 2], layout="constrained"
)
colours = ["#D55E00" if value < 0 else "#0072B2" for value in best.coef[order]]
left.barh([str(vocabulary[j]) for j in order], best.coef[order], color=colours)
left.axvline(0, color="#999999", lw=0.8)
left.set(xlabel="what it adds to log2(1 + arguments)", title="The best ten of all words and pairs")
right.plot(sizes, shares, ".-", color="#0072B2")
right.set(xlabel="words", ylabel="R2 on other texts", title="How far words go", ylim=(0, None))
plt.show()
