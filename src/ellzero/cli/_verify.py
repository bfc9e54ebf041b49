"""``ellzero verify``: whether a certificate shows what it claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ellzero.cli._console import Console, clean
from ellzero.cli._options import read_options, reading_options

__all__ = ["command"]


@click.command("verify")
@click.argument("certificate", type=click.Path(path_type=Path))
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--target", help="The column to predict, if the certificate does not say.")
@click.option("--weights", help="A column of weights as counts, if the certificate does not say.")
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
@reading_options
def command(
    certificate: Path,
    table: Path,
    target: str | None,
    weights: str | None,
    quiet: bool,
    **values: Any,
) -> None:
    """Check CERTIFICATE, a proof that ellzero select --certificate has written, against TABLE.

    Every bound is computed anew, with error bounds of its own, and no code of the search; then the
    products of columns that it is about are compared with those of the table.
    """
    console = Console(quiet)
    reading = read_options(values)

    from ellzero.proof._checker import CertificateError, check, read
    from ellzero.tables import DataError, read_table

    try:
        content = read(certificate)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise DataError(f"{certificate} can't be read: {why}.") from None
    except (ValueError, RecursionError) as error:
        known = isinstance(error, CertificateError)
        raise DataError(str(error) if known else f"{certificate} is not a certificate.") from None
    with console.progress("Checking every bound"):
        verdict = check(content)
    from ellzero.selection._proof_file import check_against, settings_of

    settings, drop = settings_of(content, target, weights)
    with console.progress(f"Reading {table}"):
        texts = {*settings.categorical, *([settings.groups] if settings.groups else [])}
        read_in = read_table(table, reading, drop=drop, text=texts)
    rows = check_against(content, read_in, settings)
    console.say(
        f"The certificate holds: {verdict.nodes:,} bounds of {verdict.proofs} "
        f"proof{'s' * (verdict.proofs != 1)}, for the {rows:,} rows of {clean(str(table), 1000)}."
    )
    for proof in content["proofs"]:
        console.say(_in_words(content["problem"], proof))


def _in_words(problem: Any, proof: Any) -> str:
    """Say what a proof shows, in the units of the target."""
    claim, unit = proof["claim"], 0.5 ** problem["exponent"]
    lam, objective, bound, tolerance = (
        unit * (unit * float.fromhex(text))
        for text in (proof["lam"], claim["objective"], claim["bound"], claim["tolerance"])
    )
    names = problem.get("names") or [str(j) for j in range(problem["columns"])]
    support = ", ".join(clean(names[j]) for j in claim["support"]) or "no variables"
    price = f"at a price of {lam:.6g}, " if lam else ""
    ridge = float.fromhex(problem["ridge"])
    price += f"with a ridge of {ridge:.3g}, " if ridge else ""
    among = f"{price}among models of up to {proof['cap']} variables,"
    if claim["proved"]:
        shown = f"none is better by more than {tolerance:.2g} than {support}"
    else:
        shown = f"none is below {bound:.6g}, and the best known is {support}"
    return f"{among[:1].upper()}{among[1:]} {shown}: {objective:.6g}."
