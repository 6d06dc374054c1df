"""The script `colonnade`: loads the command line, and ends quietly where that is interrupted.

The packages that it needs take a moment to load, and whoever presses Ctrl-C meanwhile is to see no
traceback. So this module is none of them, and imports nothing else before it is ready for that.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module

_INTERRUPTED = 130
"""`ExitCode.INTERRUPTED`, before that can be imported."""


def main() -> None:
    """Run the command that `sys.argv` names and end the process with its exit code."""
    quiet = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if quiet:
        # Ends at once: in the middle of an import an exception may be taken for a failure of it.
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    run = import_module("colonnade.cli").load()
    if quiet:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run(sys.argv[1:])
