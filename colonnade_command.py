"""The script `colonnade`: loads the command line, and exits without a traceback on Ctrl-C.

The packages of the command line take a moment to load, and the user may press Ctrl-C meanwhile.
This module therefore belongs to no package, and installs its signal handler before it imports any.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module

_MISSING, _INTERRUPTED = 10, 130
"""Two values of `ExitCode`, needed before that class can be imported."""


def main() -> None:
    """Run the command that `sys.argv` names and end the process with its exit code.

    Prints one sentence if the package is in a tree of the sources that has no links.
    """
    quiet = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if quiet:
        # The process exits at once: an import may treat an exception as its own failure.
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    try:
        run = import_module("colonnade.cli").load()
    except ImportError as error:
        if error.name != "colonnade" or isinstance(error, ModuleNotFoundError):
            raise
        sys.stderr.write(f"{error}\n")
        sys.exit(_MISSING)
    if quiet:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run(sys.argv[1:])
