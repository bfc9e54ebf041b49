"""Files: their hash, and writing them so that a failure leaves no half-written file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

from ellzero.tables._errors import DataError

__all__ = ["file_hash", "is_open", "reason", "write_aside"]

_BLOCK = 1 << 22


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

    A process that is killed in the middle leaves the file that was there before. Text is written as
    UTF-8. A device or a pipe such as /dev/stdout is written to as it is.
    """
    # Bytes of a file name that are no UTF-8 are escaped, as JSON escapes them too.
    raw = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        mode = _mode(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise DataError(f"{path} is a directory: nothing can be written there.")
        if mode is not None and (is_open(path) or not stat.S_ISREG(mode)):
            with path.open("ab") as device:
                device.write(raw)
            return
        target = Path(os.path.realpath(path))  # so that a link stays a link
        # Cut, since a name of the greatest length has no room for more
        handle, aside = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            _keep_mode(target, aside)
            os.replace(aside, target)
            _sync_folder(target.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(aside)
            raise
    except OSError as error:
        raise DataError(f"{path} can't be written: {reason(error)}.") from None


def _mode(path: Path) -> int | None:
    """Return what a path leads to; None if to nothing yet."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def is_open(path: Path) -> bool:
    """Whether a path is another name of what this process has open, be it a file or not."""
    return os.path.dirname(os.path.abspath(path)) in ("/dev/fd", "/proc/self/fd") or str(path) in (
        "/dev/stdin",
        "/dev/stdout",
        "/dev/stderr",
    )


def _sync_folder(folder: Path) -> None:
    """Have the new name of a file on the disk too, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _keep_mode(target: Path, aside: str) -> None:
    """Give the file the permissions that it had, or that a new one would have."""
    if target.exists():
        mode = target.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    os.chmod(aside, mode)


def reason(error: OSError) -> str:
    """Say why the system refused."""
    return (error.strerror or str(error)).lower()
