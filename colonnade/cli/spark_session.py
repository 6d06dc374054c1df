"""The Spark session of a command; imported only by work that needs Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession

from colonnade.spark_ext.session import configure


def start() -> SparkSession:
    """Return the running session, or start one, with Colonnade enabled; it logs only errors.

    The session's time zone is UTC, so that a predicate means the same on Spark and on Arrow.
    The master and other settings come from Spark's usual places: spark-submit,
    spark-defaults.conf, or SPARK_REMOTE for a Spark Connect server.
    """
    builder = SparkSession.builder.appName("colonnade").config("spark.log.level", "ERROR")
    session = configure(builder).getOrCreate()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return session
