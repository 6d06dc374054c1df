"""`python -m tests.simulation.bugs`: which seed is the first to find each planted mistake.

Put those above 0 into `FOUND` of `corpus.py` when a change of the simulation makes searches slow.
Mistakes for the long tests are left out.
"""

from __future__ import annotations

from tests.simulation.bugs import BUGS


def main() -> None:
    """Search for one mistake after another."""
    for bug in BUGS:
        if not bug.long:
            print(f"{bug.find()}\t{bug.name}", flush=True)


if __name__ == "__main__":
    main()
