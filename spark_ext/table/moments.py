"""Times that a user of Spark gives: text is read as Spark reads it, in the session's time zone."""

from __future__ import annotations

from datetime import datetime, timedelta

from pyspark.sql import SparkSession

from colonnade.manifests.clock import EPOCH_START
from colonnade.manifests.errors import InvalidInputError


def moment_of(spark: SparkSession, timestamp: datetime | str) -> datetime:
    """Return a time; a datetime is returned unchanged.

    Text without an offset is in the session's time zone. Raises InvalidInputError for text that is
    not a time. Cost for text: one statement of Spark without a job.
    """
    if not isinstance(timestamp, str):
        return timestamp
    question = "SELECT unix_micros(try_cast(:time AS TIMESTAMP))"
    [(micros,)] = spark.sql(question, args={"time": timestamp}).collect()
    if micros is None:
        raise InvalidInputError(
            f"{timestamp!r} is not a time; write it like '2026-01-31 12:30:00', with an offset such"
            " as +02:00 if it is not in the session's time zone."
        )
    return EPOCH_START + timedelta(microseconds=micros)
