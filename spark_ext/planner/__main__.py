"""`python -m spark_ext.planner`: answers the requests on its input until that ends."""

from __future__ import annotations

import os
import signal
import sys

from spark_ext.planner.operations import OPS
from spark_ext.planner.server import Server, claim_standard_streams


def main() -> None:
    """Serve, then end without waiting for an operation that hangs."""
    # Ctrl-C in a shell of Spark's reaches every process in it, and means the query, not us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = claim_standard_streams()
    Server(OPS, replies).serve(requests)
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
