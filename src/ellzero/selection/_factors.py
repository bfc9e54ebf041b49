"""Which features are one variable: the levels of a category, and their products with another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ellzero._messages import Argument
from ellzero.regression._units import Structure
from ellzero.selection._settings import Settings
from ellzero.tables import DataError, Feature

__all__ = ["make_structure", "rules_of"]


def make_structure(features: Sequence[Feature], settings: Settings) -> Structure | None:
    """Say which features enter together and which need which; None if each stands for itself."""
    labels = _labels(features, whole=not settings.levels)
    if settings.heredity is None and len(set(labels)) == len(features):
        return None
    parents: dict[str, list[str]] | None = None
    if settings.heredity is not None:
        parents = {
            label: [labels[factor] for factor in dict.fromkeys(feature.factors)]
            for label, feature in zip(labels, features, strict=True)
            if feature.kind == "product"
        }
        if not parents:
            raise DataError(
                Argument("heredity"), " is about products: it needs ", Argument("interactions"), "."
            )
    return Structure(feature_groups=labels, heredity=settings.heredity, parents=parents)


def rules_of(structure: Structure | None) -> dict[str, Any]:
    """Return what estimators are given to keep to the same."""
    if structure is None:
        return {}
    return {
        "feature_groups": structure.feature_groups,
        "heredity": structure.heredity,
        "parents": structure.parents,
    }


def _labels(features: Sequence[Feature], *, whole: bool) -> list[str]:
    """Return the name of every feature's variable: that of the feature if it is alone in it."""
    keys: list[tuple[str, ...]] = []
    for feature in features:
        if not whole or feature.kind in ("number", "missing"):
            keys.append(("alone", feature.name))
        elif feature.kind == "level":
            keys.append(("levels", feature.column))
        else:
            a, b = (keys[factor] for factor in feature.factors)
            keys.append(("product", *a, *b))
    count = Counter(keys)
    named: dict[tuple[str, ...], str] = {}
    taken = {feature.name for key, feature in zip(keys, features, strict=True) if count[key] == 1}
    for key, feature in zip(keys, features, strict=True):
        if key in named:
            continue
        name = feature.name
        if count[key] > 1:
            name = feature.column
            if feature.kind == "product":
                name = ":".join(_short(features[factor], whole) for factor in feature.factors)
            while name in taken:
                name = f"{name} (all)"
            taken.add(name)
        named[key] = name
    return [named[key] for key in keys]


def _short(feature: Feature, whole: bool) -> str:
    return feature.column if whole and feature.kind == "level" else feature.name
