"""The command line. Nothing heavy is imported until a command needs it."""

from ellzero.cli._main import main

__all__ = ["main"]
