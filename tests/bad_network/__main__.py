"""`python -m tests.bad_network [--appends A] [--writers W] [--seed N]`: as many as you like.

Processes append to a table in a bucket of a MinIO server, behind a proxy that spoils a quarter of
their requests. Prints what they went through. Ends with status 1 where anything went wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.bad_network.run import run
from tests.setup.minio import Minio


def main() -> int:
    """Run until every process has made its appends."""
    parser = argparse.ArgumentParser(prog="python -m tests.bad_network", description=__doc__)
    parser.add_argument("--appends", type=int, default=100, help="of each process")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Minio(Path(folder))
        try:
            told = run(server, chosen.appends, chosen.writers, chosen.seed)
        finally:
            server.stop()
    for problem in told.problems:
        print(problem)
    print(f"{told}; {len(told.problems)} problems")
    return 1 if told.problems else 0


if __name__ == "__main__":
    sys.exit(main())
