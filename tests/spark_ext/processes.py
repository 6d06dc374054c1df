"""Processes that tests start and, together with all that these start, kill for certain."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pyspark
import pytest

HOME = Path(pyspark.__file__).parent


@contextmanager
def running(
    command: list[str],
    log: Path,
    *,
    given: Path | None = None,
    output: Path | None = None,
    **environment: str,
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a session and in the folder of its log; nothing of it is left afterwards.

    It reads `given`, and prints to `output`, or else to the log.
    """
    environment = {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_DIRS": str(log.parent),  # killed, Spark leaves its temporary files behind
        **environment,
    }
    with ExitStack() as files:
        errors = files.enter_context(log.open("wb"))
        process = subprocess.Popen(
            command,
            cwd=log.parent,
            stdin=files.enter_context(given.open("rb")) if given else None,
            stdout=files.enter_context(output.open("wb")) if output else errors,
            stderr=errors,
            env=environment,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            kill_session(process)


def kill_session(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL a leader of a session and everything in it; returns when nothing of it runs.

    Not by process group: Spark's Python workers leave that of their driver.
    """
    deadline = time.monotonic() + 30
    while members := _session(process.pid):
        assert time.monotonic() < deadline, f"{members} survived SIGKILL"
        for member in members:
            with suppress(ProcessLookupError):
                os.kill(member, signal.SIGKILL)
        time.sleep(0.02)
    process.wait()


def kill_member(process: subprocess.Popen[bytes], name: str) -> None:
    """SIGKILL the one process of a session that runs the program of this name."""
    members = _session(process.pid)
    [member] = [each for each in members if Path(f"/proc/{each}/comm").read_text().strip() == name]
    os.kill(member, signal.SIGKILL)


def wait_for_end(process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until every process of a session has ended by itself."""
    deadline = time.monotonic() + 600
    while process.poll() is None or _session(process.pid):
        assert time.monotonic() < deadline, f"still running: {log.read_text()[-8000:]}"
        time.sleep(0.05)


def _session(leader: int) -> list[int]:
    """The living processes of a session."""
    members = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            # The name before it may hold anything: state, parent, group, session.
            state, _, _, session = status.read_text().rpartition(")")[2].split()[:4]
            if int(session) == leader and state not in "ZX":
                members.append(int(status.parent.name))
    return members


def wait_until(reached: Callable[[], object], process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait for a state that a running process brings about."""
    deadline = time.monotonic() + 600
    while not reached():
        code = process.poll()
        if code is not None or time.monotonic() > deadline:
            pytest.fail(f"not reached, exit code {code}: {log.read_text()[-8000:]}")
        time.sleep(0.05)


def wait_for(pattern: str, process: subprocess.Popen[bytes], log: Path) -> str:
    """Wait until a running process logs this; returns it."""
    wait_until(lambda: re.search(pattern, log.read_text()), process, log)
    match = re.search(pattern, log.read_text())
    assert match is not None
    return match[0]
