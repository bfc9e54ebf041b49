"""Run cases over all cores; say how to replay each that fails.

make fuzz                                      some minutes
make fuzz SEED=7 CASES=1000000                 a night or two
make fuzz FAMILY=frontier SEED=4711 CASES=1    one case again, with its traceback
"""

import argparse
import os
import sys

from fuzz.families import FAMILIES
from fuzz.runner import run


def main():
    parser = argparse.ArgumentParser(
        prog="make fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, required=True, help="of the first case")
    parser.add_argument("--cases", type=int, default=3000, help="how many, seed after seed")
    parser.add_argument("--family", choices=[*FAMILIES, ""], default="", help="only this one")
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a case hangs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    names = [options.family] if options.family else list(FAMILIES)
    families = {name: FAMILIES[name] for name in names}
    sys.exit(1 if run(families, options.seed, options.cases, options.jobs, options.limit) else 0)


if __name__ == "__main__":
    main()
