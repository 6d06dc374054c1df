"""A wake-up ends a wait early, reaches the process that it is meant for, and harms no other."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from multiprocessing.connection import Connection
from unittest.mock import patch

import pytest

from colonnade.manifests.store.waking import Listener, is_name, wake

SOON_S = 30
"""More than anything here takes."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such sockets")


def listen(pipe: Connection) -> None:
    """Listen in a process of its own, and tell whether it was woken soon."""
    listener = Listener()
    pipe.send(listener.name)
    begun = time.monotonic()
    listener.wait(SOON_S)
    pipe.send(time.monotonic() - begun < SOON_S)


def test_a_process_is_woken_by_another_one() -> None:
    mine, its = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=listen, args=(its,))
    process.start()
    name = mine.recv()
    assert is_name(name)
    assert wake(name)
    assert mine.recv()
    process.join()
    # The name ends with its process.
    assert not wake(name)


def test_a_wake_up_before_the_wait_is_not_lost_and_ends_one_wait() -> None:
    listener = Listener()
    assert wake(listener.name)
    begun = time.monotonic()
    listener.wait(SOON_S)
    assert time.monotonic() - begun < SOON_S
    listener.wait(0.01)
    assert time.monotonic() - begun >= 0.01
    listener.close()


def test_a_process_that_does_not_listen_any_more_delays_no_other_process() -> None:
    """A stopped process reads no wake-ups, and the system keeps only some of them."""
    listener = Listener()
    waking = threading.Thread(target=lambda: [wake(listener.name) for _ in range(10_000)])
    waking.start()
    waking.join(SOON_S)
    assert not waking.is_alive()
    assert wake(listener.name)
    listener.close()
    assert not wake(listener.name)


def test_only_names_of_listeners_are_woken() -> None:
    first, second = Listener(), Listener()
    assert first.name != second.name
    for text in (b"", b"{", first.name[1:], first.name + b"0", b"x" * 16, first.name + b"\n"):
        assert not is_name(text)
    first.close()
    second.close()


def test_another_system_has_no_listeners() -> None:
    with (
        patch("colonnade.manifests.store.waking.sys.platform", "darwin"),
        pytest.raises(OSError, match="Linux"),
    ):
        Listener()
