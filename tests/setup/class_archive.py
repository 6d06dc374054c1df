"""Spark's classes, parsed and checked once for all JVMs that the tests start.

`python tests/setup/class_archive.py` writes them beside the pyspark that it imports, unless they
are there; `tests/conftest.py` has every JVM map them. A start of Spark then takes 3 to 6 s less of
the processor, and the archive takes 45 s. So the long tests make it, and the others, which start
eight Sparks, do not. Java ignores the archive where its version or its class path is another one.
https://docs.oracle.com/en/java/javase/17/vm/class-data-sharing.html
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=200m"
)
"""Every JVM of the tests lives for a few minutes: the optimising compiler does not pay off.

Without it, Java would reserve 48 MB for compiled code. Spark fills them, and Java then looks
without end for code to remove.
"""


def archive_path() -> Path | None:
    """Where the classes of the installed pyspark are, or shall be; None where there is none."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent.with_name("pyspark-classes.jsa")


def java_options() -> str:
    """What JVMs of the tests are to be started with (JDK_JAVA_OPTIONS)."""
    path = archive_path()
    if path is None or not path.exists():
        return OPTIONS
    # An archive that does not fit is worth no warning: some print it where output is parsed.
    return f'{OPTIONS} -Xlog:disable "-XX:SharedArchiveFile={path}"'


def main() -> None:
    """Start Spark, have it load what most tests need, and write that down as it ends."""
    path = archive_path()
    assert path is not None, "pyspark is not installed"
    if path.exists():
        return
    unfinished = path.with_suffix(f".{os.getpid()}")
    os.environ["JDK_JAVA_OPTIONS"] = OPTIONS
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        _use_spark(Path(folder), f'-Xlog:disable "-XX:ArchiveClassesAtExit={unfinished}"')
    unfinished.rename(path)


def _use_spark(folder: Path, options: str) -> None:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    import colonnade

    builder = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.extraJavaOptions", options)
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "OFF")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.warehouse.dir", str(folder / "spark"))
        .config("spark.sql.catalog.colonnade.warehouse", str(folder / "warehouse"))
    )
    spark = colonnade.configure(builder).getOrCreate()
    rows = spark.range(1000).selectExpr("id", "concat('n', id % 7) as name", "id * 0.5D as amount")
    rows.write.parquet(str(folder / "parquet"))
    spark.read.parquet(str(folder / "parquet")).createOrReplaceTempView("news")
    spark.createDataFrame([(1, "a")], "id int, name string").collect()
    for statement in (
        "create namespace colonnade.shop",
        "create table colonnade.shop.t using colonnade as select * from news where id < 900",
        "delete from colonnade.shop.t where id % 10 = 3",
        "update colonnade.shop.t set name = 'x' where id in (select id from news where id < 5)",
        "merge into colonnade.shop.t t using news s on t.id = s.id"
        " when matched then update set * when not matched then insert *",
        "select t.name, count(*), sum(s.amount), max(t.id) from colonnade.shop.t t"
        " join news s using (id) where t.amount > 1 group by t.name order by t.name limit 5",
        "select * from colonnade.shop.t.history",
        "describe extended colonnade.shop.t",
        "drop table colonnade.shop.t",
    ):
        spark.sql(statement).collect()
    spark.stop()
    gateway: Any = SparkContext._gateway
    gateway.proc.stdin.close()  # for Java the sign to end
    gateway.proc.wait()


if __name__ == "__main__":
    main()
