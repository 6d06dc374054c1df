"""The author of what a session commits from this process: the same as for its SQL statements."""

from __future__ import annotations

from pyspark.sql import SparkSession

from colonnade.manifests.engine import Author
from colonnade.spark_ext.settings import USER_METADATA


def author_of(spark: SparkSession) -> Author:
    """Return the user of a session, and the text that its setting gives to the history."""
    return Author(_user(spark), spark.conf.get(USER_METADATA, None))


def _user(spark: SparkSession) -> str | None:
    if hasattr(spark, "_jsparkSession"):
        return spark.sparkContext.sparkUser()
    user: str | None = spark.client._user_id  # what the client tells the server of itself
    return user
