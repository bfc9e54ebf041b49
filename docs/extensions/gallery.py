"""The gallery: which script comes when, and how its pictures look."""

ORDER = [
    "diabetes",
    "wide_table",
    "text",
    "genotypes",
    "factors",
    "binary",
    "counts",
    "collinear",
    "proof",
    "posterior_arviz",
    "series",
    "parquet",
    "tweedie",
]


class InOrder:
    """A key by which scripts are sorted; one that is not listed comes last."""

    def __init__(self, folder):
        pass

    def __call__(self, name):
        """Return the place of a script."""
        short = name.removeprefix("plot_").removesuffix(".py")
        return (ORDER.index(short) if short in ORDER else len(ORDER), name)


def reset(gallery_conf, fname):
    """Set matplotlib up before each script."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update(
        {
            "figure.dpi": 110,
            "savefig.dpi": 110,
            "figure.facecolor": "white",
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )
