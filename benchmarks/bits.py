"""The bits of some hundred fits, to see that a change to the code has changed no answer.

    python benchmarks/bits.py record FILE      # before the change
    python benchmarks/bits.py compare FILE     # after it: names what differs, exit code 1

Bits are the same for one machine and one build; they are not meant to be kept in the repository.
Every case runs with one thread and with two.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys


def digest(values):
    """Return a hash of numbers and arrays: their types, shapes and bits."""
    import numpy as np

    found = hashlib.sha256()
    for value in values:
        array = np.ascontiguousarray(value)
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()[:16]


def take():
    """Print the hash of every case as JSON."""
    from cases import bits_cases

    out = {}
    for name, run in bits_cases().items():
        try:
            out[name] = digest(run())
        except ValueError as error:  # what is refused stays refused
            out[name] = f"ValueError: {error}"
    print(json.dumps(out))


def take_in_process(threads):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, __file__, "take"], env=environment, stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["record", "compare", "take"])
    parser.add_argument("file", nargs="?")
    arguments = parser.parse_args()
    if arguments.action == "take":
        take()
        return 0
    if arguments.file is None:
        parser.error("FILE is missing")
    found = {
        f"{name} ({threads} threads)": value
        for threads in (1, 2)
        for name, value in take_in_process(threads).items()
    }
    if arguments.action == "record":
        with open(arguments.file, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
        print(f"{len(found)} fits recorded in {arguments.file}")
        return 0
    with open(arguments.file, encoding="utf-8") as file:
        before = json.load(file)
    different = sorted(name for name in before | found if before.get(name) != found.get(name))
    for name in different:
        print(f"differs: {name}")
    print(f"{len(before)} fits before, {len(found)} now, {len(different)} differ")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
