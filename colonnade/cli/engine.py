"""Decide by the bytes to read whether work runs in this process or on Spark.

Spec: docs/command-line.md#small-and-large-work
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from colonnade.cli.exit_codes import MissingError
from colonnade.cli.output import Output
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.sizes import parse_size, size_text

SparkChoice = Literal["auto", "always", "never"]

SparkOption = Annotated[
    SparkChoice,
    typer.Option("--spark", help="Use Spark for large work (auto), always, or never."),
]
AboveOption = Annotated[
    str,
    typer.Option("--spark-above", metavar="SIZE", help="Work above this size is large: 500m, 20g."),
]
ABOVE = "8g"


@dataclass(frozen=True, slots=True)
class ChosenEngine:
    """The engine that does the work, and the reason."""

    name: Literal["arrow", "spark"]
    why: str


def choose_engine(
    byte_count: int, choice: SparkChoice, above: str, *, has_spark: bool | None = None
) -> ChosenEngine:
    """Choose the engine that reads `byte_count` stored bytes.

    Without pyspark, large work runs in this process, too. Raises InvalidInputError if `above` is
    not a size, MissingError if `choice` is `always` and pyspark is not installed.
    """
    try:
        limit = parse_size(above)
    except ValueError as error:
        raise InvalidInputError(
            f"--spark-above {above!r} is not a size; write a number of bytes, or like 64m or 8g."
        ) from error
    if has_spark is None:
        has_spark = _has_spark()
    if choice == "always":
        if not has_spark:
            raise MissingError("--spark always needs Spark: install pyspark, or colonnade[spark].")
        return ChosenEngine("spark", "--spark always asks for it")
    if choice == "never" or byte_count <= limit:
        return ChosenEngine("arrow", "")
    to_read = f"{size_text(byte_count)} to read, more than {size_text(limit)} (--spark-above)"
    if not has_spark:
        return ChosenEngine("arrow", f"{to_read}, but pyspark is not installed")
    return ChosenEngine("spark", to_read)


def start_spark(engine: ChosenEngine, output: Output) -> Any:
    """Return the running Spark session, or start one, with Colonnade enabled; notes its master.

    Raises MissingError if pyspark is not installed.
    """
    if not _has_spark():
        raise MissingError(f"Spark is needed ({engine.why}): install pyspark, or colonnade[spark].")
    output.note(f"Starting Spark: {engine.why}.")
    session = importlib.import_module("colonnade.cli.spark_session").start()
    master = session.conf.get("spark.master", "a Spark Connect server")
    output.note(f"Spark {session.version} at {master}.")
    return session


def _has_spark() -> bool:
    return importlib.util.find_spec("pyspark") is not None
