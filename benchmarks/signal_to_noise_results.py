"""Tables and figures of signal_to_noise.py."""

import numpy as np
import pandas as pd
from signal_to_noise_methods import BEST_OF, METHODS

__all__ = [
    "draw",
    "draw_all",
    "draw_ratios",
    "geometric_mean",
    "print_tables",
    "ratios",
    "standard_errors",
]

CELL = ["setting", "type", "rho", "snr"]
MEASURES = {
    "risk": "relative risk",
    "error": "relative test error",
    "explained": "variance explained",
    "size": "variables in the model",
}
# Colour, line and marker of those that are drawn: more than nine lines nobody can follow.
LINES = {
    "EBIC": ("#56B4E9", "-", "v"),
    "CV": ("#0072B2", "-", "^"),
    "CV, ridge": ("#E69F00", "-", "o"),
    "posterior mean": ("#009E73", "-", "D"),
    "posterior mean, prediction": ("#6A3D9A", "-", "s"),
    "lasso": ("#000000", "--", "v"),
    "relaxed lasso": ("#D55E00", "--", "^"),
    "L0Learn L0L2": ("#CC79A7", "--", "o"),
    "forward stepwise": ("#8C8C8C", "--", "D"),
}
REPEATS = 200


def ratios(results):
    """Return mean risks over the best of lasso, relaxed lasso and L0Learn: cells by methods."""
    return _over_best(results.pivot_table(index=CELL, columns="method", values="risk", sort=False))


def _over_best(means):
    return means.div(means[list(BEST_OF)].min(axis=1), axis=0)


def geometric_mean(table, by):
    """Return the geometric mean of ratios over the cells that share some keys."""
    return np.exp(np.log(table).groupby(level=by, sort=False).mean())


def standard_errors(results):
    """Return those of the geometric means by setting: data sets are drawn anew in every cell."""
    methods, numbers = results["method"].unique(), results["number"].unique()
    risks = results.pivot(index=CELL, columns=["method", "number"], values="risk")
    risks = risks.reindex(columns=pd.MultiIndex.from_product([methods, numbers]))
    values = risks.to_numpy().reshape(len(risks), len(methods), len(numbers))
    rng, found = np.random.default_rng(0), []
    for _ in range(REPEATS):
        drawn = rng.integers(len(numbers), size=(len(risks), 1, len(numbers)))
        means = np.take_along_axis(values, drawn, axis=2).mean(axis=2)
        table = _over_best(pd.DataFrame(means, index=risks.index, columns=methods))
        found.append(geometric_mean(table, "setting"))
    return pd.concat(found).groupby(level=0).std()


def print_tables(results):
    """Print ratios of risks: by setting, by ratio of signal to noise, by type and correlation."""
    missing = [name for name in BEST_OF if name not in set(results["method"])]
    if missing:
        print(f"No tables: they need {missing[0]}.")
        return
    table = ratios(results)
    table = table[[name for name in METHODS if name in table.columns]]
    by_snr = geometric_mean(table, ["setting", "snr"])
    means, errors = geometric_mean(table, "setting"), standard_errors(results)
    worst = by_snr.groupby(level="setting", sort=False).max()
    print(
        f"Relative risk over the best of {', '.join(BEST_OF)}, {results['number'].nunique()} data "
        "sets per cell:\ngeometric mean ± standard error (the largest at one SNR)\n"
    )
    rows = []
    for name in table.columns:
        numbers = zip(means[name], errors.loc[means.index, name], worst[name], strict=True)
        rows.append([name, *(f"{mean:.2f} ± {se:.2f} ({top:.2f})" for mean, se, top in numbers)])
    _print_rows(["", *means.index], rows)
    for at in means.index:
        print(f"{at}, by SNR\n")
        own = by_snr.loc[at]
        rows = [[name, *(f"{value:.2f}" for value in own[name])] for name in own.columns]
        _print_rows(["", *(f"{snr:g}" for snr in own.index)], rows)
        own = geometric_mean(table.loc[at], ["type", "rho"])
        if len(own) == 1:
            continue
        print(f"{at}, by type and correlation: geometric mean (the largest at one SNR)\n")
        most = table.loc[at].groupby(level=["type", "rho"], sort=False).max()
        rows = [
            [name, *(f"{own.at[c, name]:.2f} ({most.at[c, name]:.2f})" for c in own.index)]
            for name in own.columns
        ]
        _print_rows(["", *(f"type {kind}, {rho:g}" for kind, rho in own.index)], rows)


def _print_rows(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join("-" if "nan" in cell else cell for cell in row) + " |")
    print(flush=True)


