"""The exit codes of commands, and the one sentence that explains each error.

Spec: docs/command-line.md#exit-codes
"""

from __future__ import annotations

import re
from enum import IntEnum

from colonnade.manifests.errors import ColonnadeError


class ExitCode(IntEnum):
    """How a command ended. Each name except OK and INTERRUPTED is the `kind` of an error."""

    OK = 0
    ERROR = 1
    INVALID_INPUT = 2
    NOT_FOUND = 3
    ALREADY_EXISTS = 4
    CONFLICT = 5
    COMMIT_UNKNOWN = 6
    UNSUPPORTED_FORMAT = 7
    CORRUPTION = 8
    STORE = 9
    MISSING = 10
    DECLINED = 11
    INTERRUPTED = 130


class MissingError(ColonnadeError):
    """The command needs a package or program that is not installed."""

    kind = "MISSING"


class DeclinedError(ColonnadeError):
    """The user declined to continue, or could not be asked."""

    kind = "DECLINED"


class SparkFailedError(ColonnadeError):
    """Spark failed, or passed on an error of Colonnade; `explain` decides the `kind`."""

    def __init__(self, error: BaseException) -> None:
        code, sentence = explain(error)
        super().__init__(sentence)
        self.kind = code.name


_KIND_IN_TEXT = re.compile(r"\[?COLONNADE_([A-Z_]+)\]?:? *")


def explain(error: BaseException) -> tuple[ExitCode, str]:
    """Return the exit code of an error, and one sentence that explains it to the user."""
    if isinstance(error, KeyboardInterrupt):
        kept = str(error) or "Interrupted; what was not committed has not happened."
        return ExitCode.INTERRUPTED, kept
    if isinstance(error, ColonnadeError):
        return code_of(error.kind), error.message
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename}" if error.filename else ""
        return ExitCode.STORE, f"{error.strerror}{place}."
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    if found := _KIND_IN_TEXT.search(text):
        # Spark passes an error of Colonnade on as text.
        return code_of(found[1]), text[found.end() :]
    if is_sparks(error):
        return ExitCode.ERROR, f"Spark failed: {text}"
    return (
        ExitCode.ERROR,
        f"This is a bug in Colonnade, please report it: {type(error).__name__}: {text}"
        " (COLONNADE_TRACEBACK=1 shows the traceback).",
    )


def is_sparks(error: BaseException) -> bool:
    """Whether pyspark or py4j raised the error, whatever its cause."""
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j")


def code_of(kind: str) -> ExitCode:
    """Return the exit code of an error's `kind`; ERROR for a kind that has no code."""
    if kind == "PLANNER":
        return ExitCode.MISSING
    return ExitCode[kind] if kind in ExitCode.__members__ else ExitCode.ERROR
