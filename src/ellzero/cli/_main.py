"""The command ``ellzero``: its parts, and what users see when something goes wrong.

Exit codes: 0 if all went well, 1 for bad data, 2 for bad usage.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any

import click

__all__ = ["main"]

_COMMANDS = ("select", "predict", "posterior", "verify", "segment", "reproduce")


class _Commands(click.Group):
    """Commands that are imported when they are called or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        from importlib import import_module

        if name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"ellzero.cli._{name}").command
        return command


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from ellzero import __version__

        click.echo(f"ellzero {__version__}")
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version.",
)
def app() -> None:
    """Find which variables matter, how large their effects are, and how sure that is.

    Start with: ellzero select TABLE --target COLUMN --report report.html
    """


def main() -> None:
    """Run the command line."""
    # Large products are the core's, with threads of their own. Those of BLAS have small ones to do,
    # and spend most of their time waiting for each other, at full speed.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal can't show is printed as an escape, not an error.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    code = _run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
    except OSError as error:
        code = code or _fail(f"the output can't be written: {(error.strerror or '').lower()}")
        _forget_output()
    sys.exit(code)


def _open_streams() -> None:
    """Put something in the place of streams that were closed, where files would be opened else."""
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    if sys.stdout is None:  # of which nothing can be written to, and that is said
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _forget_output() -> None:
    """Discard the rest of the output: Python would try to write it once more at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    """Run and return the exit code. A traceback reaches nobody who did not ask for it."""
    try:
        result: Any = app.main(arguments, prog_name="ellzero", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        from ellzero.cli._console import clean

        words = clean(error.format_message(), 2000)  # names of files are in it
        click.UsageError(words, getattr(error, "ctx", None)).show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", 130)
    except (BrokenPipeError, SystemExit):  # click turns the first into the second
        _forget_output()  # whoever read it has gone: not an error of ours
        return 0
    except MemoryError:
        return _fail("there is not enough memory for this table")
    except Exception as error:
        if os.environ.get("ELLZERO_DEBUG"):
            raise
        if isinstance(error, OSError) and error.errno is not None:
            return _fail(f"the output can't be written: {(error.strerror or str(error)).lower()}")
        if isinstance(error, ValueError):  # what the library says of data that it can't use
            from ellzero.cli._wording import in_options
            from ellzero.tables import DataError

            return _fail(in_options(error.message) if isinstance(error, DataError) else str(error))
        return _fail(
            f"something unexpected happened ({type(error).__name__}: {error}). Please report it, "
            "with what ELLZERO_DEBUG=1 prints"
        )


def _fail(message: str, code: int = 1) -> int:
    from ellzero.cli._console import clean

    end = "" if message.endswith((".", "?")) else "."
    with contextlib.suppress(OSError):
        print(f"Error: {clean(message, 2000)}{end}", file=sys.stderr)
    return code