def draw(results, by, measures=tuple(MEASURES)):
    """Draw measures against the signal-to-noise ratio: a row each, a column per value of ``by``."""
    places, names = results[by].unique(), _drawn(results)
    figure, axes = _panels(len(measures), len(places), share=by == "rho")
    for row, measure in zip(axes, measures, strict=True):
        for ax, place in zip(row, places, strict=True):
            own = results[results[by] == place].groupby(["snr", "method"])[measure]
            _draw_lines(ax, own.mean().unstack(), own.sem().unstack(), names)
            _draw_limits(ax, measure, np.sort(results["snr"].unique()))
        row[0].set_ylabel(MEASURES[measure])
        # Bars may reach beyond: the lines are what is to be seen.
        shown = results[results["method"].isin(names)]
        means = shown.groupby([by, "method", "snr"])[measure].mean()
        for ax, place in zip(row, places, strict=True):
            own = means if by == "rho" else means[place]
            _scale(ax, measure, own.min(), own.max())
    for ax, place in zip(axes[0], places, strict=True):
        ax.set_title(f"correlation {place:g}" if by == "rho" else place.replace("x", " x "))
    return _finish(figure, axes)


def draw_ratios(results):
    """Draw risks over the best of three peers, in every setting, pooled over what else varies."""
    table, names = geometric_mean(ratios(results), ["setting", "snr"]), _drawn(results)
    settings = table.index.unique("setting")
    figure, axes = _panels(1, len(settings), share=True)
    for ax, setting in zip(axes[0], settings, strict=True):
        ax.axhline(1, color="0.6", lw=1, zorder=0)
        _draw_lines(ax, table.loc[setting], None, names)
        ax.set_title(setting.replace("x", " x "))
    axes[0, 0].set_ylabel("risk over the best of three peers")
    _scale(axes[0, 0], "ratio", table[names].min(axis=None), table[names].max(axis=None))
    return _finish(figure, axes)


def _drawn(results):
    return [name for name in LINES if name in set(results["method"])]


def _panels(rows, columns, share):
    import matplotlib.pyplot as plt

    return plt.subplots(
        rows,
        columns,
        figsize=(2.6 + 2.3 * columns, 0.5 + 2.1 * rows + 0.5 * (rows == 1)),
        sharex=True,
        sharey="row" if share else False,
        squeeze=False,
        layout="constrained",
    )


def _draw_lines(ax, means, errors, names):
    """Draw a line per method, with bars if there are standard errors."""
    snrs = means.index.to_numpy()
    for place, name in enumerate(names):
        colour, style, marker = LINES[name]
        ax.errorbar(
            snrs * 1.02 ** (place - (len(names) - 1) / 2),  # so that bars don't hide each other
            means[name],
            None if errors is None else errors[name],
            color=colour,
            ls=style,
            marker=marker,
            ms=3,
            lw=1.1,
            elinewidth=0.7,
            label=name,
        )
    ax.set_xscale("log")
    ticks = [snr for snr in (0.05, 0.25, 1.22, 6.0) if snr in snrs]
    ax.set_xticks(ticks, [f"{snr:g}" for snr in ticks])
    ax.minorticks_off()
    ax.grid(color="0.93", lw=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def _draw_limits(ax, measure, snrs):
    """Draw what the truth would have, and the empty model."""
    truth = {"error": np.ones_like(snrs), "explained": snrs / (1 + snrs)}.get(measure)
    empty = {"risk": np.ones_like(snrs), "error": 1 + snrs}.get(measure)
    for line in (truth, empty):
        if line is not None:
            ax.plot(snrs, line, color="0.75", lw=1, zorder=0, scaley=measure == "risk")


def _scale(ax, measure, low, high):
    if measure in ("risk", "ratio"):
        ax.set_yscale("log")
        ax.set_ylim(0.8 * low, 1.25 * high)
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.yaxis.set_minor_formatter("")
        if measure == "ratio":
            ticks = [tick for tick in (0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6) if low < tick < high]
            ax.set_yticks(ticks)
            ax.minorticks_off()
    elif measure == "error":
        ax.set_ylim(1 - 0.05 * (high - 1), 1 + 1.1 * (high - 1))
    elif measure == "size":
        ax.set_ylim(0, 1.1 * high)


def _finish(figure, axes):
    figure.supxlabel("signal-to-noise ratio", fontsize="medium")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    return figure


def draw_all(results, folder):
    """Draw ratios of risks, and a figure per setting and type, and per type and correlation."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figures = {
        f"{setting}-type{kind}": draw(own, "rho")
        for (setting, kind), own in results.groupby(["setting", "type"], sort=False)
    } | {
        f"settings-type{kind}-rho{rho:g}": draw(own, "setting")
        for (kind, rho), own in results.groupby(["type", "rho"], sort=False)
    }
    if set(BEST_OF) <= set(results["method"]):
        figures["ratios"] = draw_ratios(results)
    paths = []
    for name, figure in figures.items():
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=110)
        plt.close(figure)
    return paths
