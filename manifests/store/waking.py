"""Wake a thread of another process on this machine, by the name of a socket that it listens on.

The sockets are in Linux's abstract namespace: they leave no file behind, and end with their
process. Any process of the machine may wake a listener, and a wake-up may be lost, so it proves
nothing. It only ends a wait early. Containers that share a disk may have separate namespaces; then
their wake-ups are lost.

Spec: docs/spec/store.md#turns
"""

from __future__ import annotations

import re
import secrets
import socket
import sys
from contextlib import suppress

_PREFIX = b"\0colonnade-"

_NAME = re.compile(rb"[0-9a-f]{16}")
"""The form of a name. Each listener has a new one, so that no wake-up is meant for another one."""


class Listener:
    """A socket that other processes wake this thread by. `name` has 16 hex digits."""

    def __init__(self) -> None:
        """Open the socket. Raises OSError where the system has no such sockets."""
        if sys.platform != "linux":
            raise OSError("abstract names of sockets are a feature of Linux")
        self.name = secrets.token_hex(8).encode()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            self._socket.bind(_PREFIX + self.name)
        except OSError:
            self._socket.close()
            raise

    def wait(self, limit_s: float) -> None:
        """Wait until another process calls `wake`, at most `limit_s` seconds. Never raises.

        Returns at once if it was called since the last wait.
        """
        self._socket.settimeout(limit_s)
        with suppress(OSError):
            self._socket.recv(1)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def is_name(text: bytes) -> bool:
    """Return whether a text may be the name of a listener."""
    return _NAME.fullmatch(text) is not None


def wake(name: bytes) -> bool:
    """Wake the listener of a name. Returns False if there is certainly none. Never raises."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sender:
            sender.sendto(b"\n", _PREFIX + name)
    except BlockingIOError:
        return True  # The listener has wake-ups that it has not read.
    except OSError:
        return False
    return True
