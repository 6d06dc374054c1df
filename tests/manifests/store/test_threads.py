"""Threads are used again, end when nobody needs them, and are never waited for in vain."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from functools import partial

import pytest

from colonnade.manifests.store.side_by_side import one_ahead, side_by_side
from colonnade.manifests.store.threads import Threads


def ident(threads: Threads) -> int:
    """The thread that runs a work, once it has nothing else to do."""
    found: Future[int] = Future()
    threads.run(lambda: found.set_result(threading.get_ident()))
    while not threads._idle:
        time.sleep(0.001)
    return found.result(20)


def test_work_that_follows_other_work_needs_no_new_thread() -> None:
    threads = Threads()
    assert len({ident(threads) for _ in range(20)}) == 1


def test_work_never_waits_for_other_work_that_is_under_way() -> None:
    threads, meeting = Threads(), threading.Barrier(20, timeout=20)
    ended: list[Future[int]] = [Future() for _ in range(20)]
    for each in ended:
        threads.run(lambda each=each: each.set_result(meeting.wait()))  # type: ignore[misc]
    assert sorted(each.result(20) for each in ended) == [*range(20)]


def test_a_thread_without_work_ends_and_work_that_comes_meanwhile_is_done() -> None:
    threads = Threads(idle_s=0.002)
    done = 0
    for number in range(200):
        found: Future[None] = Future()
        threads.run(lambda found=found: found.set_result(None))  # type: ignore[misc]
        found.result(20)
        done += 1
        time.sleep(0.002 if number % 3 else 0)
    assert done == 200
    end = time.monotonic() + 20
    while threads._idle and time.monotonic() < end:
        time.sleep(0.001)
    assert not threads._idle


def test_calls_within_calls_do_not_wait_for_each_other() -> None:
    def inner(number: int) -> int:
        return sum(side_by_side([lambda: number] * 8, 8))

    found = side_by_side([partial(inner, number) for number in range(16)], 16)
    assert found == [8 * number for number in range(16)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    code = (
        "import os, threading\n"
        "from colonnade.manifests.store.side_by_side import side_by_side\n"
        "calls = [threading.Barrier(4, timeout=20).wait] * 4\n"
        "side_by_side(calls, 4)\n"
        "pid = os.fork()\n"
        "side_by_side(calls, 4)\n"
        "if pid == 0: os._exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, text=True)
    assert done.stdout == "7\n", done.stderr


def test_calls_at_the_end_of_a_process_are_made_by_the_thread_that_asks() -> None:
    code = (
        "import atexit, threading\n"
        "from functools import partial\n"
        "atexit.register(lambda: print(*side_by_side([lambda: 1] * 9, 4), *one_ahead(calls)))\n"
        "from colonnade.manifests.store.side_by_side import one_ahead, side_by_side\n"
        "calls = [partial(int, text) for text in '234']\n"
        "side_by_side(calls, 3)\n"
        "class Late:\n"
        "    def __del__(self, make=side_by_side):\n"
        "        print(*make([lambda: 5] * 3, 3))\n"
        "late = Late()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, text=True)
    assert done.stdout == "1 1 1 1 1 1 1 1 1 2 3 4\n5 5 5\n", done.stderr


def test_an_interruption_waits_for_the_calls_that_have_begun_and_makes_no_other() -> None:
    begun, ended = threading.Event(), list[str]()

    def slow() -> None:
        begun.set()
        time.sleep(0.2)
        ended.append("slow")

    def interrupted() -> None:
        begun.wait(20)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        side_by_side([interrupted, slow, *[lambda: ended.append("late")] * 5], 2)
    assert ended == ["slow"]


def test_a_caller_that_stops_early_waits_for_the_call_that_has_begun() -> None:
    ended = threading.Event()

    def slow() -> int:
        time.sleep(0.1)
        ended.set()
        return 2

    results = one_ahead([lambda: 1, slow, lambda: 3])
    assert next(results) == 1
    del results  # which closes it
    assert ended.is_set()


def test_results_are_those_of_the_given_order() -> None:
    def late(number: int) -> int:
        time.sleep(0.002 * (10 - number))
        return number

    calls = [partial(late, number) for number in range(10)]
    assert side_by_side(calls, 10) == [*range(10)]
    assert [*one_ahead(calls)] == [*range(10)]
