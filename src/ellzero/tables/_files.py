"""Files: what identifies them, and writing them so that a failure leaves no half of one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from ellzero.tables._errors import DataError

__all__ = ["check_file", "file_hash", "write_aside"]

_BLOCK = 1 << 22


def check_file(path: Path) -> None:
    """Raise unless there is a file to read."""
    if path.is_dir():
        raise DataError(f"{path} is a directory, not a table.")
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise DataError(f"{path} can't be read: {_reason(error)}.") from None


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        buffer = bytearray(_BLOCK)
        view = memoryview(buffer)
        while count := file.readinto(buffer):
            digest.update(view[:count])
    return digest.hexdigest()


def write_aside(path: Path, content: str | bytes) -> None:
    """Write a file beside its place and rename it, so that it is there whole or not at all.

    Text is written as UTF-8. A device such as /dev/stdout is written to as it is.
    """
    raw = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if path.is_dir():
            raise DataError(f"{path} is a directory: nothing can be written there.")
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                device.write(raw)
            return
        target = path.resolve()  # so that a link stays a link
        handle, aside = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            _keep_mode(target, aside)
            os.replace(aside, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(aside)
            raise
    except OSError as error:
        raise DataError(f"{path} can't be written: {_reason(error)}.") from None


def _keep_mode(target: Path, aside: str) -> None:
    """Give the file the permissions that it had, or that a new one would have."""
    if target.exists():
        mode = target.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    os.chmod(aside, mode)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
