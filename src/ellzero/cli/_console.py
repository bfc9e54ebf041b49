"""What is printed: tables on a terminal, plain text in a pipe, progress on a terminal only."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ellzero._shown import shown

__all__ = ["Console", "clean"]


def clean(text: str, most: int = 60) -> str:
    """Make a text from a file safe to print: no control characters, not too long."""
    words = shown(text)
    return words if len(words) <= most else words[: most - 3] + "..."


class Console:
    """Where a command's words go: results to standard output, all else to standard error.

    Parameters
    ----------
    quiet : bool
        Whether to print errors only.
    """

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self._fancy = sys.stdout.isatty()

    @property
    def shows(self) -> bool:
        """Whether somebody sees progress."""
        return not self.quiet and sys.stderr.isatty()

    def say(self, text: str = "") -> None:
        """Print a line of the result."""
        if not self.quiet:
            print(text)

    def flush(self) -> None:
        """Flush the output, so that it can be read now at the other end of a pipe."""
        sys.stdout.flush()

    def note(self, text: str, kind: str = "Note") -> None:
        """Print something worth knowing about the result."""
        if not self.quiet:
            print(f"{kind}: {clean(text, 1000)}", file=sys.stderr)

    def table(
        self,
        headers: Sequence[str],
        rows: Sequence[Sequence[str]],
        left: int = 1,
        longest: int = 60,
    ) -> None:
        """Print a table whose first ``left`` columns are texts and the others numbers.

        Texts of more than ``longest`` letters are cut.
        """
        if self.quiet:
            return
        headers = [clean(header) for header in headers]
        cells = [[clean(cell, longest) for cell in row] for row in rows]
        if self._fancy:
            self._fancy_table(headers, cells, left)
        else:
            widths = [max(map(len, column)) for column in zip(headers, *cells, strict=True)]
            for row in (headers, *cells):
                parts = [
                    cell.ljust(width) if place < left else cell.rjust(width)
                    for place, (cell, width) in enumerate(zip(row, widths, strict=True))
                ]
                print("  ".join(parts).rstrip())

    def _fancy_table(
        self, headers: Sequence[str], cells: Sequence[Sequence[str]], left: int
    ) -> None:
        from rich import box
        from rich.console import Console as RichConsole
        from rich.table import Table
        from rich.text import Text

        # Texts, not str: names may look like markup
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for place, header in enumerate(headers):
            table.add_column(Text(header), justify="left" if place < left else "right")
        for row in cells:
            table.add_row(*(Text(cell) for cell in row))
        RichConsole().print(table)

    @contextlib.contextmanager
    def progress(self, words: str) -> Iterator[Callable[[str], None]]:
        """Show on a terminal what is going on, as long as the block runs."""
        if not self.shows:
            yield lambda words: None
            return
        from rich.console import Console as RichConsole

        latest = _Latest(words)
        status: Any = RichConsole(stderr=True).status(latest)
        with status:
            yield lambda words: setattr(latest, "words", words)


class _Latest:
    """What was said last: laid out when the terminal is drawn, not whenever something is said."""

    def __init__(self, words: str) -> None:
        self.words = words

    def __rich__(self) -> Any:
        from rich.text import Text

        return Text(clean(self.words, 200))
