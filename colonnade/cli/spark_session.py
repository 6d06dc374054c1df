"""The Spark session of a command; imported only by work that needs Spark."""

from __future__ import annotations

import os

from pyspark.sql import SparkSession

from colonnade.spark_ext.session import configure, enable


def start() -> SparkSession:
    """The running session, or a new one, with Colonnade in it; logs errors only, and is in UTC.

    Times without a zone are UTC in every predicate of a command, whoever evaluates it.
    Master and the like come from where Spark takes them: spark-submit, spark-defaults.conf, or
    SPARK_REMOTE for a Spark Connect server.
    """
    builder = SparkSession.builder.appName("colonnade").config("spark.log.level", "ERROR")
    remote = os.environ.get("SPARK_REMOTE", "").startswith("sc://")
    session = enable((builder if remote else configure(builder)).getOrCreate())
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return session
