"""Runs the code of pages in one Spark with Colonnade, in the present folder, which is emptied.

One process has one Spark, and that of the other tests has no jar.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import colonnade
from tests.pages import run_page
from tests.spark_ext.java_names import keep_java_names

KEPT = {"spark-warehouse"}


def main() -> None:
    """Run all pages that the command line names; stops at the first error."""
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g")
    for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder.config(name, "false")
    builder.config("spark.sql.ui.explainMode", "simple")  # nobody reads it, and it takes time
    builder.config("spark.sql.shuffle.partitions", "2")
    spark = colonnade.configure(builder).getOrCreate()
    keep_java_names()
    spark.sparkContext.setLogLevel("OFF")
    for page in sys.argv[1:]:
        run_page(Path(page), {"spark": spark, "F": F, "colonnade": colonnade})
        clear(spark)
        print(page, flush=True)
    spark.stop()


def clear(spark: SparkSession) -> None:
    """Remove what a page has made, so that the next may use the same names."""
    spark.catalog.setCurrentCatalog("spark_catalog")
    for row in spark.sql("SHOW DATABASES IN colonnade").collect():
        spark.sql(f"DROP DATABASE colonnade.`{row[0]}` CASCADE")
    for table in spark.catalog.listTables():
        spark.sql(f"DROP {'VIEW' if table.isTemporary else 'TABLE'} `{table.name}`")
    spark.catalog.clearCache()
    for path in Path().iterdir():
        if path.is_dir() and path.name not in KEPT:
            shutil.rmtree(path)


if __name__ == "__main__":
    main()
