"""Streaming tables, materialized views and append flows, over the tables of `raw`."""

from __future__ import annotations

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

spark = SparkSession.active()


@dp.table
def orders() -> DataFrame:
    return spark.readStream.table("colonnade.raw.orders")


@dp.table(partition_cols=["city"], table_properties={"compaction.auto": "true"}, comment="large")
def large() -> DataFrame:
    return spark.readStream.table("orders").where("n > 5")


@dp.materialized_view
def totals() -> DataFrame:
    return spark.read.table("orders").groupBy("city").agg(F.sum("n").alias("n"))


dp.create_streaming_table("events", cluster_by=["id"])


@dp.append_flow(target="events")
def web() -> DataFrame:
    return spark.readStream.table("colonnade.raw.web")


@dp.append_flow(target="events")
def app() -> DataFrame:
    return spark.readStream.table("colonnade.raw.app")
