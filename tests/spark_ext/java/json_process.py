"""A child process that tests ask: a JSON request a line in, a JSON answer a line out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

_Process = TypeVar("_Process", bound="JsonProcess")


class JsonProcess:
    """A context manager: the process starts at once, and must end without error with its block."""

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        """`options` are those of `Popen`."""
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            **options,
        )
        self.pid = self._process.pid
        self.printed: list[str] = []

    def __enter__(self: _Process) -> _Process:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate(timeout=60)
        assert self._process.returncode == 0, "the process did not survive"

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request; other lines that the process prints are kept in `printed`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("{"):
                answer: dict[str, Any] = json.loads(line)
                return answer
            self.printed.append(line.rstrip("\n"))
        raise AssertionError("the process did not survive")
