"""A Spark driver that counts changes for a consumer until it is killed: `consuming.py DATABASE`.

It adds the rows that come to table `orders` to the sums of table `sums`, in one transaction after
another, and prints a line after each. test_killed_consumer.py starts it.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

import colonnade
from colonnade import ConflictError

MERGE = """
    MERGE INTO {sums} t USING (
      SELECT k, sum(v) AS v FROM {orders}.changes WITH (consumer = 'sums')
      WHERE _change_type = 'insert' GROUP BY k) n
    ON t.k = n.k
    WHEN MATCHED THEN UPDATE SET v = t.v + n.v WHEN NOT MATCHED THEN INSERT *"""


def main(path: str) -> None:
    """Work until the process is killed."""
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder.config("spark.driver.memory", "1g").config("spark.sql.shuffle.partitions", "1")
    spark = colonnade.configure(builder).getOrCreate()
    database = colonnade.Database.forPath(spark, path)
    tables = {name: f"colonnade.`{path}/{name}`" for name in ("orders", "sums")}
    while True:
        try:
            with database.transaction():
                spark.sql(MERGE.format(**tables))
        except ConflictError:
            pass  # a process that was killed may have committed at the last moment
        print("turn", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
