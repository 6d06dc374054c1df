"""`python -m colonnade.spark_ext.planner`: answer the requests on standard input until it ends."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time

from colonnade.manifests.engine import set_engine_name
from colonnade.spark_ext.planner.operations import OPS
from colonnade.spark_ext.planner.server import Server, claim_standard_streams
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS

# A Spark Connect server keeps a planner for each session that ever used one. The Java half starts
# a new planner if its own has ended.
IDLE_SECONDS_MAX = 600.0


def main(idle_seconds_max: float = IDLE_SECONDS_MAX) -> None:
    """Serve requests, then end without waiting for an operation that hangs."""
    # Ctrl-C in a Spark shell reaches this process too, but is meant to cancel the query.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    set_engine_name("colonnade-spark")
    # What was imported lives as long as this process. A full garbage collection, in the middle of a
    # statement, takes ten times as long if it looks through all of that again.
    gc.freeze()
    requests, replies = claim_standard_streams()
    server = Server(OPS, replies)
    threading.Thread(target=end_when_idle, args=(server, idle_seconds_max), daemon=True).start()
    server.serve(requests)
    end()


def end_when_idle(server: Server, idle_seconds_max: float) -> None:
    """End this process after `idle_seconds_max` without requests and without open transactions."""
    while (remaining := idle_seconds_max - server.idle_seconds()) > 0 or TRANSACTIONS.any_open():
        time.sleep(max(remaining, 1.0))
    end()


def end() -> None:
    """End this process now, without waiting for other threads."""
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
