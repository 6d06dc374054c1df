"""Whether work is done in this process or by Spark, decided by how many bytes it reads.

Spec: docs/command-line.md#small-and-large-work
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from colonnade.cli.exit_codes import MissingError
from colonnade.cli.output import Output, size
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.sizes import parse_size

SparkChoice = Literal["auto", "always", "never"]

SparkOption = Annotated[
    SparkChoice,
    typer.Option("--spark", help="Do the work by Spark: if it is large, in any case, or not."),
]
AboveOption = Annotated[
    str, typer.Option("--spark-above", metavar="SIZE", help="What is large, such as 500m or 20g.")
]
ABOVE = "8g"


@dataclass(frozen=True, slots=True)
class Engine:
    """Who does the work, and why."""

    name: Literal["arrow", "spark"]
    why: str


def choose_engine(
    byte_count: int, choice: SparkChoice, above: str, *, has_spark: bool | None = None
) -> Engine:
    """Decide who reads `byte_count` stored bytes.

    Without pyspark, large work is done in this process, too. Raises InvalidInputError for a size
    that is none, MissingError where Spark must be used and is not installed.
    """
    try:
        limit = parse_size(above)
    except ValueError as error:
        raise InvalidInputError(
            f"{above!r} is no size; write a number of bytes, or like 64m or 8g."
        ) from error
    if has_spark is None:
        has_spark = _has_spark()
    if choice == "always":
        if not has_spark:
            raise MissingError("--spark always needs Spark: install pyspark, or colonnade[spark].")
        return Engine("spark", "as --spark always says")
    if choice == "never" or byte_count <= limit:
        return Engine("arrow", "")
    to_read = f"{size(byte_count)} to read, more than {size(limit)} (--spark-above)"
    if not has_spark:
        return Engine("arrow", f"{to_read}, but pyspark is not installed")
    return Engine("spark", to_read)


def start_spark(engine: Engine, output: Output) -> Any:
    """The running Spark session, or a new one, with Colonnade in it; says which.

    Raises MissingError where Spark is not installed.
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
