"""Processes that share a folder: started by tests of local disk and of buckets, one command each.

A fresh interpreter, because forking one that has threads is undefined.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.store import LocalStore, ObjectStore, PutOutcome, open_store
from tests.manifests.store.fsspec_files.given import LIBRARIES, open_given

BODY_SIZE = 20_000
# The system calls that LocalStore uses to change the disk.
CHANGES = ("open", "write", "fsync", "link", "unlink", "rename", "mkdir")
WAYS: dict[str, Callable[[LocalStore, str, bytes], None]] = {
    "put_if_absent": lambda store, name, data: _expect_created(store.put_if_absent(name, data)),
    "put": lambda store, name, data: store.put(name, data, sync=True),
    "create": lambda store, name, data: _stream(store, name, data),
}


def race(folder: str, racer: str, rounds: str) -> list[int]:
    """Try every slot in turn; the slots that this process created. Starts when told on stdin."""
    store = _opened(folder)
    body = racer.encode() * BODY_SIZE
    print("ready", flush=True)
    sys.stdin.readline()
    return [
        slot
        for slot in range(int(rounds))
        if store.put_if_absent(f"_manifest/{slot}", body) is PutOutcome.CREATED
    ]


def _opened(place: str) -> ObjectStore:
    """Open a path, a URL, or a file system of fsspec: its library, server and path in words."""
    library, *words = place.split(" ")
    if library not in LIBRARIES:
        return open_store(place)
    server, path = words
    return open_given(LIBRARIES[library].make(server), path)


def watch(folder: str, rounds: str) -> dict[str, int]:
    """Read every slot until it is there, for 30 s at most; counts reads and torn ones."""
    store = LocalStore(folder)
    print("ready", flush=True)
    sys.stdin.readline()
    seen: dict[str, int] = {"reads": 0, "torn": 0}
    waiting = set(range(int(rounds)))
    deadline = time.monotonic() + 30
    while waiting and time.monotonic() < deadline:
        for slot in tuple(waiting):
            try:
                body = store.get(f"_manifest/{slot}")
            except NotFoundError:
                continue
            waiting.discard(slot)
            seen["reads"] += 1
            seen["torn"] += len(body) != BODY_SIZE or len(set(body)) != 1
    return seen


def kill(folder: str, way: str) -> list[dict[str, Any]]:
    """Kill a writer before its 1st, 2nd, 3rd, … change of the disk, until one survives.

    Reports for each what a reader finds, what is listed, and what the next writer is told.
    """
    reports: list[dict[str, Any]] = []
    survived = False
    while not survived:
        point = len(reports) + 1
        root = Path(folder, str(point))
        child = os.fork()
        if child == 0:
            _die_at(point)
            WAYS[way](LocalStore(root), "t/object", b"first" * BODY_SIZE)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        survived = status == 0
        reports.append(_report(LocalStore(root), root, -status))
    return reports


def _report(store: LocalStore, root: Path, signal_number: int) -> dict[str, Any]:
    try:
        found = store.get("t/object")
    except NotFoundError:
        found = None
    return {
        "signal": -signal_number,
        "found": None if found is None else found == b"first" * BODY_SIZE,
        "listed": [info.name for info in store.list("")],
        "left": sorted(path.name for path in root.rglob(".*")),
        "next": store.put_if_absent("t/object", b"second").name,
        "after": store.get("t/object") in (b"second", b"first" * BODY_SIZE),
    }


def _die_at(point: int) -> None:
    """Kill this process right before the `point`-th change of the disk."""
    count = 0

    def counted(change: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if count == point:
                os.kill(os.getpid(), signal.SIGKILL)
            return change(*args, **kwargs)

        return call

    for name in CHANGES:
        setattr(os, name, counted(getattr(os, name)))


def _stream(store: LocalStore, name: str, data: bytes) -> None:
    with store.create(name, sync=True) as writer:
        writer.write(data[: len(data) // 2])
        writer.write(data[len(data) // 2 :])


def _expect_created(outcome: PutOutcome) -> None:
    if outcome is not PutOutcome.CREATED:
        os._exit(1)


if __name__ == "__main__":
    commands: dict[str, Callable[..., object]] = {"race": race, "watch": watch, "kill": kill}
    print(json.dumps(commands[sys.argv[1]](*sys.argv[2:])))
